/* The three libraries in one program: each has its own state and its own version. */

#include <blosc.h>
#include <ferroblosc.h>
#include <string.h>

#include "../check.h"

/* blosc.h and blosc2.h give some functions different parameters: of the latter only these are used. */
const char *blosc2_get_version_string(void);

int main(void) {
  CHECK(strcmp(ferroblosc_version(), FERROBLOSC_VERSION_STRING) == 0);
  CHECK(strcmp(blosc_get_version_string(), BLOSC_VERSION_STRING) == 0);
  CHECK(strcmp(blosc2_get_version_string(), "3.3.5") == 0);
  return checks_failed();
}
