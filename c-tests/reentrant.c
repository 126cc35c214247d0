/*
 * Callbacks that call the library for their own super-chunk, from several threads: each call
 * succeeds or returns an error, the data stay intact, and a reopened super-chunk has all
 * metalayers.
 */

#include "schunks.h"

enum { BLOCKS = 8, BLOCK = 400, ALL = BLOCKS * BLOCK, ROUNDS = 4 };

/* The actions of the callbacks. */
enum { GET, ADD, UPDATE, DELETE, READ, APPEND, WORKS };

static int work;
static blosc2_schunk *served;
static int done_well, refused, wrong;

static void note(int64_t code) {
  if (code >= 0) {
    __atomic_add_fetch(&done_well, 1, __ATOMIC_RELAXED);
  } else if (code == BLOSC2_ERROR_INVALID_PARAM || code == BLOSC2_ERROR_NOT_FOUND) {
    __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
  } else {
    __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
  }
}

static void call_back(blosc2_schunk *schunk) {
  static int next;
  char name[32];
  uint8_t *content, items[ALL];
  int32_t len;
  int code;

  code = blosc2_vlmeta_get(schunk, "conf", &content, &len);
  if (code >= 0) {
    if (len != 5 && len != 11) {
      __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
    }
    free(content);
  }
  note(code);
  switch (work) {
    case ADD:
      snprintf(name, sizeof name, "n%d", __atomic_add_fetch(&next, 1, __ATOMIC_RELAXED));
      /* Frames hold only a few. */
      if (schunk->nvlmetalayers < 12) {
        note(blosc2_vlmeta_add(schunk, name, (uint8_t *)"abc", 3, NULL));
      }
      break;
    case UPDATE:
      note(blosc2_vlmeta_update(schunk, "conf", (uint8_t *)"other value", 11, NULL));
      break;
    case DELETE:
      note(blosc2_vlmeta_delete(schunk, "spare"));
      note(blosc2_vlmeta_add(schunk, "spare", (uint8_t *)"again", 5, NULL));
      break;
    case READ:
      if (schunk->nchunks > 0) {
        note(blosc2_schunk_decompress_chunk(schunk, 0, items, sizeof items));
      }
      break;
    case APPEND:
      if (schunk->nchunks > 0 && schunk->nchunks < 3) {
        note(blosc2_schunk_delete_chunk(schunk, 7));
      }
      break;
    default:
      break;
  }
}

static int forward(const uint8_t *input, uint8_t *output, int32_t size, uint8_t meta, blosc2_cparams *cparams,
                   uint8_t id) {
  int32_t i;

  (void)meta, (void)id;
  for (i = 0; i < size; i++) {
    output[i] = input[i] ^ 0x5a;
  }
  if (cparams->schunk != NULL) {
    call_back((blosc2_schunk *)cparams->schunk);
  }
  return 0;
}

static int backward(const uint8_t *input, uint8_t *output, int32_t size, uint8_t meta,
                    blosc2_dparams *dparams, uint8_t id) {
  int32_t i;

  (void)meta, (void)id;
  for (i = 0; i < size; i++) {
    output[i] = input[i] ^ 0x5a;
  }
  if (dparams->schunk != NULL && work != READ) {
    call_back((blosc2_schunk *)dparams->schunk);
  }
  return 0;
}

static int prefilter(blosc2_prefilter_params *params) {
  memcpy(params->output, params->input, (size_t)params->output_size);
  call_back(served);
  return 0;
}

static void callbacks_may_use_their_own_super_chunk(int has_prefilter) {
  static uint8_t data[ALL], back[ALL];
  blosc2_prefilter_params preparams;
  int kind, nthreads, i, j;

  fill_with_data(data, sizeof data);
  for (kind = 0; kind < KINDS; kind++) {
    for (nthreads = 1; nthreads <= 3; nthreads += 2) {
      for (work = 0; work < WORKS; work++) {
        blosc2_cparams cparams = items_of(ITEM);
        blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
        blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
        blosc2_schunk *again;

        cparams.blocksize = BLOCK;
        cparams.nthreads = dparams.nthreads = (int16_t)nthreads;
        if (!has_prefilter) {
          cparams.filters[4] = 200;
        }
        storage.cparams = &cparams;
        storage.dparams = &dparams;
        storage.contiguous = is_contiguous(kind);
        storage.urlpath = path_of(kind);
        if (has_prefilter) {
          memset(&preparams, 0, sizeof preparams);
          cparams.prefilter = prefilter;
          cparams.preparams = &preparams;
        }
        served = blosc2_schunk_new(&storage);
        CHECK(served != NULL);
        CHECK_IS(blosc2_vlmeta_add(served, "conf", (uint8_t *)"value", 5, NULL), 0);
        CHECK_IS(blosc2_vlmeta_add(served, "spare", (uint8_t *)"spare", 5, NULL), 1);
        done_well = refused = wrong = 0;
        for (i = 0; i < ROUNDS; i++) {
          CHECK_IS(blosc2_schunk_append_buffer(served, data, sizeof data), i + 1);
        }
        for (j = 0; j < ROUNDS; j++) {
          memset(back, 0, sizeof back);
          CHECK_IS(blosc2_schunk_decompress_chunk(served, j, back, sizeof back), ALL);
          CHECK(memcmp(back, data, sizeof back) == 0);
        }
        CHECK_IS(wrong, 0);
        CHECK(done_well > 0);
        CHECK(blosc2_vlmeta_exists(served, "conf") >= 0);
        again = reopened(served, kind);
        CHECK(again != NULL && again->nchunks == ROUNDS && again->nvlmetalayers == served->nvlmetalayers);
        blosc2_schunk_free(again);
        done(served, kind);
      }
    }
  }
}

int main(void) {
  blosc2_filter filter = {.id = 200, .name = "calls back", .version = 1, .forward = forward, .backward = backward};

  enter_folder();
  blosc2_init();
  CHECK_IS(blosc2_register_filter(&filter), 0);
  callbacks_may_use_their_own_super_chunk(0);
  callbacks_may_use_their_own_super_chunk(1);
  blosc2_destroy();
  return leave_folder();
}
