/*
 * Stores small metadata of fixed length with a super-chunk.
 *
 *   cc metalayers.c -o metalayers $(pkg-config --cflags --libs blosc2)
 *
 * A fixed metalayer has a name and bytes whose number never changes. It is in the header of a
 * frame, so programs read it without touching the data. It must be added before the first chunk;
 * its content can be overwritten later. The example vlmetalayers shows the flexible kind.
 */

#include <assert.h>
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 1000 };

/* Ends the program if a function returned an error code. */
static void check(int64_t code) {
  if (code < 0) {
    fprintf(stderr, "%s\n", blosc2_error_string((int)code));
    exit(EXIT_FAILURE);
  }
}

int main(void) {
  static int32_t items[ITEMS];
  /* The library does not interpret the content; a file for other machines needs a byte order. */
  uint8_t version[4] = {1, 0, 0, 0}, days[1] = {0}, *content, *frame;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *readings, *opened;
  bool needs_free;
  int64_t frame_len;
  int32_t len;
  int i, refused;

  blosc2_init();
  cparams.typesize = sizeof(int32_t);
  storage.cparams = &cparams;
  /* A frame in memory; with a urlpath the same bytes are stored in a file. */
  storage.contiguous = true;
  readings = blosc2_schunk_new(&storage);
  if (readings == NULL) {
    return EXIT_FAILURE;
  }
  check(blosc2_meta_add(readings, "version", version, sizeof version));
  check(blosc2_meta_add(readings, "days", days, sizeof days));
  printf("added metalayers of %d and %d bytes\n", (int)sizeof version, (int)sizeof days);

  while (days[0] < 3) {
    for (i = 0; i < ITEMS; i++) {
      items[i] = days[0] * ITEMS + i;
    }
    check(blosc2_schunk_append_buffer(readings, items, sizeof items));
    days[0]++;
    /* An update does not rewrite the chunks. */
    check(blosc2_meta_update(readings, "days", days, sizeof days));
  }

  /* After the first chunk no fixed metalayer can be added. */
  refused = blosc2_meta_add(readings, "late", version, sizeof version);
  assert(refused == BLOSC2_ERROR_INVALID_PARAM);
  printf("adding one after the first chunk: %s\n", blosc2_error_string(refused));

  /* The metalayers are part of the frame: another handle, or another program, reads them. */
  frame_len = blosc2_schunk_to_buffer(readings, &frame, &needs_free);
  check(frame_len);
  opened = blosc2_schunk_from_buffer(frame, frame_len, true);
  if (opened == NULL) {
    return EXIT_FAILURE;
  }
  assert(opened->nmetalayers == 2);
  assert(blosc2_meta_exists(opened, "late") == BLOSC2_ERROR_NOT_FOUND);
  check(blosc2_meta_get(opened, "days", &content, &len));
  assert(len == 1 && content[0] == 3);
  printf("the copy of the frame has %d metalayers; days: %d\n", opened->nmetalayers, content[0]);

  /* The content is a copy that the caller owns, and so may be the frame. */
  free(content);
  blosc2_schunk_free(opened);
  if (needs_free) {
    free(frame);
  }
  blosc2_schunk_free(readings);
  blosc2_destroy();
  return EXIT_SUCCESS;
}
