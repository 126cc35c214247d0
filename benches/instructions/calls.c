/* Repeats a call of libblosc2, for scripts/count-instructions.py:
 *
 *   calls shuffle|unshuffle|bitshuffle|bitunshuffle TYPESIZE ROUNDS
 *   calls compress|decompress TYPESIZE ROUNDS CODEC FILTER
 *
 * Filters process 32 KiB of noise, codecs 256 KiB of numbers that change slowly. */

#include <blosc2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 15, SIZE = 1 << 18 };

static uint8_t items[SIZE], chunk[SIZE + BLOSC2_MAX_OVERHEAD], back[SIZE];

static uint64_t noise(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int filter(const char *name, int32_t typesize, int rounds) {
    int32_t (*call)(int32_t, int32_t, const void *, void *) = !strcmp(name, "shuffle") ? blosc2_shuffle
        : !strcmp(name, "unshuffle")                                                  ? blosc2_unshuffle
        : !strcmp(name, "bitshuffle")                                                 ? blosc2_bitshuffle
                                                                                      : blosc2_bitunshuffle;
    for (size_t i = 0; i < BLOCK; i++)
        items[i] = (uint8_t)(noise() >> 32);
    for (int round = 0; round < rounds; round++)
        if (call(typesize, BLOCK, items, back) != BLOCK)
            return 1;
    return 0;
}

static int codec(int compresses, int32_t typesize, int rounds, int compcode, int filter) {
    uint64_t value = 1 << 20;
    for (size_t i = 0; i < SIZE; i += (size_t)typesize) {
        value += noise() % 64;
        memcpy(items + i, &value, (size_t)typesize);
    }
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.compcode = (uint8_t)compcode;
    cparams.clevel = 5;
    cparams.typesize = typesize;
    cparams.nthreads = 1;
    cparams.filters[BLOSC2_MAX_FILTERS - 1] = (uint8_t)filter;
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    dparams.nthreads = 1;
    blosc2_context *writer = blosc2_create_cctx(cparams), *reader = blosc2_create_dctx(dparams);
    int size = blosc2_compress_ctx(writer, items, SIZE, chunk, sizeof chunk);
    for (int round = 0; round < rounds && size > 0; round++) {
        if (compresses)
            size = blosc2_compress_ctx(writer, items, SIZE, chunk, sizeof chunk);
        else
            blosc2_decompress_ctx(reader, chunk, size, back, SIZE);
    }
    int failed = size <= 0 || blosc2_decompress_ctx(reader, chunk, size, back, SIZE) != SIZE
        || memcmp(back, items, SIZE) != 0;
    blosc2_free_ctx(writer);
    blosc2_free_ctx(reader);
    return failed;
}

int main(int argc, char **argv) {
    if (argc != 4 && argc != 6) {
        fprintf(stderr, "usage: calls CALL TYPESIZE ROUNDS [CODEC FILTER]\n");
        return 2;
    }
    int typesize = atoi(argv[2]), rounds = atoi(argv[3]);
    blosc2_init();
    int failed = argc == 4 ? filter(argv[1], typesize, rounds)
                           : codec(argv[1][0] == 'c', typesize, rounds, atoi(argv[4]), atoi(argv[5]));
    blosc2_destroy();
    return failed;
}
