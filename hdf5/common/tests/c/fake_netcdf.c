/* A fake netCDF-C with the functions that a codec calls, and a host that uses the codec.
 *
 * An instance accepts only the identifier of its own file, FILE_ID, whose variables have items of
 * ITEM bytes. This imitates several copies of netCDF-C in one process. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int version, sort;
  const char *id;
  unsigned hdf5id;
  void (*initialize)(void);
  void (*finalize)(void);
  int (*to_hdf5)(const char *, size_t *, unsigned **);
  int (*to_json)(size_t, const unsigned *, char **);
  int (*modify)(int, int, size_t *, unsigned **, size_t *, unsigned **);
} codec_t;

enum { VARIABLE = 3, TYPE = 11 };

int nc_inq_vartype(int file, int variable, int *type) {
  if (file != FILE_ID || variable != VARIABLE) return -49;
  *type = TYPE;
  return 0;
}

int nc_inq_type(int file, int type, char *name, size_t *size) {
  if (file != FILE_ID || type != TYPE || name != NULL) return -45;
  *size = ITEM;
  return 0;
}

static void show(const char *label, int status, size_t count, unsigned *numbers) {
  size_t i;
  printf("%s %d:", label, status);
  for (i = 0; i < count; i++) printf(" %u", numbers[i]);
  printf("\n");
  free(numbers);
}

/* Uses the codec of a plugin; prints the results. */
int fake_dataset(const char *file) {
  const char *json = "{\"id\": \"blosc\", \"cname\": \"zstd\", \"clevel\": 9, \"shuffle\": -1, \"blocksize\": 4096}";
  static const char *const invalid[] = {"", "{}", "\"blosc\"", "{\"id\": \"\xff\"}", "{\"id\":\"blosc\",\"clevel\":-2}"};
  void *plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  const codec_t *codec = ((const codec_t *(*)(void))dlsym(plugin, "NCZ_get_codec_info"))();
  unsigned *visible = NULL, *working = NULL, wrong[7] = {0, 0, 0, 0, 77, 1, 1};
  size_t i, count = 0, nworking = 0;
  char *text = NULL;
  int status;

  printf("codec %d %d %s %u\n", codec->version, codec->sort, codec->id, codec->hdf5id);
  status = codec->to_hdf5(json, &count, &visible);
  if (status != 0 || visible == NULL) return 2;
  status = codec->modify(FILE_ID, VARIABLE, &count, &visible, &nworking, &working);
  show("modify", status, nworking, working);
  nworking = 0, working = NULL;
  status = codec->modify(FILE_ID, VARIABLE + 1, &count, &visible, &nworking, &working);
  show("modify another variable", status, nworking, working);
  status = codec->to_json(count, visible, &text);
  printf("json %d: %s\n", status, text);
  free(text);
  if (codec->to_json(count, visible, NULL) != -36 || codec->to_json(count, NULL, &text) != -36) return 3;
  if (codec->modify(FILE_ID, VARIABLE, NULL, &visible, &nworking, &working) != -36) return 4;
  if (codec->modify(FILE_ID, VARIABLE, &count, &visible, &nworking, NULL) != -36) return 5;
  show("numbers", 0, count, visible);
  /* After a failed call the outputs are unchanged. */
  count = 77, visible = wrong, text = (char *)wrong;
  for (i = 0; i < sizeof invalid / sizeof *invalid; i++)
    printf("invalid %d\n", codec->to_hdf5(invalid[i], &count, &visible));
  printf("invalid %d\n", codec->to_json(7, wrong, &text));
  return count == 77 && visible == wrong && text == (char *)wrong ? 0 : 6;
}
