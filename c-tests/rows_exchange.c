/*
 * Frames whose contents C-Blosc2 itself would store unreadably: rows F1, F2, F4, F5, F16,
 * F20, F22, S3 and S28. "write" creates them in the working directory, "read" reads them and
 * appends a chunk to each, and "reread" reads the result. The three runs may use different
 * libraries; the program works with any of them.
 */

#include "schunks.h"

static int mode_reads, mode_rereads;

typedef struct {
  const char *name;
  void (*write)(blosc2_schunk *);
  void (*read)(blosc2_schunk *);
  int typesize;
  /* The number of chunks. */
  int nchunks;
} exchange;

static void write_f1(blosc2_schunk *schunk) {
  CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
  CHECK_IS(append(schunk, ramp_chunk(0, 2 * CHUNK)), 2);
  CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_ZERO, 200)), 3);
  CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_NAN, 204)), 4);
  CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_UNINIT, 208)), 5);
}

static void row_f1_lengths_of_special_chunks_are_read(blosc2_schunk *schunk) {
  uint8_t *chunk;
  bool needs_free;

  CHECK(holds_ramp(schunk, 0, 0, CHUNK) && holds_ramp(schunk, 1, 0, 2 * CHUNK));
  CHECK(holds_value(schunk, 2, 0, 200) && holds_value(schunk, 3, 0x7FC00000, 204));
  CHECK(holds_value(schunk, 4, 0, 208));
  CHECK_IS(blosc2_schunk_get_lazychunk(schunk, 2, &chunk, &needs_free), 36);
  if (needs_free) {
    free(chunk);
  }
}

static void write_f2(blosc2_schunk *schunk) {
  CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_ZERO, CHUNK)), 1);
  CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_NAN, CHUNK)), 2);
  CHECK_IS(append(schunk, ramp_chunk(0, 200)), 3);
  CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 4);
}

static void row_f2_earlier_special_chunks_are_read(blosc2_schunk *schunk) {
  CHECK_IS(schunk->chunksize, 0);
  CHECK(holds_value(schunk, 0, 0, CHUNK) && holds_value(schunk, 1, 0x7FC00000, CHUNK));
  CHECK(holds_ramp(schunk, 2, 0, 200) && holds_ramp(schunk, 3, 0, CHUNK));
}

static void write_f4(blosc2_schunk *schunk) {
  uint8_t tiny[24] = {2, 1, 0x02, 4, 8, 0, 0, 0, 8, 0, 0, 0, 24, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0};
  CHECK_IS(blosc2_schunk_append_chunk(schunk, tiny, true), 1);
  CHECK_IS(blosc2_schunk_append_chunk(schunk, tiny, true), 2);
}

static void row_f4_tiny_chunks_are_read(blosc2_schunk *schunk) {
  CHECK(holds_ramp(schunk, 0, 1, 8) && holds_ramp(schunk, 1, 1, 8));
}

static void write_f5(blosc2_schunk *schunk) {
  char name[20];
  int i;

  CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
  for (i = 0; i < 16; i++) {
    snprintf(name, sizeof name, "layer %d", i);
    CHECK_IS(blosc2_vlmeta_add(schunk, name, (uint8_t *)name, (int32_t)strlen(name), NULL), i);
  }
  CHECK(blosc2_vlmeta_add(schunk, "one more", (uint8_t *)name, 1, NULL) < 0);
}

static void row_f5_all_vlmetalayers_are_read(blosc2_schunk *schunk) {
  CHECK_IS(schunk->nvlmetalayers, 16);
  CHECK(has_vlmeta(schunk, "layer 0", "layer 0", 7) && has_vlmeta(schunk, "layer 15", "layer 15", 8));
  CHECK(holds_ramp(schunk, 0, 0, CHUNK));
}

static void write_f16(blosc2_schunk *schunk) {
  int i;

  CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_VALUE, CHUNK)), 1);
  CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_VALUE, CHUNK)), 2);
  /* Each round uses a new file number; after 40 rounds the reference could not open the
   * directory. */
  for (i = 0; i < 60; i++) {
    CHECK_IS(update(schunk, i % 2, special_chunk(BLOSC2_SPECIAL_ZERO, CHUNK)), 2);
    CHECK_IS(update(schunk, i % 2, special_chunk(BLOSC2_SPECIAL_VALUE, CHUNK)), 2);
  }
}

static void row_f16_numbers_of_files_stay_small(blosc2_schunk *schunk) {
  CHECK(holds_value(schunk, 0, 0x01020304, CHUNK) && holds_value(schunk, 1, 0x01020304, CHUNK));
}

static void write_f20(blosc2_schunk *schunk) {
  int i;

  for (i = 0; i < 3; i++) {
    CHECK_IS(append(schunk, ramp_chunk(i, CHUNK)), i + 1);
  }
  for (i = 0; i < 3; i++) {
    CHECK_IS(blosc2_schunk_delete_chunk(schunk, 0), 2 - i);
  }
  CHECK_IS(append(schunk, ramp_chunk(9, CHUNK)), 1);
}

