/*
 * Random calls of arrays: their choice, their expected results, and the calls themselves.
 */

#ifndef RANDOM_ARRAY_CALLS_H
#define RANDOM_ARRAY_CALLS_H

#include "schunk_calls.h"

/* Metalayers are read with the calls of super-chunks: VL_GET, VL_EXISTS, META_GET. */
enum {
  ARRAY_SLICE = SCHUNK_READS, ARRAY_ALL, ARRAY_SPARSE, ARRAY_ORTHOGONAL, ARRAY_GET_SLICE, ARRAY_COPY, ARRAY_SAVE,
  ARRAY_APPENDED, ARRAY_FRAME, ARRAY_VIEW, ARRAY_CONCAT, ARRAY_READS_END
};
enum {
  ARRAY_SET_SLICE = SCHUNK_WRITES, ARRAY_SET_ORTHOGONAL, ARRAY_RESIZE, ARRAY_APPEND, ARRAY_INSERT, ARRAY_DELETE,
  ARRAY_JOIN, ARRAY_WRITES_END
};

/* ---- choice ---------------------------------------------------------------------------------- */

static inline void choose_box(const state *hint, uint32_t *seed, call *it) {
  int i;
  for (i = 0; i < run.ndim; i++) {
    it->start[i] = below(seed, hint->shape[i]);
    it->stop[i] = it->start[i] + below(seed, hint->shape[i] - it->start[i]) + 1;
    it->npicked[i] = 1 + below(seed, PICKED);
  }
}

static inline void choose_picked(const state *hint, uint32_t *seed, call *it) {
  int i, j;
  for (i = 0; i < run.ndim; i++) {
    for (j = 0; j < PICKED; j++) {
      it->picked[i][j] = below(seed, hint->shape[i] + (one_in(seed, 90) ? 1 : 0));
    }
  }
  for (j = 0; j < PICKED; j++) {
    it->coords[j] = below(seed, items_in(hint->shape));
  }
}

static inline void choose_array_read(const state *hint, uint32_t *seed, call *it) {
  memset(it, 0, sizeof *it);
  choose_common(hint, seed, it);
  choose_box(hint, seed, it);
  choose_picked(hint, seed, it);
  it->axis = (int)below(seed, run.ndim);
  it->op = ARRAY_SLICE + (int)below(seed, ARRAY_READS_END - ARRAY_SLICE);
  if (it->op >= ARRAY_COPY && !one_in(seed, 3)) {
    it->op = ARRAY_SLICE;
  }
  if (it->op == ARRAY_VIEW && run.has_meta) {
    it->op = ARRAY_SLICE;
  }
  if (one_in(seed, 6)) {
    it->op = VL_GET + (int)below(seed, 3);
  }
}

/* Returns a number of items to add or remove inside of the array: those of whole chunks. */
static inline int64_t whole_chunks(uint32_t *seed, int64_t most, int32_t chunk) {
  return (1 + below(seed, most / chunk)) * chunk;
}

