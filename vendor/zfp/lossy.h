/* Included before the source of cells: no exponent selects ZFP's reversible mode, which the crate
 * does not use, so its code is not compiled. */
#include <limits.h>
#include "zfp/internal/zfp/inline.h"
#include "zfp.h"
#undef ZFP_MIN_EXP
#define ZFP_MIN_EXP INT_MIN
