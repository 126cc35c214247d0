/* loader PLUGIN HDF5...: loads copies of HDF5 privately, and uses a plugin with each of them. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int i;
  for (i = 2; i < argc; i++) {
    void *hdf5 = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    int (*dataset)(const char *) = hdf5 ? (int (*)(const char *))dlsym(hdf5, "fake_dataset") : NULL;
    int status = dataset ? dataset(argv[1]) : 1;
    if (status != 0) {
      printf("copy %d of HDF5: %d\n", i - 1, status);
      return status;
    }
  }
  return 0;
}
