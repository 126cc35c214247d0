// A C++ program that includes all headers: they are C with C linkage.

#include <b2nd.h>
#include <blosc2/codecs-registry.h>
#include <blosc2/filters-registry.h>
#include <blosc2/tuners-registry.h>

#include <cstring>
#include <vector>

int main() {
  std::vector<double> data(10000, 1.5), back(10000);
  const int size = static_cast<int>(data.size() * sizeof(double));
  std::vector<unsigned char> chunk(static_cast<std::size_t>(size) + BLOSC2_MAX_OVERHEAD);
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = BLOSC_ZSTD;
  cparams.filters[0] = BLOSC_TRUNC_PREC;
  cparams.filters_meta[0] = 20;
  blosc2_context *compressor = blosc2_create_cctx(cparams);
  blosc2_context *decompressor = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  const int compressed = blosc2_compress_ctx(compressor, data.data(), size, chunk.data(),
                                             static_cast<int>(chunk.size()));
  const int restored =
      blosc2_decompress_ctx(decompressor, chunk.data(), compressed, back.data(), size);
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
  return compressed > 0 && restored == size && data == back ? 0 : 1;
}
