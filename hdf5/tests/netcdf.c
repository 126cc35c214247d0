/* netcdf URL: creates a variable with the Blosc filter in netCDF-C, writes it and reads it back. */
#include <netcdf.h>
#include <netcdf_filter.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS = 1000 };
static int values[ITEMS], back[ITEMS];

#define CHECK(call) \
  do { \
    int status = (call); \
    if (status != NC_NOERR) { \
      fprintf(stderr, "%s: %s\n", #call, nc_strerror(status)); \
      return 1; \
    } \
  } while (0)

int main(int argc, char **argv) {
  const unsigned parameters[7] = {0, 0, 0, 0, 5, 1, 1};
  const size_t chunk = 300;
  int i, file, dimension, variable;

  if (argc != 2) return 2;
  for (i = 0; i < ITEMS; i++) values[i] = i;
  CHECK(nc_create(argv[1], NC_NETCDF4, &file));
  CHECK(nc_def_dim(file, "x", ITEMS, &dimension));
  CHECK(nc_def_var(file, "v", NC_INT, 1, &dimension, &variable));
  CHECK(nc_def_var_chunking(file, variable, NC_CHUNKED, &chunk));
  CHECK(nc_def_var_filter(file, variable, 32001, 7, parameters));
  CHECK(nc_put_var_int(file, variable, values));
  CHECK(nc_close(file));
  CHECK(nc_open(argv[1], NC_NOWRITE, &file));
  CHECK(nc_get_var_int(file, variable, back));
  CHECK(nc_close(file));
  return memcmp(values, back, sizeof values) != 0;
}
