/*
 * Random calls of super-chunks: their choice, their expected results, and the calls
 * themselves.
 */

#ifndef RANDOM_SCHUNK_CALLS_H
#define RANDOM_SCHUNK_CALLS_H

#include "model.h"

enum {
  DECOMPRESS, SLICE, SPARSE, GET_CHUNK, GET_LAZY, GETITEM, SLICE_CHUNKS, COPY, TO_BUFFER, TO_FILE,
  VL_GET, VL_EXISTS, META_GET, SCHUNK_READS
};
enum {
  VL_ADD, VL_UPDATE, VL_DELETE, META_UPDATE, APPEND_BUFFER, APPEND_CHUNK, INSERT_CHUNK, UPDATE_CHUNK,
  DELETE_CHUNK, REORDER, SET_SLICE, FILL_SPECIAL, SCHUNK_WRITES
};

static inline int64_t items_of_state(const state *now) {
  int64_t count = 0, i;
  for (i = 0; i < now->nchunks; i++) {
    count += now->lens[i];
  }
  return count;
}

/* Returns the item with this index; only for super-chunks with one chunk size. */
static inline int32_t *item_of(state *now, int64_t number) { return &now->data[number]; }

static inline bool last_is_short(const state *now) {
  return now->nchunks > 0 && now->lens[now->nchunks - 1] < CHUNK_ITEMS;
}

/* ---- choice ---------------------------------------------------------------------------------- */

static inline void choose_common(const state *hint, uint32_t *seed, call *it) {
  int64_t count = items_of_state(hint);
  int i;
  it->seed = next_random(seed);
  it->layer = (int)below(seed, LAYERS);
  it->len = 1 + below(seed, one_in(seed, 3) ? LAYER_MOST : 12);
  it->flag = one_in(seed, 2);
  it->nchunk = below(seed, hint->nchunks + (one_in(seed, 12) ? 2 : 0));
  it->from = below(seed, count);
  it->to = it->from + below(seed, count - it->from + (one_in(seed, 20) ? 3 : 0)) + 1;
  for (i = 0; i < PICKED; i++) {
    it->coords[i] = below(seed, count);
  }
}

static inline void choose_schunk_read(const state *hint, uint32_t *seed, call *it) {
  memset(it, 0, sizeof *it);
  choose_common(hint, seed, it);
  it->op = (int)below(seed, SCHUNK_READS);
  if (it->op >= COPY && it->op <= TO_FILE && !one_in(seed, 4)) {
    it->op = DECOMPRESS;
  }
}

static inline void choose_schunk_write(const state *hint, uint32_t *seed, call *it) {
  int64_t i, j, other;
  memset(it, 0, sizeof *it);
  choose_common(hint, seed, it);
  it->op = (int)below(seed, SCHUNK_WRITES);
  if (run.only_grows) {
    it->op = hint->nchunks < CHUNKS ? APPEND_BUFFER + (it->op & 1) : VL_ADD;
    it->seed = it->seed / 5 * 5 + 4;
  }
  it->len = it->op < APPEND_BUFFER ? it->len : CHUNK_ITEMS;
  if (it->op == META_UPDATE && !run.has_meta) {
    it->op = SET_SLICE;
  }
  if (it->op == FILL_SPECIAL && hint->nchunks > 0) {
    it->op = one_in(seed, 10) ? FILL_SPECIAL : APPEND_BUFFER;
  }
  if ((it->op == APPEND_BUFFER || it->op == APPEND_CHUNK) && (last_is_short(hint) && !one_in(seed, 8))) {
    it->op = DELETE_CHUNK;
    it->nchunk = hint->nchunks - 1;
  }
  if ((it->op == APPEND_BUFFER || it->op == APPEND_CHUNK) && hint->nchunks > 0 && one_in(seed, 8) &&
      !run.only_grows) {
    it->len = 1 + below(seed, CHUNK_ITEMS);
  }
  if (it->op >= APPEND_BUFFER && it->op <= INSERT_CHUNK && hint->nchunks == CHUNKS) {
    it->op = DELETE_CHUNK;
    it->nchunk = below(seed, CHUNKS);
  }
  if (it->op == DELETE_CHUNK && hint->nchunks <= 1 && !one_in(seed, 4)) {
    it->op = APPEND_BUFFER;
    it->len = CHUNK_ITEMS;
  }
  if (it->op == INSERT_CHUNK && run.may_vary && one_in(seed, 6)) {
    it->len = 1 + below(seed, CHUNK_ITEMS);
  }
  if (it->op == UPDATE_CHUNK) {
    if (run.may_vary && one_in(seed, 6)) {
      it->len = 1 + below(seed, CHUNK_ITEMS);
    } else if (it->nchunk < hint->nchunks) {
      it->len = hint->lens[it->nchunk];
    }
  }
  if (it->op == FILL_SPECIAL) {
    it->len = 1 + below(seed, 4 * CHUNK_ITEMS);
  }
  for (i = 0; i < CHUNKS; i++) {
    it->order[i] = i;
  }
  for (i = hint->nchunks - 1 - last_is_short(hint); i > 0; i--) {
    j = below(seed, i + 1);
    other = it->order[i];
    it->order[i] = it->order[j];
    it->order[j] = other;
  }
}

