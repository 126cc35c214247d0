/* static PLUGIN [FUNCTION]: a program with HDF5 inside. */
#include <stddef.h>

int fake_dataset(const char *plugin);
int fake_register(const char *plugin, const char *function);

int main(int argc, char **argv) {
  return argc > 2 ? fake_register(argv[1], argv[2]) : fake_dataset(argv[1]);
}
