/* A plugin library with a tuner that does nothing but accept contexts whose configuration is not
 * NULL. */

#include <blosc2.h>
#include <blosc2/tuners-registry.h>

int start(void *config, blosc2_context *cctx, blosc2_context *dctx);
int next(blosc2_context *context);
int update(blosc2_context *context, double ctime);

int start(void *config, blosc2_context *cctx, blosc2_context *dctx) {
  (void)cctx, (void)dctx;
  return config != NULL ? 0 : -1;
}

int next(blosc2_context *context) {
  (void)context;
  return 0;
}

int update(blosc2_context *context, double ctime) {
  (void)context, (void)ctime;
  return 0;
}

tuner_info info = {(char *)"start", (char *)"next", (char *)"next", (char *)"update", (char *)"next"};
