
#ifdef __cplusplus
}
#endif

#endif /* B2STORE_H */
