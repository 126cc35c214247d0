/* Types that the types of callbacks name before they are defined. */
struct blosc2_cparams;
struct blosc2_dparams;
struct blosc2_prefilter_params;
struct blosc2_postfilter_params;

/** A point in time, as blosc_set_timestamp() takes it. */
typedef struct timespec blosc_timestamp_t;
