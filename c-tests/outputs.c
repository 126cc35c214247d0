/*
 * After a failed call, its outputs have a defined value: NULL, false or 0. The table lists
 * all functions with outputs; each is called with outputs of arbitrary contents so that it
 * fails.
 */

#include "schunks.h"
#include <b2nd.h>

/* Outputs of all types. */
typedef struct {
  uint8_t *bytes;
  int64_t *numbers;
  char *text, *text2;
  const char *name;
  b2nd_array_t *array;
  blosc2_cparams *cparams;
  blosc2_dparams *dparams;
  bool flag;
  int32_t i32, more, most;
  int64_t i64;
  size_t sizes[3];
  int ints[2];
  int8_t i8, format;
} outputs;

static outputs out;
static blosc2_schunk *good, *broken;
static b2nd_array_t *array;
static b2nd_context_t *ctx;
static blosc2_context *dctx;
static uint8_t noise[64];

#define NONSENSE 0x5A

/* Failing calls, and the outputs that they must define. */
typedef struct {
  const char *name;
  int (*call)(int how);
  int (*is_defined)(void);
} row;

static int no_bytes(void) { return out.bytes == NULL; }
static int no_chunk(void) { return out.bytes == NULL && !out.flag; }
static int no_sized(void) { return out.bytes == NULL && out.i32 == 0; }
static int no_numbers(void) { return out.numbers == NULL; }
static int no_array(void) { return out.array == NULL; }
static int no_cparams(void) { return out.cparams == NULL; }
static int no_dparams(void) { return out.dparams == NULL; }
static int no_frame(void) { return out.bytes == NULL && out.i64 == 0 && !out.flag; }
static int no_texts(void) { return out.text == NULL && out.text2 == NULL; }
static int no_name(void) { return out.name == NULL; }
static int no_i32(void) { return out.i32 == 0; }
static int no_i32s(void) { return out.i32 == 0 && out.more == 0 && out.most == 0; }
static int no_size(void) { return out.sizes[0] == 0; }
static int no_sizes(void) { return out.sizes[0] == 0 && out.sizes[1] == 0 && out.sizes[2] == 0; }
static int no_info(void) { return out.sizes[0] == 0 && out.ints[0] == 0; }
static int no_ints(void) { return out.ints[0] == 0 && out.ints[1] == 0; }
static int no_meta(void) { return out.i8 == 0 && out.text == NULL && out.format == 0; }
static int no_i64(void) { return out.i64 == 0; }

static int get_chunk(int how) {
  return how == 0   ? blosc2_schunk_get_chunk(good, 5, &out.bytes, &out.flag)
         : how == 1 ? blosc2_schunk_get_chunk(good, -1, &out.bytes, &out.flag)
         : how == 2 ? blosc2_schunk_get_chunk(NULL, 0, &out.bytes, &out.flag)
                    : 1;
}

static int get_lazychunk(int how) {
  return how == 0   ? blosc2_schunk_get_lazychunk(good, 5, &out.bytes, &out.flag)
         : how == 1 ? blosc2_schunk_get_lazychunk(good, -1, &out.bytes, &out.flag)
         : how == 2 ? blosc2_schunk_get_lazychunk(NULL, 0, &out.bytes, &out.flag)
                    : 1;
}

static int get_vlblock(int how) {
  return how == 0   ? blosc2_schunk_get_vlblock(good, 0, 0, &out.bytes, &out.i32)
         : how == 1 ? blosc2_schunk_get_vlblock(good, 9, 0, &out.bytes, &out.i32)
         : how == 2 ? blosc2_schunk_get_vlblock(NULL, 0, 0, &out.bytes, &out.i32)
                    : 1;
}

static int vlmeta_get(int how) {
  return how == 0   ? blosc2_vlmeta_get(good, "none", &out.bytes, &out.i32)
         : how == 1 ? blosc2_vlmeta_get(NULL, "none", &out.bytes, &out.i32)
         : how == 2 ? blosc2_vlmeta_get(good, NULL, &out.bytes, &out.i32)
         : how == 3 ? blosc2_vlmeta_get(broken, "layer", &out.bytes, &out.i32)
                    : 1;
}

static int meta_get(int how) {
  return how == 0   ? blosc2_meta_get(good, "none", &out.bytes, &out.i32)
         : how == 1 ? blosc2_meta_get(NULL, "none", &out.bytes, &out.i32)
         : how == 2 ? blosc2_meta_get(good, NULL, &out.bytes, &out.i32)
                    : 1;
}

