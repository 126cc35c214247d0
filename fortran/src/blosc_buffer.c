/* The C view of a Fortran array: its address, item size, item count and shape.
 *
 * Fortran procedures with arguments of any type and rank (`type(*), dimension(..)`) cannot inquire
 * the item size. The descriptor that the compiler passes to C contains it; its layout is
 * compiler-specific, its member names are those of the Fortran standard. */

#include <ISO_Fortran_binding.h>
#include <stddef.h>
#include <stdint.h>

/* The derived type blosc_buffer of blosc_support.f90. */
typedef struct {
  /* The first item; never NULL. */
  void *address;
  /* The item size in bytes. */
  int64_t item_size;
  /* The number of items; -1 if it is unknown (assumed size). */
  int64_t items;
  /* The extent of each dimension, the fastest first. */
  int64_t extents[CFI_MAX_RANK];
  /* The number of dimensions; 0 for a scalar. */
  int rank;
  /* NumPy's letter for the item type. */
  char kind;
} blosc_buffer;

/* Returns NumPy's letter for an item type; V is opaque bytes. */
static char kind_of(CFI_type_t type) {
  static const CFI_type_t integers[] = {
      CFI_type_signed_char, CFI_type_short,    CFI_type_int,     CFI_type_long,     CFI_type_long_long,
      CFI_type_int8_t,      CFI_type_int16_t,  CFI_type_int32_t, CFI_type_int64_t,  CFI_type_size_t,
      CFI_type_intmax_t,    CFI_type_intptr_t, CFI_type_ptrdiff_t};
  size_t i;

  for (i = 0; i < sizeof integers / sizeof integers[0]; i++) {
    if (type == integers[i]) {
      return 'i';
    }
  }
  if (type == CFI_type_float || type == CFI_type_double) {
    return 'f';
  }
  if (type == CFI_type_float_Complex || type == CFI_type_double_Complex) {
    return 'c';
  }
  if (type == CFI_type_Bool) {
    return 'b';
  }
  return type == CFI_type_char ? 'S' : 'V';
}

/* Link-time optimisation may treat the descriptors of Fortran and C as distinct objects. This
 * attribute excludes a function from interprocedural analysis. */
#if defined(__GNUC__) && !defined(__clang__)
#define OPAQUE __attribute__((noipa))
#else
#define OPAQUE
#endif

void blosc_fortran_describe(const CFI_cdesc_t *array, blosc_buffer *buffer) OPAQUE;

/* Describes an array, which must be contiguous. */
void blosc_fortran_describe(const CFI_cdesc_t *array, blosc_buffer *buffer) {
  static char nothing;
  int i;

  buffer->address = array->base_addr == NULL ? &nothing : array->base_addr;
  buffer->item_size = (int64_t)array->elem_len;
  buffer->rank = array->rank;
  buffer->kind = kind_of(array->type);
  buffer->items = 1;
  for (i = 0; i < CFI_MAX_RANK; i++) {
    buffer->extents[i] = i < array->rank ? array->dim[i].extent : 1;
    if (buffer->extents[i] < 0) {
      buffer->items = -1;
    } else if (buffer->items >= 0) {
      buffer->items *= buffer->extents[i];
    }
  }
}
