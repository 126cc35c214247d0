/* Forward declarations for the types of callbacks. */
struct blosc2_cparams;
struct blosc2_dparams;
struct blosc2_prefilter_params;
struct blosc2_postfilter_params;

/** A point in time of a monotonic clock. */
#if defined(_WIN32)
typedef LARGE_INTEGER blosc_timestamp_t;
#else
typedef struct timespec blosc_timestamp_t;
#endif
