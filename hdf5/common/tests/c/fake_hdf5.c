/* A fake HDF5 with the functions that a filter plugin calls during dataset creation, and a host
 * that uses them.
 *
 * An instance accepts only the identifiers of its own objects, which begin at FIRST_ID. This
 * imitates several copies of HDF5 in one process. It is built as a shared library or into a
 * program. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int64_t hid_t;
typedef struct {
  int version, id;
  unsigned encoder, decoder;
  const char *name;
  int (*can_apply)(hid_t, hid_t, hid_t);
  int (*set_local)(hid_t, hid_t, hid_t);
  size_t (*filter)(unsigned, size_t, const unsigned *, size_t, size_t *, void **);
} class_t;

enum { LIST = FIRST_ID + 1, ARRAY_TYPE = FIRST_ID + 2, BASE_TYPE = FIRST_ID + 3, SPACE = FIRST_ID + 4 };
enum { OPTIONAL = 1, REVERSE = 0x100, CLASS_INTEGER = 0, CLASS_ARRAY = 10, ITEM = 4, ITEMS = 3 };

hid_t H5E_ERR_CLS_g = FIRST_ID + 10, H5E_PLINE_g = FIRST_ID + 11, H5E_CALLBACK_g = FIRST_ID + 12,
      H5E_CANTREGISTER_g = FIRST_ID + 13;

static int filter_id, open_types, registered;
#ifndef LEVEL
#define LEVEL 5
#endif
/* The flags of the filter, and the first extent of chunks. */
#ifndef FLAGS
#define FLAGS OPTIONAL
#endif
#ifndef EXTENT
#define EXTENT 10
#endif
static unsigned values[64] = {0, 0, 0, 0, LEVEL, 1, 1, 77, 88, 99};
static size_t nvalues = 10;

int H5Pget_filter_by_id2(hid_t list, int id, unsigned *flags, size_t *count, unsigned *out, size_t len,
                         char *name, unsigned *config) {
  (void)len, (void)name, (void)config;
  if (list != LIST || id != filter_id) return -1;
  *flags = FLAGS;
  memcpy(out, values, (*count < nvalues ? *count : nvalues) * sizeof *out);
  *count = nvalues;
  return 0;
}

int H5Pmodify_filter(hid_t list, int id, unsigned flags, size_t count, const unsigned *in) {
  if (list != LIST || id != filter_id || flags != FLAGS) return -1;
  memcpy(values, in, count * sizeof *in);
  nvalues = count;
  return 0;
}

int H5Pget_chunk(hid_t list, int max, uint64_t *dims) {
  if (list != LIST || max < 2) return -1;
  dims[0] = EXTENT, dims[1] = 20;
  return 2;
}

size_t H5Tget_size(hid_t type) { return type == ARRAY_TYPE ? ITEMS * ITEM : type == BASE_TYPE ? ITEM : 0; }

int H5Tget_class(hid_t type) { return type == ARRAY_TYPE ? CLASS_ARRAY : CLASS_INTEGER; }

hid_t H5Tget_super(hid_t type) {
  open_types++;
  return type == ARRAY_TYPE ? BASE_TYPE : -1;
}

int H5Tclose(hid_t type) {
  open_types--;
  return type == BASE_TYPE ? 0 : -1;
}

int H5Epush2(hid_t stack, const char *file, const char *function, unsigned line, hid_t class, hid_t major,
             hid_t minor, const char *format, ...) {
  va_list arguments;
  (void)file, (void)line, (void)minor;
  if (stack != 0 || class != H5E_ERR_CLS_g || major != H5E_PLINE_g) return -1;
  printf("%s: ", function);
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
  return 0;
}

int H5Zregister(const void *class) {
  registered = ((const class_t *)class)->id;
  return 0;
}

/* Creates a dataset with the filter of a plugin, writes a chunk and reads it back; prints the
 * results. */
int fake_dataset(const char *file) {
  enum { SIZE = 10 * 20 * ITEMS * ITEM };
  void *plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL), *buffer = malloc(SIZE), *before;
  const class_t *class;
  size_t i, size = SIZE, stored;
  int status;

  if (plugin == NULL || buffer == NULL) return 2;
  class = ((const class_t *(*)(void))dlsym(plugin, "H5PLget_plugin_info"))();
  filter_id = class->id;
  status = class->set_local(LIST, ARRAY_TYPE, SPACE);
  printf("set_local %d, %d types open:", status, open_types);
  for (i = 0; i < nvalues; i++) printf(" %u", values[i]);
  printf("\n");
  /* Without a dataset, use the values of a file written by another program. */
  if (status < 0) values[2] = ITEM, values[3] = SIZE, values[4] = 5, nvalues = 7;

  for (i = 0; i < SIZE; i++) ((char *)buffer)[i] = (char)(i / 40);
  stored = class->filter(OPTIONAL, nvalues, values, SIZE, &size, &buffer);
  if (stored == 0 || stored >= SIZE || size < SIZE) return 3;
  if (class->filter(OPTIONAL | REVERSE, nvalues, values, stored, &size, &buffer) != SIZE) return 4;
  if (size != SIZE) return 5;
  for (i = 0; i < SIZE; i++)
    if (((char *)buffer)[i] != (char)(i / 40)) return 6;
  /* Invalid data are rejected without changing the buffer. */
  before = buffer;
  size = 77;
  if (class->filter(REVERSE, nvalues, values, SIZE, &size, &buffer) != 0) return 7;
  if (buffer != before || size != 77) return 8;
  printf("read\n");
  free(buffer);
  return 0;
}

