
#ifdef __cplusplus
}
#endif

#endif /* BCOLZ_H */
