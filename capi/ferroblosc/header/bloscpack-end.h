
#ifdef __cplusplus
}
#endif

#endif /* BLOSCPACK_H */