/* Registers the filter of a plugin, like a program that is linked with the plugin. */
int fake_register(const char *file, const char *function) {
  void *plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  int (*register_filter)(char **, char **) = (int (*)(char **, char **))dlsym(plugin, function);
  char *version = NULL, *date = NULL;
  int status = register_filter(&version, &date);
  printf("%s %d: %d %s %s\n", function, status, registered, version, date);
  free(version);
  free(date);
  return register_filter(NULL, NULL) == 1 ? 0 : 1;
}

enum { MAX_THREADS = 64 };

/* Stores the identifiers of this process's threads; returns their number. */
static int threads(long *numbers) {
  DIR *folder = opendir("/proc/self/task");
  struct dirent *entry;
  int count = 0;
  while ((entry = readdir(folder)) != NULL && count < MAX_THREADS)
    if (entry->d_name[0] != '.') numbers[count++] = atol(entry->d_name);
  closedir(folder);
  return count;
}

/* Whether a thread is in a list. */
static int contains(long number, const long *others, int count) {
  while (count > 0)
    if (others[--count] == number) return 1;
  return 0;
}

enum { SIZE = 16 << 20 };

/* Compresses and decompresses a large chunk; returns whether that succeeds. */
static int passes(const class_t *class) {
  const unsigned of_file[7] = {2, 2, 4, SIZE, 1, 1, 1};
  unsigned *buffer = malloc(SIZE);
  void *pointer = buffer;
  size_t i, size = SIZE, stored, read;

  for (i = 0; i < SIZE / sizeof *buffer; i++) buffer[i] = i * i >> 9;
  stored = class->filter(0, 7, of_file, SIZE, &size, &pointer);
  read = stored ? class->filter(REVERSE, 7, of_file, stored, &size, &pointer) : 0;
  free(pointer);
  return read == SIZE;
}

/* Passes large chunks through the filter of a plugin, also in a forked child, which ends after 60
 * seconds; prints the number of threads, and the number of threads that ended between chunks. */
int fake_threads(const char *file) {
  void *plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  const class_t *class = ((const class_t *(*)(void))dlsym(plugin, "H5PLget_plugin_info"))();
  long before[MAX_THREADS], after[MAX_THREADS];
  int round, status, count = 0, found, gone = 0;
  pid_t child;

  for (round = 0; round < 5; round++) {
    if (!passes(class)) return 1;
    found = threads(after);
    while (count > 0) gone += !contains(before[--count], after, found);
    memcpy(before, after, sizeof before);
    count = found;
  }
  child = fork();
  if (child == 0) {
    alarm(60);
    _exit(passes(class) ? 0 : 1);
  }
  if (waitpid(child, &status, 0) != child || status != 0) return 2;
  printf("%d threads, %d gone\n", count, gone);
  return 0;
}

#ifdef PARALLEL
/* Identifies a copy of HDF5 built for MPI. */
int H5Pset_dxpl_mpio(hid_t list, int mode) { return list == LIST ? mode : -1; }
#endif

/* Compresses an incompressible chunk, or a chunk with invalid parameters; prints whether it is
 * stored, and checks that it is readable. */
static int fake_store(const class_t *class, const char *label, unsigned flags, unsigned level) {
  enum { SIZE = 4000 };
  const unsigned of_file[7] = {2, 0, 4, SIZE, level, 1, 1};
  unsigned state = 1;
  unsigned char data[SIZE];
  void *buffer = malloc(SIZE);
  size_t i, size = SIZE, stored;

  for (i = 0; i < SIZE; i++) data[i] = (state = state * 1103515245 + 12345) >> 16;
  memcpy(buffer, data, SIZE);
  stored = class->filter(flags, 7, of_file, SIZE, &size, &buffer);
  if (stored > 0 && class->filter(flags | REVERSE, 7, of_file, stored, &size, &buffer) != SIZE) return 1;
  if (memcmp(buffer, data, SIZE) != 0) return 2;
  printf("%s %s\n", label, stored > 0 ? "stored" : "refused");
  free(buffer);
  return 0;
}

int fake_failures(const char *file) {
  const class_t *class = ((const class_t *(*)(void))dlsym(dlopen(file, RTLD_NOW), "H5PLget_plugin_info"))();
  return fake_store(class, "optional noise", OPTIONAL, 5) || fake_store(class, "optional nonsense", OPTIONAL, 11) ||
         fake_store(class, "mandatory noise", 0, 5) || fake_store(class, "mandatory nonsense", 0, 11);
}