/* ---- expected results ------------------------------------------------------------------------ */

/* Stores the contents of a super-chunk in the form of read_whole_schunk(). */
static inline void whole_of_state(const state *now, result *out) {
  int64_t i;
  put(out, &now->nchunks, sizeof now->nchunks);
  for (i = 0; i < now->nchunks; i++) {
    put(out, &now->data[i * CHUNK_ITEMS], (size_t)now->lens[i] * ITEM);
  }
}

static inline void layers_of_state(const state *now, result *out) {
  uint8_t content[LAYER_MOST];
  int i;
  for (i = 0; i < LAYERS; i++) {
    put(out, &now->layers[i].len, sizeof now->layers[i].len);
    if (now->layers[i].len >= 0) {
      fill_bytes(content, now->layers[i].len, now->layers[i].seed);
      put(out, content, (size_t)now->layers[i].len);
    }
  }
}

static inline void layer_by_model(const state *now, const call *it, result *out) {
  const layer *found = &now->layers[it->layer];
  out->code = found->len >= 0 ? 0 : -1;
  if (it->op == VL_GET && found->len >= 0) {
    fill_bytes(out->bytes, found->len, found->seed);
    out->size = found->len;
  }
}

static inline void model_schunk_read(const state *now, const call *it, result *out) {
  int64_t count = items_of_state(now), i;
  out->code = 0;
  out->size = 0;
  out->is_free = false;
  switch (it->op) {
    case VL_GET:
    case VL_EXISTS:
      layer_by_model(now, it, out);
      return;
    case META_GET:
      out->code = run.has_meta ? 0 : -1;
      if (run.has_meta) {
        fill_bytes(out->bytes, META_LEN, now->meta);
        out->size = META_LEN;
      }
      return;
    case SLICE:
      out->code = it->to <= count && !now->is_variable ? 0 : -1;
      if (out->code == 0) {
        put(out, &now->data[it->from], (size_t)(it->to - it->from) * ITEM);
      }
      return;
    case SLICE_CHUNKS:
      out->is_free = now->is_variable || it->to > count;
      for (i = it->from / CHUNK_ITEMS; i * CHUNK_ITEMS < it->to; i++) {
        put(out, &i, sizeof i);
      }
      return;
    case SPARSE:
      for (i = 0; i < PICKED; i++) {
        if (it->coords[i] >= count || now->is_variable) {
          out->code = -1;
          out->size = 0;
          return;
        }
        put(out, &now->data[it->coords[i]], ITEM);
      }
      return;
    case COPY:
    case TO_BUFFER:
    case TO_FILE:
      whole_of_state(now, out);
      layers_of_state(now, out);
      return;
    default:
      if (it->nchunk >= now->nchunks) {
        out->code = -1;
      } else if (it->op == GETITEM) {
        i = it->from % now->lens[it->nchunk];
        put(out, &now->data[it->nchunk * CHUNK_ITEMS + i], ITEM);
      } else {
        put(out, &now->data[it->nchunk * CHUNK_ITEMS], (size_t)now->lens[it->nchunk] * ITEM);
      }
  }
}

/* Whether a change must succeed (1), must fail (0), or may do either (2). `after` is the
 * resulting state. */
static inline int model_layer_write(const state *now, const call *it, state *after) {
  layer *target = &after->layers[it->layer];
  bool is_there = now->layers[it->layer].len >= 0;
  switch (it->op) {
    case VL_ADD:
    case VL_UPDATE:
      target->len = (int32_t)it->len;
      target->seed = it->seed;
      return (it->op == VL_ADD) != is_there;
    case VL_DELETE:
      target->len = -1;
      return is_there;
    default:
      after->meta = it->seed;
      return run.has_meta;
  }
}

