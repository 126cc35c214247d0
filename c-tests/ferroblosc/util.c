/* Versions and error texts. */

#include <ferroblosc.h>
#include <string.h>

#include "../check.h"

int main(void) {
  char version[32];

  CHECK(strcmp(ferroblosc_version(), FERROBLOSC_VERSION_STRING) == 0);
  snprintf(version, sizeof version, "%d.%d.%d", FERROBLOSC_VERSION_MAJOR, FERROBLOSC_VERSION_MINOR,
           FERROBLOSC_VERSION_RELEASE);
  CHECK(strcmp(ferroblosc_version(), version) == 0);

  CHECK(strcmp(ferroblosc_error_string(-3), "Invalid data") == 0);
  CHECK(strcmp(ferroblosc_error_string(-1000), "Unknown error") == 0);

  /* Without Ferroblosc's libblosc2 there are no transactions. */
  CHECK(ferroblosc_begin(NULL) == -12);
  CHECK(ferroblosc_rollback_array(NULL) == -12);
  return checks_failed();
}
