#endif /* BLOSC_H */