static void row_f20_chunks_after_an_empty_frame_are_read(blosc2_schunk *schunk) {
  CHECK(holds_ramp(schunk, 0, 9, CHUNK));
}

static void write_f22(blosc2_schunk *schunk) {
  CHECK_IS(blosc2_schunk_fill_special(schunk, 3 * ITEMS, BLOSC2_SPECIAL_ZERO, CHUNK), 3);
  CHECK_IS(blosc2_meta_add(schunk, "late", (uint8_t *)"x", 1), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(update(schunk, 1, ramp_chunk(9, CHUNK)), 3);
}

static void row_f21_row_f22_changes_after_a_refused_metalayer_are_read(blosc2_schunk *schunk) {
  CHECK_IS(schunk->nmetalayers, 0);
  CHECK(holds_value(schunk, 0, 0, CHUNK) && holds_ramp(schunk, 1, 9, CHUNK) && holds_value(schunk, 2, 0, CHUNK));
}

static void write_s3(blosc2_schunk *schunk) {
  uint8_t data[3000];

  fill_with_data(data, sizeof data);
  CHECK_IS(blosc2_schunk_append_buffer(schunk, data, sizeof data), 1);
}

static void row_s3_large_items_are_read(blosc2_schunk *schunk) {
  uint8_t data[3000], back[3000];

  fill_with_data(data, sizeof data);
  CHECK_IS(schunk->typesize, 300);
  CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, 3, 8, back), 0);
  CHECK(memcmp(back, data + 900, 1500) == 0);
}

static void write_s28(blosc2_schunk *schunk) {
  CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
  CHECK_IS(blosc2_schunk_append_buffer(schunk, NULL, 0), 2);
  CHECK_IS(append(schunk, ramp_chunk(9, CHUNK)), 3);
}

static void row_s28_empty_chunks_after_data_are_read(blosc2_schunk *schunk) {
  uint8_t none;

  CHECK(holds_ramp(schunk, 0, 0, CHUNK) && holds_ramp(schunk, 2, 9, CHUNK));
  CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 1, &none, 1), 0);
}

static const exchange exchanges[] = {
    {"f1", write_f1, row_f1_lengths_of_special_chunks_are_read, ITEM, 5},
    {"f2", write_f2, row_f2_earlier_special_chunks_are_read, ITEM, 4},
    {"f4", write_f4, row_f4_tiny_chunks_are_read, ITEM, 2},
    {"f5", write_f5, row_f5_all_vlmetalayers_are_read, ITEM, 1},
    {"f16", write_f16, row_f16_numbers_of_files_stay_small, ITEM, 2},
    {"f20", write_f20, row_f20_chunks_after_an_empty_frame_are_read, ITEM, 1},
    {"f22", write_f22, row_f21_row_f22_changes_after_a_refused_metalayer_are_read, ITEM, 3},
    {"s3", write_s3, row_s3_large_items_are_read, 300, 1},
    {"s28", write_s28, row_s28_empty_chunks_after_data_are_read, ITEM, 3},
};

static void run(const exchange *one, int kind) {
  blosc2_cparams cparams = items_of(one->typesize);
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *schunk;
  char path[50];
  int bad = checks_bad;

  snprintf(path, sizeof path, "%s-%s", one->name, kind == SINGLE_FILE ? "file" : "directory");
  if (mode_reads) {
    schunk = blosc2_schunk_open(path);
  } else {
    storage.contiguous = is_contiguous(kind);
    storage.urlpath = path;
    storage.cparams = &cparams;
    schunk = blosc2_schunk_new(&storage);
  }
  CHECK(schunk != NULL);
  if (schunk != NULL && mode_reads) {
    CHECK_IS(schunk->nchunks, one->nchunks + mode_rereads);
    one->read(schunk);
    if (mode_rereads) {
      CHECK(holds_ramp(schunk, one->nchunks, 5, 40));
    } else {
      CHECK_IS(append(schunk, ramp_chunk(5, 40)), one->nchunks + 1);
      CHECK(holds_ramp(schunk, one->nchunks, 5, 40));
    }
  } else if (schunk != NULL) {
    one->write(schunk);
  }
  if (schunk != NULL) {
    CHECK_IS(blosc2_schunk_free(schunk), 0);
  }
  if (bad != checks_bad) {
    printf("that was %s\n", path);
  }
}

int main(int argc, char **argv) {
  size_t i;

  if (argc != 2) {
    fprintf(stderr, "usage: rows_exchange write|read|reread\n");
    return EXIT_FAILURE;
  }
  mode_rereads = strcmp(argv[1], "reread") == 0;
  mode_reads = mode_rereads || strcmp(argv[1], "read") == 0;
  blosc2_init();
  for (i = 0; i < sizeof exchanges / sizeof *exchanges; i++) {
    run(&exchanges[i], SINGLE_FILE);
    run(&exchanges[i], DIRECTORY);
  }
  blosc2_destroy();
  return checks_failed();
}
