/*
 * Stores metadata of any length with a super-chunk.
 *
 *   cc vlmetalayers.c -o vlmetalayers $(pkg-config --cflags --libs blosc2)
 *
 * A variable-length metalayer has a name and compressed content. It can be added, replaced by
 * longer or shorter content, and deleted at any time. It is in the trailer of a frame. The example
 * metalayers shows the kind of fixed length.
 */

#include <assert.h>
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char line[] = "the sensor was calibrated\n";
enum { LINE = sizeof line - 1, LOG = 1000 * LINE };

/* Ends the program if a function returned an error code. */
static void check(int64_t code) {
  if (code < 0) {
    fprintf(stderr, "%s\n", blosc2_error_string((int)code));
    exit(EXIT_FAILURE);
  }
}

/* Adds a text, without its final zero byte. NULL selects the default compression. */
static void add(blosc2_schunk *schunk, const char *name, char *text) {
  check(blosc2_vlmeta_add(schunk, name, (uint8_t *)text, (int32_t)strlen(text), NULL));
}

int main(void) {
  static uint8_t log[LOG];
  static int64_t items[1000];
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *readings;
  uint8_t *content;
  char *names[2];
  int64_t before, growth;
  int32_t len;
  int i, missing;

  blosc2_init();
  storage.contiguous = true;
  readings = blosc2_schunk_new(&storage);
  if (readings == NULL) {
    return EXIT_FAILURE;
  }
  check(blosc2_schunk_append_buffer(readings, items, sizeof items));

  /* Chunks exist already: that does not matter for this kind of metalayer. */
  add(readings, "unit", "kelvin");
  add(readings, "log", "created");
  add(readings, "draft", "to be deleted");

  /* The new content may have any length. It is compressed, so long text is cheap. */
  for (i = 0; i < LOG; i += LINE) {
    memcpy(log + i, line, LINE);
  }
  before = blosc2_schunk_frame_len(readings);
  check(blosc2_vlmeta_update(readings, "log", log, LOG, NULL));
  growth = blosc2_schunk_frame_len(readings) - before;
  assert(growth < LOG / 10);
  printf("a log of %d bytes made the frame %d bytes longer\n", LOG, (int)growth);

  check(blosc2_vlmeta_delete(readings, "draft"));

  /* The names belong to the super-chunk; a content is a copy that the caller frees. */
  assert(readings->nvlmetalayers == 2);
  check(blosc2_vlmeta_get_names(readings, names));
  assert(strcmp(names[0], "unit") == 0 && strcmp(names[1], "log") == 0);
  for (i = 0; i < 2; i++) {
    check(blosc2_vlmeta_get(readings, names[i], &content, &len));
    printf("%s: %d bytes\n", names[i], len);
    assert(i == 0 ? len == 6 && memcmp(content, "kelvin", 6) == 0
                  : len == LOG && memcmp(content, log, LOG) == 0);
    free(content);
  }

  /* A name that does not exist is an error. */
  missing = blosc2_vlmeta_get(readings, "draft", &content, &len);
  assert(missing == BLOSC2_ERROR_NOT_FOUND && content == NULL);
  printf("draft: %s\n", blosc2_error_string(missing));

  blosc2_schunk_free(readings);
  blosc2_destroy();
  return EXIT_SUCCESS;
}
