/** The default parameters of the file system backend. */
static const blosc2_stdio_params BLOSC2_STDIO_PARAMS_DEFAULTS = {false};

/** The default parameters of the memory-mapped file backend: read-only, with an
    initial mapping of 1 GiB. */
static const blosc2_stdio_mmap BLOSC2_STDIO_MMAP_DEFAULTS = {
    "r", (size_t)1 << 30, false, NULL, NULL, 0, 0, false, NULL, -1, -1, -1
#if defined(_WIN32)
    , (void *)-1
#endif
};
