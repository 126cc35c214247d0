/*
 * Fixed and variable-length metalayers on all four kinds of storage: additions, changes and
 * removals, the inline functions of the header, and the ownership of memory.
 */

#include "schunks.h"

static void fixed(void) {
  int kind;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make(kind), *again;
    uint8_t content[] = "a content", *found = content;
    int32_t len = 7;
    CHECK_IS(blosc2_meta_add(schunk, "first", content, 9), 0);
    CHECK_IS(blosc2_meta_add(schunk, "empty", NULL, 0), 1);
    CHECK_IS(blosc2_meta_add(schunk, "", content, 1), 2);
    CHECK_IS(schunk->nmetalayers, 3);
    CHECK_IS(schunk->change_tick, 3);
    CHECK(strcmp(schunk->metalayers[0]->name, "first") == 0 && schunk->metalayers[0]->content != content);
    CHECK_IS(blosc2_meta_add(schunk, "first", content, 9), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_meta_add(schunk, NULL, content, 9), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_meta_add(schunk, "other", content, -1), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_meta_add(schunk, "other", NULL, 1), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(schunk->nmetalayers, 3);
    CHECK_IS(schunk->change_tick, 3);
    CHECK_IS(blosc2_meta_exists(schunk, "empty"), 1);
    CHECK_IS(blosc2_meta_exists(schunk, "none"), BLOSC2_ERROR_NOT_FOUND);
    memset(content, 'x', sizeof content);
    CHECK(has_meta(schunk, "first", "a content", 9));
    CHECK_IS(blosc2_meta_get(schunk, "empty", &found, &len), 1);
    CHECK(found == NULL && len == 0);
    CHECK_IS(blosc2_meta_get(schunk, "none", &found, &len), BLOSC2_ERROR_NOT_FOUND);

    CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
    CHECK_IS(blosc2_meta_update(schunk, "first", (uint8_t *)"A CONTENT", 9), 0);
    CHECK_IS(blosc2_meta_update(schunk, "empty", NULL, 0), 1);
    CHECK_IS(schunk->change_tick, 5);
    CHECK_IS(blosc2_meta_update(schunk, "first", NULL, 3), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_meta_update(schunk, "first", content, -1), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_meta_update(schunk, NULL, content, 1), BLOSC2_ERROR_INVALID_PARAM);
    CHECK(has_meta(schunk, "first", "A CONTENT", 9));
    again = reopened(schunk, kind);
    CHECK(again != NULL && again->nmetalayers == 3);
    CHECK(has_meta(again, "first", "A CONTENT", 9) && has_meta(again, "", "a", 1));
    CHECK(has_meta(again, "empty", NULL, 0));
    CHECK(holds_ramp(again, 0, 0, CHUNK));
    blosc2_schunk_free(again);
    done(schunk, kind);
  }
}