static inline int model_schunk_write(const state *now, const call *it, state *after) {
  int64_t count = items_of_state(now), n = it->nchunk, i;
  size_t chunk = CHUNK_ITEMS * ITEM;
  int verdict = 1;
  *after = *now;
  if (it->op <= META_UPDATE) {
    return model_layer_write(now, it, after);
  }
  switch (it->op) {
    case APPEND_BUFFER:
    case APPEND_CHUNK:
      n = now->nchunks;
      if (last_is_short(now) && !now->is_variable) {
        /* A frame of one short chunk refuses a second short one. */
        verdict = n > 1 || it->len == CHUNK_ITEMS || run.storage == SPARSE_MEMORY;
        after->is_variable = true;
      }
      after->nchunks++;
      break;
    case INSERT_CHUNK:
      if (n > now->nchunks) {
        return 0;
      }
      after->is_variable |= last_is_short(now) || (n < now->nchunks && it->len != CHUNK_ITEMS);
      memmove(&after->data[(n + 1) * CHUNK_ITEMS], &after->data[n * CHUNK_ITEMS],
              (size_t)(now->nchunks - n) * chunk);
      memmove(&after->lens[n + 1], &after->lens[n], (size_t)(now->nchunks - n) * sizeof *after->lens);
      after->nchunks++;
      break;
    case UPDATE_CHUNK:
      if (n >= now->nchunks) {
        return 0;
      }
      after->is_variable |= n + 1 < now->nchunks && it->len != CHUNK_ITEMS;
      break;
    case DELETE_CHUNK:
      if (n >= now->nchunks) {
        return 0;
      }
      after->nchunks--;
      memmove(&after->data[n * CHUNK_ITEMS], &after->data[(n + 1) * CHUNK_ITEMS],
              (size_t)(after->nchunks - n) * chunk);
      memmove(&after->lens[n], &after->lens[n + 1], (size_t)(after->nchunks - n) * sizeof *after->lens);
      return 1;
    case REORDER:
      for (i = 0; i < now->nchunks; i++) {
        memcpy(&after->data[i * CHUNK_ITEMS], &now->data[it->order[i] * CHUNK_ITEMS], chunk);
        after->lens[i] = now->lens[it->order[i]];
      }
      return now->nchunks == 0 ? 2 : 1;
    case SET_SLICE:
      if (now->is_variable) {
        return 0;
      }
      if (it->to > count) {
        return 0;
      }
      fill(item_of(after, it->from), it->to - it->from, it->seed);
      return 1;
    default: {
      int32_t value = it->flag ? 0x7fc00000 : 0;
      if (now->nchunks > 0) {
        return 0;
      }
      after->nchunks = (it->len + CHUNK_ITEMS - 1) / CHUNK_ITEMS;
      for (i = 0; i < it->len; i++) {
        after->data[i] = value;
      }
      for (i = 0; i < after->nchunks; i++) {
        after->lens[i] = (int32_t)(it->len - i * CHUNK_ITEMS < CHUNK_ITEMS ? it->len - i * CHUNK_ITEMS : CHUNK_ITEMS);
      }
      return now->is_variable ? 2 : 1;
    }
  }
  after->lens[n] = (int32_t)it->len;
  fill(&after->data[n * CHUNK_ITEMS], it->len, it->seed);
  return verdict;
}

/* ---- the calls ------------------------------------------------------------------------------- */

static inline void read_whole_schunk(blosc2_schunk *schunk, result *out) {
  int32_t items[CHUNK_ITEMS];
  int64_t i;
  put(out, &schunk->nchunks, sizeof schunk->nchunks);
  for (i = 0; i < schunk->nchunks && out->code >= 0; i++) {
    int size = blosc2_schunk_decompress_chunk(schunk, i, items, sizeof items);
    out->code = size < 0 ? size : 0;
    if (size > 0) {
      put(out, items, (size_t)size);
    }
  }
}

