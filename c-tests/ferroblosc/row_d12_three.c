/* The three libraries in one program: each has its own state and version. */

#include <blosc.h>
#include <ferroblosc.h>
#include <string.h>

#include "../check.h"

/* blosc.h and blosc2.h declare some functions with different parameters: only these of the
 * latter are used. */
const char *blosc2_get_version_string(void);

int main(void) {
  CHECK(strcmp(ferroblosc_version(), FERROBLOSC_VERSION_STRING) == 0);
  CHECK(strcmp(blosc_get_version_string(), BLOSC_VERSION_STRING) == 0);
  CHECK(strcmp(blosc2_get_version_string(), "3.3.5") == 0);
  return checks_failed();
}