static inline void choose_array_write(const state *hint, uint32_t *seed, call *it) {
  int axis, i;
  memset(it, 0, sizeof *it);
  choose_common(hint, seed, it);
  choose_box(hint, seed, it);
  choose_picked(hint, seed, it);
  axis = it->axis = (int)below(seed, run.ndim);
  it->op = ARRAY_SET_SLICE + (int)below(seed, ARRAY_WRITES_END - ARRAY_SET_SLICE);
  memcpy(it->shape, hint->shape, sizeof it->shape);
  it->len = 1 + below(seed, run.chunkshape[axis] * 2);
  if (run.keeps_places) {
    axis = it->axis = 0;
    it->op = it->op > ARRAY_SET_ORTHOGONAL || run.only_grows ? ARRAY_APPEND : it->op;
    it->seed = run.only_grows ? it->seed / 5 * 5 + 4 : it->seed;
    if (it->op == ARRAY_APPEND && hint->shape[0] + it->len > run.limit[0]) {
      it->op = run.only_grows ? VL_ADD : ARRAY_SET_SLICE;
    }
  }
  if (it->op >= ARRAY_APPEND && it->op != ARRAY_DELETE && hint->shape[axis] + it->len > run.limit[axis]) {
    it->op = ARRAY_DELETE;
  }
  if (it->op == ARRAY_RESIZE) {
    it->flag = true;
    for (i = 0; i < run.ndim; i++) {
      int32_t chunk = run.chunkshape[i];
      it->shape[i] = 1 + below(seed, run.limit[i]);
      if (it->shape[i] < hint->shape[i] && run.is_concurrent) {
        it->shape[i] = it->shape[i] < chunk ? hint->shape[i] : it->shape[i] / chunk * chunk;
      }
    }
    if (one_in(seed, 3)) {
      int32_t chunk = run.chunkshape[axis];
      int64_t change;
      it->flag = false;
      memcpy(it->shape, hint->shape, sizeof it->shape);
      it->start[axis] = below(seed, hint->shape[axis] / chunk + 1) * chunk;
      if (one_in(seed, 2) && hint->shape[axis] + chunk <= run.limit[axis]) {
        it->shape[axis] += whole_chunks(seed, run.limit[axis] - hint->shape[axis], chunk);
      } else {
        change = hint->shape[axis] - it->start[axis];
        it->shape[axis] -= change >= chunk ? whole_chunks(seed, change, chunk) : 0;
      }
      for (i = 0; i < run.ndim; i++) {
        it->start[i] = i == axis ? it->start[i] : hint->shape[i];
      }
    }
  }
  if (it->op == ARRAY_INSERT) {
    int32_t chunk = run.chunkshape[axis];
    it->from = one_in(seed, 2) ? hint->shape[axis] : below(seed, hint->shape[axis] / chunk + 1) * chunk;
    if (it->from < hint->shape[axis]) {
      it->len = chunk;
    }
    if (hint->shape[axis] + it->len > run.limit[axis]) {
      it->op = ARRAY_DELETE;
    }
  }
  if (it->op == ARRAY_DELETE) {
    int32_t chunk = run.chunkshape[axis];
    it->from = below(seed, hint->shape[axis] / chunk + 1) * chunk;
    it->len = hint->shape[axis] - it->from;
    if (it->len > chunk && one_in(seed, 2)) {
      it->len = chunk;
    }
    if (it->from == 0 && it->len == hint->shape[axis]) {
      it->op = ARRAY_SET_SLICE;
    }
  }
  if (one_in(seed, 5) && !run.only_grows) {
    it->op = VL_ADD + (int)below(seed, run.has_meta ? 4 : 3);
    it->len = 1 + below(seed, one_in(seed, 3) ? LAYER_MOST : 12);
  }
}

/* ---- expected results ------------------------------------------------------------------------ */

static inline void box_of_state(const state *now, const int64_t *start, const int64_t *stop, result *out) {
  int64_t shape[DIMS] = {1, 1, 1}, at[DIMS] = {0, 0, 0}, from[DIMS];
  int i;
  for (i = 0; i < run.ndim; i++) {
    shape[i] = stop[i] - start[i];
  }
  if (items_in(shape) == 0) {
    return;
  }
  do {
    for (i = 0; i < run.ndim; i++) {
      from[i] = start[i] + at[i];
    }
    put(out, &now->data[index_in(now->shape, from)], ITEM);
  } while (advance(shape, at));
}

static inline bool is_within(const state *now, const int64_t *stop) {
  int i;
  for (i = 0; i < run.ndim; i++) {
    if (stop[i] > now->shape[i]) {
      return false;
    }
  }
  return true;
}

static inline void model_array_read(const state *now, const call *it, result *out) {
  static const int64_t origin[DIMS];
  int64_t at[DIMS] = {0, 0, 0}, from[DIMS], i;
  out->code = 0;
  out->size = 0;
  out->is_free = false;
  switch (it->op) {
    case VL_GET:
    case VL_EXISTS:
    case META_GET:
      model_schunk_read(now, it, out);
      return;
    case ARRAY_SLICE:
    case ARRAY_GET_SLICE:
    case ARRAY_VIEW:
      /* Items outside of the array are zeros or an error, depending on the existing chunks. */
      out->is_free = !is_within(now, it->stop);
      if (!out->is_free) {
        box_of_state(now, it->start, it->stop, out);
      }
      return;
    case ARRAY_SPARSE:
      for (i = 0; i < PICKED; i++) {
        if (it->coords[i] >= items_in(now->shape)) {
          out->code = -1;
          out->size = 0;
          return;
        }
        put(out, &now->data[it->coords[i]], ITEM);
      }
      return;
    case ARRAY_ORTHOGONAL:
      do {
        for (i = 0; i < run.ndim; i++) {
          from[i] = it->picked[i][at[i]];
          if (from[i] >= now->shape[i]) {
            out->code = -1;
            out->size = 0;
            return;
          }
        }
        put(out, &now->data[index_in(now->shape, from)], ITEM);
      } while (advance(it->npicked, at));
      return;
    default:
      put(out, now->shape, (size_t)run.ndim * sizeof *now->shape);
      box_of_state(now, origin, now->shape, out);
      if (it->op != ARRAY_ALL && it->op != ARRAY_CONCAT) {
        layers_of_state(now, out);
      }
  }
}