static inline void read_layers(blosc2_schunk *schunk, result *out) {
  int i;
  for (i = 0; i < LAYERS; i++) {
    uint8_t *content = NULL;
    int32_t len = -1;
    if (blosc2_vlmeta_exists(schunk, layer_name(i)) >= 0) {
      int code = blosc2_vlmeta_get(schunk, layer_name(i), &content, &len);
      out->code = code < 0 ? code : out->code;
    }
    put(out, &len, sizeof len);
    if (len > 0) {
      put(out, content, (size_t)len);
    }
    free(content);
  }
}

static inline void read_layer(blosc2_schunk *schunk, const call *it, result *out) {
  uint8_t *content = NULL;
  int32_t len = 0;
  const char *name = layer_name(it->layer);
  if (it->op == VL_EXISTS) {
    out->code = blosc2_vlmeta_exists(schunk, name);
  } else if (it->op == VL_GET) {
    out->code = blosc2_vlmeta_get(schunk, name, &content, &len);
  } else {
    out->code = blosc2_meta_get(schunk, "m", &content, &len);
  }
  if (out->code >= 0 && len > 0) {
    put(out, content, (size_t)len);
  }
  if (out->code >= 0) {
    free(content);
  }
}

static inline void read_copy(blosc2_schunk *schunk, const call *it, result *out) {
  blosc2_schunk *copy = NULL;
  uint8_t *frame = NULL;
  bool needs_free = false;
  if (it->op == COPY) {
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    blosc2_cparams cparams = run.cparams;
    cparams.clevel = it->flag ? cparams.clevel : 1;
    storage.cparams = it->seed % 2 == 0 ? &cparams : NULL;
    storage.contiguous = it->flag;
    copy = blosc2_schunk_copy(schunk, &storage);
  } else if (it->op == TO_BUFFER) {
    out->code = blosc2_schunk_to_buffer(schunk, &frame, &needs_free);
    /* A borrowed frame may change concurrently. */
    out->is_free = run.is_concurrent && !needs_free;
    if (out->code > 0 && !out->is_free) {
      copy = blosc2_schunk_from_buffer(frame, out->code, true);
    }
  } else {
    out->code = it->flag ? blosc2_schunk_append_file(schunk, run.side) : blosc2_schunk_to_file(schunk, run.side);
    copy = out->code >= 0 ? blosc2_schunk_open(run.side) : NULL;
  }
  if (copy != NULL) {
    out->code = 0;
    read_whole_schunk(copy, out);
    read_layers(copy, out);
    blosc2_schunk_free(copy);
  } else if (out->code >= 0 && !out->is_free) {
    out->code = NOT_READ;
  }
  if (needs_free) {
    free(frame);
  }
  if (it->op == TO_FILE) {
    blosc2_remove_urlpath(run.side);
  }
}

static inline void call_schunk_read(handle *object, const call *it, result *out) {
  blosc2_schunk *schunk = object->schunk;
  int32_t items[CHUNKS * CHUNK_ITEMS + 8];
  int64_t *numbers = NULL, from = it->from, to = it->to;
  uint8_t *chunk = NULL;
  bool needs_free = false;
  out->code = 0;
  out->size = 0;
  out->is_free = false;
  memset(items, 0x5A, sizeof items);
  switch (it->op) {
    case DECOMPRESS:
      out->code = blosc2_schunk_decompress_chunk(schunk, it->nchunk, items, CHUNK_ITEMS * ITEM);
      if (out->code > 0) {
        put(out, items, (size_t)out->code);
      }
      return;
    case SLICE:
      out->code = blosc2_schunk_get_slice_buffer(schunk, it->from, it->to, items);
      if (out->code >= 0) {
        put(out, items, (size_t)(it->to - it->from) * ITEM);
      }
      return;
    case SPARSE:
      out->code = blosc2_schunk_get_sparse_buffer(schunk, PICKED, it->coords, items);
      if (out->code >= 0) {
        put(out, items, PICKED * ITEM);
      }
      return;
    case SLICE_CHUNKS:
      out->code = blosc2_get_slice_nchunks(schunk, &from, &to, &numbers);
      if (out->code > 0) {
        put(out, numbers, (size_t)out->code * sizeof *numbers);
      }
      free(numbers);
      return;
    case COPY:
    case TO_BUFFER:
    case TO_FILE:
      read_copy(schunk, it, out);
      return;
    case VL_GET:
    case VL_EXISTS:
    case META_GET:
      read_layer(schunk, it, out);
      return;
    default:
      break;
  }
  out->code = it->op == GET_CHUNK ? blosc2_schunk_get_chunk(schunk, it->nchunk, &chunk, &needs_free)
                                  : blosc2_schunk_get_lazychunk(schunk, it->nchunk, &chunk, &needs_free);
  if (out->code <= 0) {
    return;
  }
  if (run.is_concurrent) {
    /* Borrowed memory, and the blocks of a lazy chunk in its file, may change concurrently. */
    out->is_free = !needs_free || it->op != GET_CHUNK;
  }
  if (needs_free || !run.is_concurrent) {
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    blosc2_context *context;
    int32_t nbytes, cbytes, blocksize, size = (int32_t)out->code;
    dparams.schunk = schunk;
    context = blosc2_create_dctx(dparams);
    out->code = blosc2_cbuffer_sizes(chunk, &nbytes, &cbytes, &blocksize);
    if (out->code >= 0 && it->op == GETITEM) {
      int64_t from_item = nbytes < ITEM ? 0 : it->from % (nbytes / ITEM);
      out->code = blosc2_getitem_ctx(context, chunk, size, (int)from_item, 1, items, ITEM);
    } else if (out->code >= 0) {
      out->code = blosc2_decompress_ctx(context, chunk, size, items, CHUNK_ITEMS * ITEM);
    }
    if (out->code > 0) {
      put(out, items, (size_t)out->code);
    }
    blosc2_free_ctx(context);
  }
  if (needs_free) {
    free(chunk);
  }
}

