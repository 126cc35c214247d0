/* Definitions of the functions for integers to which zfp.c refers. The crate passes only arrays of
 * floating-point numbers to ZFP, so they are not called. */

#define FUNCTION(name) \
  void name(void) { __builtin_trap(); }

#define BLOCKS(type, dims)                                \
  FUNCTION(zfp_encode_block_##type##_##dims)              \
  FUNCTION(zfp_encode_block_strided_##type##_##dims)      \
  FUNCTION(zfp_encode_partial_block_strided_##type##_##dims) \
  FUNCTION(zfp_decode_block_##type##_##dims)              \
  FUNCTION(zfp_decode_block_strided_##type##_##dims)      \
  FUNCTION(zfp_decode_partial_block_strided_##type##_##dims)

#define DIMENSIONS(type) BLOCKS(type, 1) BLOCKS(type, 2) BLOCKS(type, 3) BLOCKS(type, 4)

DIMENSIONS(int32)
DIMENSIONS(int64)