/* Inserts `len` zero items along an axis before item `at`, or removes them if len < 0. */
static inline void shift_axis(state *now, int axis, int64_t at, int64_t len) {
  static __thread state old;
  int64_t position[DIMS] = {0, 0, 0}, from[DIMS];
  old = *now;
  now->shape[axis] += len;
  memset(now->data, 0, sizeof now->data);
  if (items_in(now->shape) == 0) {
    return;
  }
  do {
    bool is_new = len > 0 && position[axis] >= at && position[axis] < at + len;
    memcpy(from, position, sizeof from);
    if (position[axis] >= at) {
      from[axis] -= len;
    }
    if (!is_new) {
      now->data[index_in(now->shape, position)] = old.data[index_in(old.shape, from)];
    }
  } while (advance(now->shape, position));
}

static inline void set_box(state *now, const int64_t *start, const int64_t *shape, uint32_t seed) {
  static __thread int32_t items[CELLS];
  int64_t at[DIMS] = {0, 0, 0}, to[DIMS], count = 0;
  int i;
  fill(items, items_in(shape), seed);
  if (items_in(shape) == 0) {
    return;
  }
  do {
    for (i = 0; i < run.ndim; i++) {
      to[i] = start[i] + at[i];
    }
    now->data[index_in(now->shape, to)] = items[count++];
  } while (advance(shape, at));
}

static inline int model_array_write(const state *now, const call *it, state *after) {
  int64_t shape[DIMS] = {1, 1, 1}, at[DIMS] = {0, 0, 0}, to[DIMS];
  static __thread int32_t items[CELLS];
  int64_t count = 0;
  int i, axis = it->axis;
  *after = *now;
  if (it->op <= META_UPDATE) {
    return model_layer_write(now, it, after);
  }
  switch (it->op) {
    case ARRAY_SET_SLICE:
      if (!is_within(now, it->stop)) {
        return 2;
      }
      for (i = 0; i < run.ndim; i++) {
        shape[i] = it->stop[i] - it->start[i];
      }
      set_box(after, it->start, shape, it->seed);
      return 1;
    case ARRAY_SET_ORTHOGONAL:
      fill(items, items_in(it->npicked), it->seed);
      do {
        for (i = 0; i < run.ndim; i++) {
          to[i] = it->picked[i][at[i]];
          if (to[i] >= now->shape[i]) {
            *after = *now;
            return 0;
          }
        }
        after->data[index_in(now->shape, to)] = items[count++];
      } while (advance(it->npicked, at));
      return 1;
    case ARRAY_RESIZE:
      for (i = 0; i < run.ndim; i++) {
        int64_t change = it->shape[i] - now->shape[i];
        int64_t where = it->flag ? now->shape[i] + (change < 0 ? change : 0) : it->start[i];
        if (change != 0) {
          shift_axis(after, i, where, change);
        }
      }
      return 1;
    case ARRAY_DELETE:
      shift_axis(after, axis, it->from, -it->len);
      return 1;
    default:
      at[axis] = it->op == ARRAY_INSERT ? it->from : now->shape[axis];
      shift_axis(after, axis, at[axis], it->len);
      memcpy(shape, now->shape, sizeof shape);
      shape[axis] = it->len;
      set_box(after, at, shape, it->seed);
      /* If another dimension is empty, there are no items to add: the call may fail. */
      return items_in(shape) == 0 ? 2 : 1;
  }
}

/* ---- the calls ------------------------------------------------------------------------------- */

static inline void read_whole_array(b2nd_array_t *array, result *out) {
  static __thread int32_t items[CELLS];
  out->code = b2nd_to_cbuffer(array, items, sizeof items);
  if (out->code >= 0) {
    put(out, array->shape, (size_t)run.ndim * sizeof *array->shape);
    put(out, items, (size_t)items_in(array->shape) * ITEM);
  }
}