static void variable(void) {
  static uint8_t large[100000];
  int kind, i;

  fill_with_data(large, sizeof large);
  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make(kind), *again;
    uint8_t *found = large;
    int32_t len = 7;
    char *names[3];
    blosc2_cparams cparams = items_of(4);
    CHECK_IS(blosc2_vlmeta_get_names(schunk, names), 0);
    CHECK_IS(blosc2_vlmeta_add(schunk, "a", (uint8_t *)"abc", 3, &cparams), 0);
    /* Stored as a chunk made with these parameters. */
    CHECK_IS(schunk->vlmetalayers[0]->content_len, 35);
    CHECK(memcmp(schunk->vlmetalayers[0]->content, "\5\1\7\4\3\0\0\0\1\0\0\0#\0\0\0", 16) == 0);
    CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
    CHECK_IS(blosc2_vlmeta_add(schunk, "large", large, sizeof large, NULL), 1);
    CHECK_IS(blosc2_vlmeta_add(schunk, "empty", NULL, 0, NULL), 2);
    CHECK_IS(schunk->vlmetalayers[2]->content_len, 32);
    CHECK_IS(append(schunk, ramp_chunk(9, CHUNK)), 2);
    CHECK_IS(schunk->nvlmetalayers, 3);
    CHECK_IS(schunk->change_tick, 3);
    CHECK_IS(blosc2_vlmeta_add(schunk, "a", large, 3, NULL), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_vlmeta_add(schunk, "b", large, -1, NULL), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_vlmeta_add(schunk, "b", NULL, 1, NULL), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_vlmeta_add(schunk, NULL, large, 1, NULL), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_vlmeta_update(schunk, "b", large, 1, NULL), BLOSC2_ERROR_NOT_FOUND);
    CHECK_IS(blosc2_vlmeta_delete(schunk, "b"), BLOSC2_ERROR_NOT_FOUND);
    CHECK_IS(blosc2_vlmeta_exists(schunk, "b"), BLOSC2_ERROR_NOT_FOUND);
    /* Names that begin like others. */
    CHECK_IS(blosc2_vlmeta_exists(schunk, "empty"), 2);
    CHECK_IS(blosc2_vlmeta_exists(schunk, ""), BLOSC2_ERROR_NOT_FOUND);
    CHECK_IS(blosc2_vlmeta_exists(schunk, "empt"), BLOSC2_ERROR_NOT_FOUND);
    CHECK_IS(blosc2_vlmeta_exists(schunk, "emptyy"), BLOSC2_ERROR_NOT_FOUND);
    CHECK_IS(blosc2_vlmeta_get(schunk, "b", &found, &len), BLOSC2_ERROR_NOT_FOUND);
    CHECK(found == NULL && len == 0);
    CHECK_IS(blosc2_vlmeta_get(schunk, "empty", &found, &len), 2);
    CHECK(found == NULL && len == 0);
    CHECK_IS(blosc2_vlmeta_get(schunk, "a", NULL, &len), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_vlmeta_get(schunk, "a", &found, NULL), BLOSC2_ERROR_INVALID_PARAM);
    cparams.clevel = 10;
    CHECK(blosc2_vlmeta_update(schunk, "a", large, 100, &cparams) < 0);
    CHECK(has_vlmeta(schunk, "a", "abc", 3));

    CHECK_IS(blosc2_vlmeta_update(schunk, "a", large, 5000, NULL), 0);
    CHECK(has_vlmeta(schunk, "a", large, 5000));
    CHECK_IS(blosc2_vlmeta_update(schunk, "large", (uint8_t *)"small", 5, NULL), 1);
    CHECK_IS(blosc2_vlmeta_get_names(schunk, names), 3);
    CHECK(strcmp(names[0], "a") == 0 && strcmp(names[1], "large") == 0 && strcmp(names[2], "empty") == 0);
    CHECK(names[1] == schunk->vlmetalayers[1]->name);
    CHECK_IS(schunk->change_tick, 5);
    again = reopened(schunk, kind);
    CHECK(again != NULL && again->nvlmetalayers == 3);
    for (i = 0; i < 2; i++) {
      blosc2_schunk *one = i == 0 ? schunk : again;
      CHECK(has_vlmeta(one, "a", large, 5000) && has_vlmeta(one, "large", "small", 5));
      CHECK(has_vlmeta(one, "empty", NULL, 0));
      CHECK(holds_ramp(one, 0, 0, CHUNK) && holds_ramp(one, 1, 9, CHUNK));
    }
    blosc2_schunk_free(again);
    CHECK_IS(blosc2_vlmeta_delete(schunk, "a"), 2);
    CHECK_IS(blosc2_vlmeta_exists(schunk, "large"), 0);
    CHECK_IS(append(schunk, ramp_chunk(20, CHUNK)), 3);
    CHECK_IS(blosc2_vlmeta_delete(schunk, "empty"), 1);
    CHECK_IS(blosc2_vlmeta_delete(schunk, "large"), 0);
    CHECK_IS(blosc2_vlmeta_delete(schunk, "large"), BLOSC2_ERROR_NOT_FOUND);
    again = reopened(schunk, kind);
    CHECK(again != NULL && again->nvlmetalayers == 0 && holds_ramp(again, 2, 20, CHUNK));
    blosc2_schunk_free(again);
    done(schunk, kind);
  }
}