static inline int64_t call_layer_write(blosc2_schunk *schunk, const call *it) {
  const char *name = layer_name(it->layer);
  uint8_t content[LAYER_MOST];
  fill_bytes(content, it->op == META_UPDATE ? META_LEN : (int32_t)it->len, it->seed);
  switch (it->op) {
    case VL_ADD:
      return blosc2_vlmeta_add(schunk, name, content, (int32_t)it->len, NULL);
    case VL_UPDATE:
      return blosc2_vlmeta_update(schunk, name, content, (int32_t)it->len, NULL);
    case VL_DELETE:
      return blosc2_vlmeta_delete(schunk, name);
    default:
      return blosc2_meta_update(schunk, "m", content, META_LEN);
  }
}

static inline int64_t call_schunk_write(handle *object, const call *it) {
  blosc2_schunk *schunk = object->schunk;
  int32_t items[CHUNKS * CHUNK_ITEMS + 8];
  int64_t code, order[CHUNKS];
  uint8_t *chunk;
  blosc2_context *context;
  if (it->op <= META_UPDATE) {
    return call_layer_write(schunk, it);
  }
  switch (it->op) {
    case APPEND_BUFFER:
      fill(items, it->len, it->seed);
      return blosc2_schunk_append_buffer(schunk, items, (int32_t)it->len * ITEM);
    case DELETE_CHUNK:
      return blosc2_schunk_delete_chunk(schunk, it->nchunk);
    case REORDER:
      memcpy(order, it->order, sizeof order);
      return blosc2_schunk_reorder_offsets(schunk, order);
    case SET_SLICE:
      fill(items, it->to - it->from, it->seed);
      return blosc2_schunk_set_slice_buffer(schunk, it->from, it->to, items);
    case FILL_SPECIAL:
      return blosc2_schunk_fill_special(schunk, it->len, it->flag ? BLOSC2_SPECIAL_NAN : BLOSC2_SPECIAL_ZERO,
                                        CHUNK_ITEMS * ITEM);
    default:
      break;
  }
  chunk = (uint8_t *)malloc(CHUNK_ITEMS * ITEM + BLOSC2_MAX_OVERHEAD);
  context = blosc2_create_cctx(run.cparams);
  fill(items, it->len, it->seed);
  code = blosc2_compress_ctx(context, items, (int32_t)it->len * ITEM, chunk, CHUNK_ITEMS * ITEM + BLOSC2_MAX_OVERHEAD);
  blosc2_free_ctx(context);
  CHECK(code > 0);
  code = it->op == APPEND_CHUNK   ? blosc2_schunk_append_chunk(schunk, chunk, it->flag)
         : it->op == INSERT_CHUNK ? blosc2_schunk_insert_chunk(schunk, it->nchunk, chunk, it->flag)
                                  : blosc2_schunk_update_chunk(schunk, it->nchunk, chunk, it->flag);
  if (it->flag || code < 0) {
    free(chunk);
  }
  return code;
}

#endif /* RANDOM_SCHUNK_CALLS_H */