static inline b2nd_context_t *context_of(const int64_t *shape, bool is_frame, const char *path) {
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.cparams = &run.cparams;
  storage.contiguous = is_frame;
  storage.urlpath = (char *)path;
  return b2nd_create_ctx(&storage, (int8_t)run.ndim, shape, run.chunkshape, run.blockshape, "<i4", 0, NULL, 0);
}

/* Creates an array with items generated from a seed. */
static inline b2nd_array_t *small_array(const int64_t *shape, uint32_t seed) {
  static __thread int32_t items[CELLS];
  b2nd_context_t *context = context_of(shape, false, NULL);
  b2nd_array_t *array = NULL;
  fill(items, items_in(shape), seed);
  if (b2nd_from_cbuffer(context, &array, items, items_in(shape) * ITEM) != 0) {
    array = NULL;
  }
  b2nd_free_ctx(context);
  return array;
}

/* Reads the slice through a view with an additional dimension, and again without that dimension. */
static inline int64_t read_view(b2nd_array_t *array, const call *it, int32_t *items) {
  int64_t start[DIMS + 1], stop[DIMS + 1], shape[DIMS + 1], size = ITEM;
  bool axis[DIMS + 1];
  b2nd_array_t *view = NULL, *back = NULL;
  int64_t code;
  int i;
  memset(axis, 0, sizeof axis);
  axis[it->axis] = true;
  for (i = 0; i <= run.ndim; i++) {
    int from = i - (i > it->axis);
    start[i] = axis[i] ? 0 : it->start[from];
    stop[i] = axis[i] ? 1 : it->stop[from];
    shape[i] = stop[i] - start[i];
    size *= shape[i];
  }
  code = b2nd_expand_dims(array, &view, axis, (uint8_t)(run.ndim + 1));
  if (code >= 0) {
    code = b2nd_get_slice_cbuffer(view, start, stop, items, shape, size);
  }
  if (code >= 0 && it->flag) {
    code = b2nd_squeeze_index(view, &back, axis);
    for (i = 0; i < run.ndim; i++) {
      shape[i] = it->stop[i] - it->start[i];
    }
    if (code >= 0) {
      code = b2nd_get_slice_cbuffer(back, it->start, it->stop, items, shape, size);
      b2nd_free(back);
    }
  }
  if (view != NULL) {
    b2nd_free(view);
  }
  return code;
}

/* Creates another array with the same items, in memory or at the side path. */
static inline int64_t derived_array(b2nd_array_t *array, const call *it, b2nd_array_t **other) {
  static const int64_t ones[DIMS] = {1, 1, 1};
  b2nd_context_t *context = NULL;
  uint8_t *frame = NULL;
  int64_t len = 0, code;
  bool needs_free = false;
  *other = NULL;
  switch (it->op) {
    case ARRAY_SAVE:
      code = b2nd_save(array, run.side);
      return code < 0 ? code : b2nd_open(run.side, other);
    case ARRAY_APPENDED:
      code = b2nd_save_append(array, run.side);
      return code < 0 ? code : b2nd_open_offset(run.side, other, code);
    case ARRAY_FRAME:
      code = b2nd_to_cframe(array, &frame, &len, &needs_free);
      if (code >= 0 && !(run.is_concurrent && !needs_free)) {
        code = b2nd_from_cframe(frame, len, true, other);
      }
      if (needs_free) {
        free(frame);
      }
      return code;
    case ARRAY_COPY:
      context = context_of(ones, it->flag, NULL);
      code = b2nd_copy(context, array, other);
      break;
    default: {
      /* Concatenates an array without items along the axis. */
      int64_t shape[DIMS];
      b2nd_array_t *empty;
      context = context_of(ones, it->flag, NULL);
      memcpy(shape, array->shape, (size_t)run.ndim * sizeof *shape);
      shape[it->axis] = 0;
      empty = small_array(shape, 0);
      code = empty == NULL ? NOT_MADE : b2nd_concatenate(context, array, empty, (int8_t)it->axis, true, other);
      b2nd_free(empty);
    }
  }
  b2nd_free_ctx(context);
  return code;
}