static int to_buffer(int how) {
  return how == 0 ? (int)blosc2_schunk_to_buffer(NULL, &out.bytes, &out.flag) : 1;
}

static int get_cparams(int how) {
  return how == 0 ? blosc2_schunk_get_cparams(NULL, &out.cparams) : 1;
}

static int get_dparams(int how) {
  return how == 0 ? blosc2_schunk_get_dparams(NULL, &out.dparams) : 1;
}

static int slice_nchunks(int how) {
  int64_t one = 0;

  return how == 0   ? (int)blosc2_get_slice_nchunks(NULL, &one, &one, &out.numbers)
         : how == 1 ? (int)blosc2_get_slice_nchunks(good, NULL, &one, &out.numbers)
         : how == 2 ? (int)blosc2_get_slice_nchunks(array->sc, NULL, &one, &out.numbers)
                    : 1;
}

static int vldecompress(int how) {
  void *blocks[2] = {noise, noise};
  int32_t sizes[2] = {7, 7};
  int code = how == 0   ? blosc2_vldecompress_ctx(dctx, noise, sizeof noise, blocks, sizes, 2)
             : how == 1 ? blosc2_vldecompress_ctx(NULL, noise, sizeof noise, blocks, sizes, 2)
             : how == 2 ? blosc2_vldecompress_ctx(dctx, NULL, 3, blocks, sizes, 2)
                        : 1;

  out.bytes = (uint8_t *)(blocks[0] != NULL ? blocks[0] : blocks[1]);
  out.i32 = sizes[0] | sizes[1];
  return code;
}

static int vldecompress_block(int how) {
  return how == 0   ? blosc2_vldecompress_block_ctx(dctx, noise, sizeof noise, 0, &out.bytes, &out.i32)
         : how == 1 ? blosc2_vldecompress_block_ctx(NULL, noise, sizeof noise, 0, &out.bytes, &out.i32)
         : how == 2 ? blosc2_vldecompress_block_ctx(dctx, NULL, 3, 0, &out.bytes, &out.i32)
                    : 1;
}

static int vl_nblocks(int how) {
  return how == 0   ? blosc2_vlchunk_get_nblocks(noise, sizeof noise, &out.i32)
         : how == 1 ? blosc2_vlchunk_get_nblocks(NULL, 0, &out.i32)
                    : 1;
}

static int cbuffer_sizes(int how) {
  return how == 0   ? blosc2_cbuffer_sizes(NULL, &out.i32, &out.more, &out.most)
         : how == 1 ? blosc2_cbuffer_sizes(noise, &out.i32, &out.more, &out.most)
                    : 1;
}

static int old_sizes(int how) {
  blosc1_cbuffer_sizes(how == 0 ? NULL : noise, &out.sizes[0], &out.sizes[1], &out.sizes[2]);
  return how < 2 ? -1 : 1;
}

static int old_validate(int how) {
  return how == 0   ? blosc1_cbuffer_validate(NULL, 32, &out.sizes[0])
         : how == 1 ? blosc1_cbuffer_validate(noise, sizeof noise, &out.sizes[0])
         : how == 2 ? blosc1_cbuffer_validate(noise, 3, &out.sizes[0])
                    : 1;
}

static int old_metainfo(int how) {
  blosc1_cbuffer_metainfo(NULL, &out.sizes[0], &out.ints[0]);
  return how == 0 ? -1 : 1;
}

static int versions(int how) {
  blosc2_cbuffer_versions(NULL, &out.ints[0], &out.ints[1]);
  return how == 0 ? -1 : 1;
}

static int complib_info(int how) {
  return how == 0   ? blosc2_get_complib_info("none", &out.text, &out.text2)
         : how == 1 ? blosc2_get_complib_info(NULL, &out.text, &out.text2)
                    : 1;
}

static int compname(int how) { return how == 0 ? blosc2_compcode_to_compname(77, &out.name) : 1; }

static int deserialize(int how) {
  int64_t shape[B2ND_MAX_DIM];
  int32_t chunkshape[B2ND_MAX_DIM], blockshape[B2ND_MAX_DIM];
  static uint8_t short_meta[8] = {0x97, 0, 2, 0x92};

  return how == 0 ? b2nd_deserialize_meta(short_meta, 8, &out.i8, shape, chunkshape, blockshape, &out.text,
                                          &out.format)
         : how == 1 ? b2nd_deserialize_meta(NULL, 8, &out.i8, shape, chunkshape, blockshape, &out.text,
                                            &out.format)
         : how == 2 ? b2nd_deserialize_meta(short_meta, 2, &out.i8, shape, chunkshape, blockshape,
                                            &out.text, &out.format)
         : how == 3 ? b2nd_deserialize_meta(short_meta, 8, &out.i8, NULL, chunkshape, blockshape, &out.text,
                                            &out.format)
                    : 1;
}

