/*
 * I/O backends: the registry, the functions of the two built-in backends, and frames by path;
 * rows C14, C15, F27, F29.
 */

#include "check.h"
#include <blosc2.h>
#include <blosc2/blosc2-stdio.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[] = P_tmpdir "/ferroblosc-io-XXXXXX";

static void write_file(const char *path, const void *bytes, size_t len) {
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL && fwrite(bytes, 1, len, file) == len);
  CHECK(file != NULL && fclose(file) == 0);
}

static long size_on_disk(const char *path) {
  struct stat found;
  return stat(path, &found) == 0 ? (long)found.st_size : -1;
}

static int register_as(uint8_t id, char *name) {
  blosc2_io_cb io;
  memset(&io, 0, sizeof io);
  io.id = id;
  io.name = name;
  return blosc2_register_io_cb(&io);
}

static void registry(void) {
  blosc2_io_cb *files = blosc2_get_io_cb(BLOSC2_IO_FILESYSTEM);
  blosc2_io_cb *maps = blosc2_get_io_cb(BLOSC2_IO_FILESYSTEM_MMAP), *mine;

  /* The built-in backends are registered before blosc2_init(). */
  CHECK(files != NULL && strcmp(files->name, "filesystem") == 0);
  CHECK(files != NULL && files->id == 0 && files->is_allocation_necessary);
  CHECK(files != NULL && files->open == blosc2_stdio_open && files->read == blosc2_stdio_read);
  CHECK(maps != NULL && strcmp(maps->name, "filesystem_mmap") == 0);
  CHECK(maps != NULL && maps->id == 1 && !maps->is_allocation_necessary);
  CHECK(maps != NULL && maps->destroy == blosc2_stdio_mmap_destroy);
  CHECK(blosc2_get_io_cb(2) == NULL);
  CHECK(blosc2_get_io_cb(200) == NULL);

  CHECK_IS(blosc2_register_io_cb(NULL), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(register_as(0, "filesystem"), BLOSC2_ERROR_PLUGIN_IO);
  CHECK_IS(register_as(159, "mine"), BLOSC2_ERROR_PLUGIN_IO);
  CHECK_IS(register_as(160, "mine"), 0);
  CHECK_IS(register_as(160, "mine"), 0);
  CHECK_IS(register_as(160, "yours"), BLOSC2_ERROR_PLUGIN_IO);
  CHECK_IS(register_as(255, "mine"), 0);

  /* Unlike codecs, filters and tuners, backends survive blosc2_destroy(). */
  mine = blosc2_get_io_cb(160);
  CHECK(mine != NULL && strcmp(mine->name, "mine") == 0 && mine->open == NULL);
  blosc2_init();
  blosc2_destroy();
  CHECK(blosc2_get_io_cb(160) == mine);
  CHECK(blosc2_get_io_cb(BLOSC2_IO_FILESYSTEM) == files);
  blosc2_init();
  CHECK(blosc2_get_io_cb(160) == mine);
}

static void defaults(void) {
  blosc2_io io = blosc2_get_blosc2_io_defaults();
  blosc2_storage storage = blosc2_get_blosc2_storage_defaults();
  blosc2_stdio_mmap map = blosc2_get_blosc2_stdio_mmap_defaults();

  CHECK(io.id == BLOSC2_IO_DEFAULTS.id && strcmp(io.name, BLOSC2_IO_DEFAULTS.name) == 0);
  CHECK(io.params == NULL);
  CHECK(!storage.contiguous && storage.urlpath == NULL && storage.io == NULL);
  CHECK(storage.cparams == NULL && storage.dparams == NULL);
  CHECK(strcmp(map.mode, "r") == 0);
  CHECK(map.initial_mapping_size == BLOSC2_STDIO_MMAP_DEFAULTS.initial_mapping_size);
  CHECK(!map.needs_free && map.addr == NULL && map.urlpath == NULL && map.file == NULL);
  CHECK(map.file_size == 0 && map.mapping_size == 0 && !map.is_memory_only);
  CHECK_IS(map.fd, -1);
  CHECK_IS(map.access_flags, -1);
  CHECK_IS(map.map_flags, -1);
}

/* Returns the result of blosc2_stdio_read(), and checks that the pointer did not change. */
static int64_t read_file(void *dest, int64_t size, int64_t nitems, int64_t position, void *stream) {
  void *pointer = dest;
  int64_t items = blosc2_stdio_read(&pointer, size, nitems, position, stream);
  CHECK(pointer == dest);
  return items;
}

static void files(void) {
  const int64_t huge = INT64_MAX / 2;
  char bytes[16] = "";
  blosc2_stdio_file *own;
  void *stream;

  CHECK(blosc2_stdio_open(NULL, "rb", NULL) == NULL);
  CHECK(blosc2_stdio_open("f", NULL, NULL) == NULL);
  CHECK(blosc2_stdio_open("none", "rb", NULL) == NULL);
  write_file("f", "0123456789", 10);
  stream = blosc2_stdio_open("f", "rb+", NULL);
  CHECK(stream != NULL && ((blosc2_stdio_file *)stream)->file != NULL);

  CHECK_IS(blosc2_stdio_write("ab", 1, 2, 3, stream), 2);
  CHECK_IS(blosc2_stdio_write("ab", 2, 1, 3, stream), 1);
  CHECK_IS(blosc2_stdio_write("ab", 0, 1, 3, stream), 0);
  CHECK_IS(blosc2_stdio_write("ab", 1, 0, 3, stream), 0);
  CHECK_IS(blosc2_stdio_write(NULL, 1, 1, 0, stream), 0);
  CHECK_IS(blosc2_stdio_write("ab", -1, 1, 0, stream), 0);
  CHECK_IS(blosc2_stdio_write("ab", 1, -1, 0, stream), 0);
  CHECK_IS(blosc2_stdio_write("ab", 1, 1, -1, stream), 0);
  CHECK_IS(blosc2_stdio_write("ab", huge, 4, 0, stream), 0);
  CHECK_IS(blosc2_stdio_write("ab", 1, 2, INT64_MAX - 1, stream), 0);
  CHECK_IS(blosc2_stdio_write("ab", 1, 1, 0, NULL), 0);

  CHECK_IS(read_file(bytes, 1, 10, 0, stream), 10);
  CHECK(memcmp(bytes, "012ab56789", 10) == 0);
  CHECK_IS(read_file(bytes, 3, 5, 0, stream), 3);
  CHECK_IS(read_file(bytes, 0, 5, 0, stream), 0);
  CHECK_IS(read_file(NULL, 1, 5, 0, stream), 0);
  CHECK_IS(read_file(bytes, 1, 5, 20, stream), 0);
  CHECK_IS(read_file(bytes, 1, 5, -1, stream), 0);
  CHECK_IS(read_file(bytes, huge, 4, 0, stream), 0);
  CHECK_IS(read_file(bytes, 1, 5, 0, NULL), 0);
  CHECK_IS(blosc2_stdio_read(NULL, 1, 1, 0, stream), 0);

  CHECK_IS(blosc2_stdio_size(stream), 10);
  CHECK_IS(blosc2_stdio_size(NULL), -1);
  CHECK_IS(blosc2_stdio_truncate(stream, 4), 0);
  CHECK_IS(blosc2_stdio_truncate(stream, -1), -1);
  CHECK_IS(blosc2_stdio_truncate(NULL, 4), -1);
  CHECK_IS(blosc2_stdio_size(stream), 4);
  CHECK_IS(blosc2_stdio_close(stream), 0);
  CHECK_IS(blosc2_stdio_close(NULL), -1);
  CHECK_IS(blosc2_stdio_destroy(NULL), 0);

  stream = blosc2_stdio_open("f", "rb", NULL);
  CHECK_IS(blosc2_stdio_write("x", 1, 1, 0, stream), 0);
  CHECK_IS(blosc2_stdio_truncate(stream, 1), -1);
  CHECK_IS(blosc2_stdio_close(stream), 0);

  /* A stream may wrap any FILE, whose position does not change. */
  own = malloc(sizeof *own);
  own->file = tmpfile();
  CHECK(own->file != NULL && fwrite("0123456789", 1, 10, own->file) == 10);
  CHECK(fseek(own->file, 4, SEEK_SET) == 0);
  CHECK_IS(blosc2_stdio_size(own), 10);
  CHECK_IS(ftell(own->file), 4);
  CHECK_IS(read_file(bytes, 2, 2, 5, own), 2);
  CHECK(memcmp(bytes, "5678", 4) == 0);
  CHECK_IS(ftell(own->file), 4);
  CHECK_IS(blosc2_stdio_close(own), 0);
}

static blosc2_stdio_mmap map_params(const char *mode, size_t initial) {
  blosc2_stdio_mmap params = BLOSC2_STDIO_MMAP_DEFAULTS;
  params.mode = mode;
  params.initial_mapping_size = initial;
  return params;
}

/* Returns the offset in the file that blosc2_stdio_mmap_read() returns; -1 for NULL. */
static long offset_read(int64_t size, int64_t nitems, int64_t position, int64_t items,
                        blosc2_stdio_mmap *map) {
  void *pointer = &pointer;
  CHECK_IS(blosc2_stdio_mmap_read(&pointer, size, nitems, position, map), items);
  return pointer == NULL ? -1 : (long)((char *)pointer - map->addr);
}

static void maps(void) {
  blosc2_stdio_mmap map = map_params("r+", 1000);
  void *pointer = &map;
  static char bytes[4000];

  CHECK(blosc2_stdio_mmap_open("m", "rb", NULL) == NULL);
  CHECK(blosc2_stdio_mmap_open(NULL, "rb", &map) == NULL);
  CHECK(blosc2_stdio_mmap_open("none", "wb", &map) == NULL);
  CHECK_IS(blosc2_stdio_mmap_destroy(&map), -1);
  write_file("m", "0123456789", 10);
  map.mode = "rb";
  CHECK(blosc2_stdio_mmap_open("m", "rb", &map) == NULL);
  map.mode = NULL;
  CHECK(blosc2_stdio_mmap_open("m", "rb", &map) == NULL);

  map.mode = "r+";
  CHECK(blosc2_stdio_mmap_open("m", NULL, &map) == &map);
  CHECK(blosc2_stdio_mmap_open("m", "wb", &map) == &map);
  CHECK(blosc2_stdio_mmap_open("./m", "rb", &map) == NULL);
  CHECK(map.mode == NULL && strcmp(map.urlpath, "m") == 0 && map.addr != NULL);
  CHECK(map.file != NULL && map.fd == fileno(map.file) && !map.is_memory_only);
  CHECK_IS(map.file_size, 10);
  CHECK_IS(map.mapping_size, 1000);
  CHECK_IS(map.access_flags, 3);
  CHECK_IS(map.map_flags, 1);

  CHECK_IS(offset_read(1, 10, 0, 10, &map), 0);
  CHECK_IS(offset_read(3, 3, 1, 3, &map), 1);
  CHECK_IS(offset_read(0, 5, 0, 5, &map), 0);
  CHECK_IS(offset_read(1, 0, 10, 0, &map), 10);
  CHECK_IS(offset_read(1, 0, 11, 0, &map), -1);
  CHECK_IS(offset_read(3, 5, 0, 0, &map), -1);
  CHECK_IS(offset_read(1, 5, -1, 0, &map), -1);
  CHECK_IS(offset_read(-4, 1, 0, 0, &map), -1);
  CHECK_IS(offset_read(INT64_MAX / 2, 4, 0, 0, &map), -1);
  CHECK_IS(blosc2_stdio_mmap_read(NULL, 1, 1, 0, &map), 0);
  CHECK_IS(blosc2_stdio_mmap_read(&pointer, 1, 1, 0, NULL), 0);
  CHECK(pointer == NULL);

  CHECK_IS(blosc2_stdio_mmap_write("ab", 1, 2, 3, &map), 2);
  CHECK_IS(blosc2_stdio_mmap_write("ab", 2, 1, 3, &map), 1);
  CHECK_IS(blosc2_stdio_mmap_write("ab", 0, 1, 3, &map), 0);
  CHECK_IS(blosc2_stdio_mmap_write("ab", 1, 0, 5000, &map), 0);
  CHECK_IS(blosc2_stdio_mmap_write(NULL, 1, 1, 0, &map), 0);
  CHECK_IS(blosc2_stdio_mmap_write("ab", 1, -1, 0, &map), 0);
  CHECK_IS(blosc2_stdio_mmap_write("ab", 1, 1, -1, &map), 0);
  CHECK_IS(blosc2_stdio_mmap_write("ab", 1, 1, INT64_MAX, &map), 0);
  CHECK_IS(blosc2_stdio_mmap_write("ab", 1, 1, 0, NULL), 0);
  CHECK_IS(map.file_size, 10);
  CHECK(memcmp(map.addr, "012ab56789", 10) == 0);

  CHECK_IS(blosc2_stdio_mmap_write(bytes, sizeof bytes, 1, 129, &map), 1);
  CHECK_IS(map.file_size, 4129);
  CHECK_IS(map.mapping_size, 8258);
  CHECK_IS(blosc2_stdio_mmap_size(&map), 4129);
  CHECK_IS(size_on_disk("m"), 4129);
  CHECK_IS(blosc2_stdio_mmap_truncate(&map, -1), -1);
  CHECK_IS(blosc2_stdio_mmap_truncate(&map, 7), 0);
  CHECK_IS(blosc2_stdio_mmap_size(&map), 7);
  CHECK_IS(size_on_disk("m"), 7);
  CHECK_IS(blosc2_stdio_mmap_close(&map), 0);
  CHECK_IS(blosc2_stdio_mmap_close(NULL), 0);
  CHECK_IS(blosc2_stdio_mmap_size(NULL), -1);
  CHECK_IS(blosc2_stdio_mmap_truncate(NULL, 0), -1);
  CHECK_IS(blosc2_stdio_mmap_destroy(&map), 0);
  CHECK(map.addr == NULL && map.urlpath == NULL && map.file == NULL);
  CHECK_IS(blosc2_stdio_mmap_destroy(&map), -1);
  CHECK_IS(blosc2_stdio_mmap_destroy(NULL), -1);
}

static void map_modes(void) {
  blosc2_stdio_mmap map = map_params("r", 1000), *heap;
  static char bytes[10000];

  write_file("m", "0123456789", 10);
  CHECK(blosc2_stdio_mmap_open("m", "rb+", &map) == &map);
  CHECK_IS(map.mapping_size, 10);
  CHECK_IS(map.access_flags, 1);
  /* The reference crashes when it writes bytes inside the file. */
  CHECK_IS(blosc2_stdio_mmap_write("x", 1, 1, 0, &map), 0);
  CHECK_IS(blosc2_stdio_mmap_write("x", 1, 1, 10, &map), 0);
  CHECK_IS(blosc2_stdio_mmap_truncate(&map, 5), -1);
  CHECK_IS(blosc2_stdio_mmap_truncate(&map, 20), -1);
  CHECK_IS(map.file_size, 10);
  CHECK_IS(blosc2_stdio_mmap_destroy(&map), 0);

  map = map_params("c", 1000);
  CHECK(blosc2_stdio_mmap_open("m", "rb+", &map) == &map);
  CHECK(map.is_memory_only);
  CHECK_IS(map.access_flags, 3);
  CHECK_IS(map.map_flags, 2);
  CHECK_IS(blosc2_stdio_mmap_write("x", 1, 1, 0, &map), 1);
  /* The reference crashes (SIGBUS) when it writes pages after the end of the file. */
  CHECK_IS(blosc2_stdio_mmap_write(bytes, 1, sizeof bytes, 10, &map), sizeof bytes);
  CHECK_IS(map.file_size, 10 + sizeof bytes);
  CHECK(memcmp(map.addr, "x123456789", 10) == 0);
  CHECK_IS(size_on_disk("m"), 10);
  CHECK_IS(blosc2_stdio_mmap_destroy(&map), 0);

  heap = malloc(sizeof *heap);
  *heap = map_params("w+", 10);
  heap->needs_free = true;
  CHECK(blosc2_stdio_mmap_open("m", "rb", heap) == heap);
  CHECK_IS(heap->file_size, 0);
  CHECK_IS(heap->mapping_size, 10);
  CHECK_IS(blosc2_stdio_mmap_write("abc", 1, 3, 0, heap), 3);
  CHECK_IS(blosc2_stdio_mmap_destroy(heap), 0);
  CHECK_IS(size_on_disk("m"), 3);
}

static blosc2_schunk *open_mapped(const char *path, blosc2_stdio_mmap *map) {
  blosc2_io io = BLOSC2_IO_DEFAULTS;
  io.id = BLOSC2_IO_FILESYSTEM_MMAP;
  io.params = map;
  return blosc2_schunk_open_udio(path, &io);
}

/* Neither a FIFO without another end nor a device is opened, in any mode. */
static void special_files_are_not_mapped(void) {
  static const char *modes[] = {"r", "r+", "w+", "c"};
  static char *special[] = {"fifo", "socket", ".", "/dev/zero", "/dev/null"};
  struct sockaddr_un address;
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  size_t i, j;

  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  strcpy(address.sun_path, "socket");
  CHECK_IS(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
  CHECK_IS(mkfifo("fifo", 0600), 0);
  for (i = 0; i < sizeof special / sizeof *special; i++) {
    for (j = 0; j < sizeof modes / sizeof *modes; j++) {
      blosc2_stdio_mmap map = map_params(modes[j], 1000);
      CHECK(blosc2_stdio_mmap_open(special[i], "rb", &map) == NULL);
      CHECK(map.addr == NULL && map.file == NULL);
      CHECK(open_mapped(special[i], &map) == NULL);
      CHECK(map.addr == NULL && map.file == NULL);
    }
  }
  close(listener);
  CHECK_IS(unlink("socket"), 0);
  CHECK_IS(unlink("fifo"), 0);
}

/* A mapping keeps its file if a FIFO takes its path, and follows the next regular file. Programs
 * that the process executes inherit neither file. */
static void a_replaced_path_is_not_waited_for(void) {
  static const char *modes[] = {"r", "r+", "c"};
  size_t i;

  for (i = 0; i < sizeof modes / sizeof *modes; i++) {
    blosc2_stdio_mmap map = map_params(modes[i], 1000);
    write_file("m", "0123456789", 10);
    CHECK(blosc2_stdio_mmap_open("m", "rb", &map) == &map);
    CHECK_IS(fcntl(map.fd, F_GETFD), FD_CLOEXEC);
    CHECK_IS(mkfifo("fifo", 0600), 0);
    CHECK_IS(rename("fifo", "m"), 0);
    CHECK(blosc2_stdio_mmap_open("m", "rb", &map) == &map);
    CHECK_IS(offset_read(1, 10, 0, 10, &map), 0);
    CHECK(memcmp(map.addr, "0123456789", 10) == 0);
    write_file("new", "another", 7);
    CHECK_IS(rename("new", "m"), 0);
    CHECK(blosc2_stdio_mmap_open("m", "rb", &map) == &map);
    CHECK_IS(offset_read(1, 7, 0, 7, &map), 0);
    CHECK(memcmp(map.addr, "another", 7) == 0);
    CHECK_IS(fcntl(map.fd, F_GETFD), FD_CLOEXEC);
    CHECK_IS(blosc2_stdio_mmap_destroy(&map), 0);
  }
}

static void paths(void) {
  char old[] = "old", new[] = "new";

  CHECK_IS(blosc2_remove_dir(NULL), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_remove_dir(""), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_remove_dir("none"), BLOSC2_ERROR_NOT_FOUND);
  CHECK_IS(blosc2_remove_dir("m"), BLOSC2_ERROR_NOT_FOUND);
  CHECK_IS(mkdir("d", 0777), 0);
  write_file("d/f", "", 0);
  CHECK_IS(symlink("nowhere", "d/l"), 0);
  CHECK_IS(blosc2_remove_dir("d"), BLOSC2_ERROR_FAILURE);
  CHECK_IS(access("d/f", F_OK), 0);
  CHECK_IS(unlink("d/l"), 0);
  CHECK_IS(mkdir("d/s", 0777), 0);
  CHECK_IS(blosc2_remove_urlpath("d"), BLOSC2_ERROR_FAILURE);
  CHECK_IS(access("d/f", F_OK), 0);
  CHECK_IS(rmdir("d/s"), 0);
  CHECK_IS(blosc2_remove_dir("d"), 0);
  CHECK_IS(access("d", F_OK), -1);

  CHECK_IS(blosc2_remove_urlpath(NULL), 0);
  CHECK_IS(blosc2_remove_urlpath("none"), 0);
  CHECK_IS(blosc2_remove_urlpath("m/none"), -1);
  write_file("m.b2lock", "", 0);
  CHECK_IS(blosc2_remove_urlpath("m"), 0);
  CHECK_IS(access("m", F_OK), -1);
  CHECK_IS(access("m.b2lock", F_OK), -1);

  write_file(old, "1", 1);
  write_file(new, "22", 2);
  CHECK_IS(blosc2_rename_urlpath(NULL, new), 0);
  CHECK_IS(blosc2_rename_urlpath(old, NULL), 0);
  CHECK_IS(blosc2_rename_urlpath(old, new), 0);
  CHECK_IS(size_on_disk(new), 1);
  CHECK_IS(blosc2_rename_urlpath(old, new), -1);
}

int main(void) {
  alarm(120);
  CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0);
  registry();
  defaults();
  files();
  maps();
  map_modes();
  special_files_are_not_mapped();
  a_replaced_path_is_not_waited_for();
  paths();
  CHECK_IS(blosc2_remove_dir(folder), 0);
  return checks_failed();
}
