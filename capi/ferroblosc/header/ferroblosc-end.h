
#ifdef __cplusplus
}
#endif

#endif /* FERROBLOSC_H */