static int deserialize_inline(int how) {
  int64_t shape[B2ND_MAX_DIM];
  int32_t chunkshape[B2ND_MAX_DIM], blockshape[B2ND_MAX_DIM];
  static uint8_t short_meta[8] = {0x97, 0, 2, 0x92};

  return how == 0 ? b2nd_deserialize_meta_inline(short_meta, 8, &out.i8, shape, chunkshape, blockshape,
                                                 &out.text, &out.format)
         : how == 1 ? b2nd_deserialize_meta_inline(NULL, 8, &out.i8, shape, chunkshape, blockshape, &out.text,
                                                   &out.format)
         : how == 2 ? b2nd_deserialize_meta_inline(short_meta, 2, &out.i8, shape, chunkshape, blockshape,
                                                   &out.text, &out.format)
                    : 1;
}

static int serialize(int how) {
  int64_t shape[1] = {4};
  int32_t part[1] = {4};

  return how == 0   ? b2nd_serialize_meta(77, shape, part, part, "|u1", 0, &out.bytes)
         : how == 1 ? b2nd_serialize_meta(1, NULL, part, part, "|u1", 0, &out.bytes)
                    : 1;
}

static int to_cframe(int how) {
  return how == 0 ? b2nd_to_cframe(NULL, &out.bytes, &out.i64, &out.flag) : 1;
}

static int arrays(int how) {
  int64_t one[2] = {0, 0}, far[2] = {1 << 20, 1 << 20};
  bool flags[40] = {false};

  switch (how) {
    case 0: return b2nd_open("nothing", &out.array);
    case 1: return b2nd_open(NULL, &out.array);
    case 2: return b2nd_open_offset("nothing", &out.array, 3);
    case 3: return b2nd_from_schunk(NULL, &out.array);
    case 4: return b2nd_from_schunk(good, &out.array);
    case 5: return b2nd_from_cframe(noise, sizeof noise, true, &out.array);
    case 6: return b2nd_from_cframe(NULL, 0, false, &out.array);
    case 7: return b2nd_zeros(NULL, &out.array);
    case 8: return b2nd_empty(NULL, &out.array);
    case 9: return b2nd_uninit(NULL, &out.array);
    case 10: return b2nd_nans(NULL, &out.array);
    case 11: return b2nd_full(ctx, &out.array, NULL);
    case 12: return b2nd_from_cbuffer(ctx, &out.array, NULL, 0);
    case 13: return b2nd_from_cbuffer(ctx, &out.array, noise, 1);
    case 14: return b2nd_copy(ctx, NULL, &out.array);
    case 15: return b2nd_copy(NULL, array, &out.array);
    case 16: return b2nd_get_slice(ctx, &out.array, NULL, one, one);
    case 17: return b2nd_get_slice(ctx, &out.array, array, far, one);
    case 18: return b2nd_squeeze(NULL, &out.array);
    case 19: return b2nd_squeeze_index(NULL, &out.array, flags);
    case 20: return b2nd_squeeze_index(array, &out.array, NULL);
    case 21: return b2nd_expand_dims(NULL, &out.array, flags, 2);
    case 22: return b2nd_expand_dims(array, &out.array, flags, 40);
    case 23: return b2nd_concatenate(ctx, NULL, array, 0, true, &out.array);
    case 24: return b2nd_concatenate(ctx, array, array, 9, true, &out.array);
    default: return 1;
  }
}

static int unidim(int how) {
  blosc2_multidim_to_unidim(NULL, 2, NULL, &out.i64);
  return how == 0 ? -1 : 1;
}

static int mapped_read(int how) {
  return how == 0 && blosc2_stdio_mmap_read((void **)&out.bytes, 1, 4, 0, NULL) == 0 ? -1 : 1;
}