static inline void call_array_read(handle *object, const call *it, result *out) {
  static __thread int32_t items[CELLS];
  static const int64_t ones[DIMS] = {1, 1, 1};
  b2nd_array_t *array = object->array, *other = NULL;
  b2nd_context_t *context;
  call copy = *it;
  int64_t shape[DIMS] = {1, 1, 1}, *picked[DIMS], size;
  int i;
  out->code = 0;
  out->size = 0;
  out->is_free = false;
  for (i = 0; i < run.ndim; i++) {
    shape[i] = it->stop[i] - it->start[i];
    picked[i] = copy.picked[i];
  }
  size = items_in(shape) * ITEM;
  memset(items, 0x5A, sizeof items);
  switch (it->op) {
    case VL_GET:
    case VL_EXISTS:
    case META_GET:
      read_layer(object->schunk, it, out);
      return;
    case ARRAY_SLICE:
      out->code = b2nd_get_slice_cbuffer(array, it->start, it->stop, items, shape, size);
      break;
    case ARRAY_SPARSE:
      size = PICKED * ITEM;
      out->code = b2nd_get_sparse_cbuffer(array, PICKED, it->coords, items, size);
      break;
    case ARRAY_ORTHOGONAL:
      size = items_in(it->npicked) * ITEM;
      out->code = b2nd_get_orthogonal_selection(array, picked, copy.npicked, items, copy.npicked, size);
      break;
    case ARRAY_VIEW:
      out->code = read_view(array, it, items);
      /* The shape may change after the creation of the view. */
      out->is_free = run.is_concurrent;
      break;
    case ARRAY_GET_SLICE:
      context = context_of(ones, it->flag, NULL);
      out->code = b2nd_get_slice(context, &other, array, it->start, it->stop);
      b2nd_free_ctx(context);
      if (out->code >= 0) {
        out->code = b2nd_to_cbuffer(other, items, size);
        b2nd_free(other);
      }
      break;
    case ARRAY_ALL:
      read_whole_array(array, out);
      /* The shape is read concurrently. */
      out->is_free = run.is_concurrent;
      return;
    default:
      out->code = derived_array(array, it, &other);
      out->is_free = run.is_concurrent && (other == NULL || it->op == ARRAY_CONCAT);
      if (out->code >= 0 && other != NULL) {
        read_whole_array(other, out);
        if (it->op != ARRAY_CONCAT) {
          read_layers(other->sc, out);
        }
      }
      if (other != NULL) {
        b2nd_free(other);
      }
      if (it->op == ARRAY_SAVE || it->op == ARRAY_APPENDED) {
        blosc2_remove_urlpath(run.side);
      }
      return;
  }
  if (out->code >= 0) {
    put(out, items, (size_t)size);
  }
}

static inline int64_t call_array_write(handle *object, const call *it) {
  static __thread int32_t items[CELLS];
  b2nd_array_t *array = object->array, *other, *joined = NULL;
  call copy = *it;
  int64_t shape[DIMS] = {1, 1, 1}, *picked[DIMS], code;
  int i;
  if (it->op <= META_UPDATE) {
    return call_layer_write(object->schunk, it);
  }
  for (i = 0; i < run.ndim; i++) {
    shape[i] = it->stop[i] - it->start[i];
    picked[i] = copy.picked[i];
  }
  switch (it->op) {
    case ARRAY_SET_SLICE:
      fill(items, items_in(shape), it->seed);
      return b2nd_set_slice_cbuffer(items, shape, items_in(shape) * ITEM, it->start, it->stop, array);
    case ARRAY_SET_ORTHOGONAL:
      fill(items, items_in(it->npicked), it->seed);
      return b2nd_set_orthogonal_selection(array, picked, copy.npicked, items, copy.npicked,
                                           items_in(it->npicked) * ITEM);
    case ARRAY_RESIZE:
      return b2nd_resize(array, it->shape, it->flag ? NULL : it->start);
    case ARRAY_DELETE:
      return b2nd_delete(array, (int8_t)it->axis, it->from, it->len);
    default:
      break;
  }
  memcpy(shape, it->shape, sizeof shape);
  shape[it->axis] = it->len;
  fill(items, items_in(shape), it->seed);
  if (it->op == ARRAY_APPEND) {
    return b2nd_append(array, items, items_in(shape) * ITEM, (int8_t)it->axis);
  }
  if (it->op == ARRAY_INSERT) {
    return b2nd_insert(array, items, items_in(shape) * ITEM, (int8_t)it->axis, it->from);
  }
  other = small_array(shape, it->seed);
  if (other == NULL) {
    return NOT_MADE;
  }
  code = b2nd_concatenate(NULL, array, other, (int8_t)it->axis, false, &joined);
  b2nd_free(other);
  return code;
}

#endif /* RANDOM_ARRAY_CALLS_H */
