/* Uses libferroblosc as documented in its headers. */

#include <bloscpack.h>
#include <ferroblosc.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  bloscpack_args args;

  if (strcmp(ferroblosc_version(), FERROBLOSC_VERSION_STRING) != 0) return 1;
  if (bloscpack_args_default(&args) < 0) return 2;
  if (strlen(ferroblosc_error_string(-1)) == 0) return 3;
  printf("libferroblosc %s\n", ferroblosc_version());
  return 0;
}
