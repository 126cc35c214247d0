/* static dataset|threads|failures|FUNCTION PLUGIN: a program that links HDF5 statically. */
#include <string.h>

int fake_dataset(const char *plugin);
int fake_failures(const char *plugin);
int fake_threads(const char *plugin);
int fake_register(const char *plugin, const char *function);

int main(int argc, char **argv) {
  if (argc != 3) return 1;
  if (strcmp(argv[1], "dataset") == 0) return fake_dataset(argv[2]);
  if (strcmp(argv[1], "failures") == 0) return fake_failures(argv[2]);
  if (strcmp(argv[1], "threads") == 0) return fake_threads(argv[2]);
  return fake_register(argv[2], argv[1]);
}