static const row rows[] = {
    {"blosc2_schunk_get_chunk", get_chunk, no_chunk},
    {"blosc2_schunk_get_lazychunk", get_lazychunk, no_chunk},
    {"blosc2_schunk_get_vlblock", get_vlblock, no_sized},
    {"blosc2_vlmeta_get", vlmeta_get, no_sized},
    {"blosc2_meta_get", meta_get, no_sized},
    {"blosc2_schunk_to_buffer", to_buffer, no_chunk},
    {"blosc2_schunk_get_cparams", get_cparams, no_cparams},
    {"blosc2_schunk_get_dparams", get_dparams, no_dparams},
    {"blosc2_get_slice_nchunks", slice_nchunks, no_numbers},
    {"blosc2_vldecompress_ctx", vldecompress, no_sized},
    {"blosc2_vldecompress_block_ctx", vldecompress_block, no_sized},
    {"blosc2_vlchunk_get_nblocks", vl_nblocks, no_i32},
    {"blosc2_cbuffer_sizes", cbuffer_sizes, no_i32s},
    {"blosc1_cbuffer_sizes", old_sizes, no_sizes},
    {"blosc1_cbuffer_validate", old_validate, no_size},
    {"blosc1_cbuffer_metainfo", old_metainfo, no_info},
    {"blosc2_cbuffer_versions", versions, no_ints},
    {"blosc2_get_complib_info", complib_info, no_texts},
    {"blosc2_compcode_to_compname", compname, no_name},
    {"b2nd_deserialize_meta", deserialize, no_meta},
    {"b2nd_deserialize_meta_inline", deserialize_inline, no_meta},
    {"b2nd_serialize_meta", serialize, no_bytes},
    {"b2nd_to_cframe", to_cframe, no_frame},
    {"functions that create arrays", arrays, no_array},
    {"blosc2_multidim_to_unidim", unidim, no_i64},
    {"blosc2_stdio_mmap_read", mapped_read, no_bytes},
};

static void outputs_are_defined_after_errors(void) {
  size_t i;
  int how, code;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (how = 0;; how++) {
      memset(&out, NONSENSE, sizeof out);
      code = rows[i].call(how);
      if (code == 1 && how > 0) {
        break;
      }
      if (code >= 0) {
        checks_bad++;
        printf("%s, case %d, returns %d\n", rows[i].name, how, code);
        break;
      }
      if (!rows[i].is_defined()) {
        checks_bad++;
        printf("%s, case %d, leaves an output undefined\n", rows[i].name, how);
      }
    }
  }
}

/* Failing calls zero the parameter structs. */
static void parameters_are_defined_after_errors(void) {
  blosc2_cparams cparams;
  blosc2_dparams dparams;
  int64_t index[2] = {7, 7};

  memset(&cparams, NONSENSE, sizeof cparams);
  memset(&dparams, NONSENSE, sizeof dparams);
  CHECK(blosc2_ctx_get_cparams(NULL, &cparams) < 0);
  CHECK(blosc2_ctx_get_dparams(NULL, &dparams) < 0);
  CHECK(cparams.typesize == 0 && cparams.schunk == NULL && cparams.prefilter == NULL);
  CHECK(dparams.nthreads == 0 && dparams.schunk == NULL && dparams.postfilter == NULL);
  blosc2_unidim_to_multidim(2, NULL, 5, index);
  CHECK(index[0] == 0 && index[1] == 0);
}

int main(void) {
  int kind;
  int64_t shape[2] = {4, 4};
  int32_t part[2] = {2, 2};
  int32_t items[ITEMS] = {1, 2, 3};

  enter_folder();
  blosc2_init();
  memset(noise, 0xFF, sizeof noise);
  dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  ctx = b2nd_create_ctx(NULL, 2, shape, part, part, NULL, 0, NULL, 0);
  CHECK_IS(b2nd_zeros(ctx, &array), 0);
  for (kind = 0; kind < KINDS; kind++) {
    good = make(kind);
    CHECK_IS(blosc2_schunk_append_buffer(good, items, sizeof items), 1);
    broken = make(APART);
    CHECK_IS(blosc2_vlmeta_add(broken, "layer", noise, sizeof noise, NULL), 0);
    broken->vlmetalayers[0]->content[12] ^= 1;
    outputs_are_defined_after_errors();
    broken->vlmetalayers[0]->content[12] ^= 1;
    blosc2_schunk_free(broken);
    done(good, kind);
  }
  parameters_are_defined_after_errors();
  CHECK_IS(b2nd_free(array), 0);
  CHECK_IS(b2nd_free_ctx(ctx), 0);
  blosc2_free_ctx(dctx);
  blosc2_destroy();
  return leave_folder();
}
