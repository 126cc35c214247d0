#ifdef __cplusplus
}
#endif

#endif /* BLOSC2_STDIO_H */