static void seen_by_another_handle(void) {
  int kind;

  for (kind = SINGLE_FILE; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 1), *other = blosc2_schunk_open(path_of(kind));
    CHECK(other != NULL);
    CHECK_IS(blosc2_vlmeta_add(schunk, "v", (uint8_t *)"abc", 3, NULL), 0);
    CHECK_IS(other->nvlmetalayers, 0);
    CHECK_IS(blosc2_vlmeta_exists(other, "v"), 0);
    CHECK_IS(other->nvlmetalayers, 1);
    CHECK_IS(other->change_tick, 1);
    CHECK(has_vlmeta(other, "v", "abc", 3));
    CHECK_IS(blosc2_vlmeta_add(other, "w", (uint8_t *)"defg", 4, NULL), 1);
    CHECK(has_vlmeta(schunk, "w", "defg", 4));
    CHECK_IS(blosc2_vlmeta_delete(schunk, "v"), 1);
    CHECK_IS(blosc2_vlmeta_exists(other, "v"), BLOSC2_ERROR_NOT_FOUND);
    CHECK_IS(blosc2_vlmeta_exists(other, "w"), 0);
    blosc2_schunk_free(other);
    done(schunk, kind);
  }
}

static void damaged(void) {
  /* Counts, lengths and offsets of the metalayers in a frame. */
  static const struct { int at; uint8_t value; } header[] = {
      {91, 0}, {92, 0xFF}, {93, 17}, {94, 0}, {96, 0xFF}, {100, 0xFF}, {104, 0}, {105, 0x7F}, {105, 0xFF}};
  static const struct { int at; uint8_t value; } trailer[] = {
      {6, 0}, {7, 0xFF}, {8, 5}, {9, 0}, {11, 0}, {12, 0xFF}, {14, 0xFF}, {19, 0}, {20, 0x7F}, {20, 0xFF}};
  blosc2_schunk *schunk = make(SINGLE_FILE);
  uint8_t *frame;
  long len, trailer_at;
  size_t i;
  int way;

  CHECK_IS(blosc2_meta_add(schunk, "m", (uint8_t *)"abc", 3), 0);
  CHECK_IS(blosc2_vlmeta_add(schunk, "v", (uint8_t *)"abc", 3, NULL), 0);
  CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
  frame = read_whole(path_of(SINGLE_FILE), &len);
  trailer_at = len - ((frame[len - 20] << 8) | frame[len - 19]);
  done(schunk, SINGLE_FILE);
  CHECK(frame[91] == 0xDE && frame[trailer_at + 6] == 0xDE);
  for (i = 0; i < sizeof header / sizeof *header + sizeof trailer / sizeof *trailer; i++) {
    size_t j = i - sizeof header / sizeof *header;
    long at = i < sizeof header / sizeof *header ? header[i].at : trailer_at + trailer[j].at;
    uint8_t was = frame[at];
    frame[at] = i < sizeof header / sizeof *header ? header[i].value : trailer[j].value;
    write_whole("damaged", frame, len);
    for (way = 0; way < 3; way++) {
      schunk = way == 2 ? blosc2_schunk_open("damaged") : blosc2_schunk_from_buffer(frame, len, way == 1);
      if (schunk != NULL) {
        printf("offset %ld, value %#x: opened\n", at, frame[at]);
        CHECK(!"a damaged frame was opened");
        blosc2_schunk_free(schunk);
      }
    }
    frame[at] = was;
  }
  CHECK_IS(blosc2_remove_urlpath("damaged"), 0);
  free(frame);
}

int main(void) {
  enter_folder();
  fixed();
  variable();
  seen_by_another_handle();
  damaged();
  return leave_folder();
}
