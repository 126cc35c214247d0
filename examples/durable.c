/*
 * Protects a file against crashes and damage.
 *
 *   cc durable.c -o durable $(pkg-config --cflags --libs ferroblosc blosc2)
 *
 * Durable changes are atomic and survive a crash: afterwards the file has the state before or after
 * a change. A transaction combines several changes into one. Checksums detect damaged bytes.
 * docs/durability.md describes all three. The functions in ferroblosc.h exist in Ferroblosc only.
 */

#include <assert.h>
#include <blosc2.h>
#include <ferroblosc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 1000 };

static uint64_t items[ITEMS], read_items[ITEMS];

/* Ends the program if a function returned an error code. ferroblosc_last_error() names the
   operation, the file and the cause. */
static void check(int64_t code) {
  if (code < 0) {
    const char *cause = ferroblosc_last_error();

    fprintf(stderr, "%s\n", cause != NULL ? cause : blosc2_error_string((int)code));
    exit(EXIT_FAILURE);
  }
}

static void append(blosc2_schunk *ledger, uint64_t first) {
  int i;

  for (i = 0; i < ITEMS; i++) {
    items[i] = (first + i) * (first + i);
  }
  check(blosc2_schunk_append_buffer(ledger, items, sizeof items));
}

/* Changes the last byte of a chunk in the file. */
static void damage(blosc2_schunk *ledger, int nchunk) {
  static uint8_t bytes[10 * sizeof items];
  uint8_t *chunk;
  bool needs_free;
  long at = 0, size = blosc2_schunk_get_chunk(ledger, nchunk, &chunk, &needs_free), len;
  FILE *file = fopen(ledger->storage->urlpath, "rb+");

  check(size);
  if (file == NULL) {
    exit(EXIT_FAILURE);
  }
  len = (long)fread(bytes, 1, sizeof bytes, file);
  while (at < len - size && memcmp(bytes + at, chunk, (size_t)size) != 0) {
    at++;
  }
  fseek(file, at + size - 1, SEEK_SET);
  fputc(chunk[size - 1] ^ 1, file);
  fclose(file);
  if (needs_free) {
    free(chunk);
  }
}

int main(void) {
  /* Created in the current directory, and removed at the end. */
  char *path = "example-durable.b2frame";
  /* FERROBLOSC_IO_DURABLE and FERROBLOSC_IO_CHECKSUMS select one of the two properties. */
  blosc2_io io = {FERROBLOSC_IO_DURABLE_CHECKSUMS, "", NULL};
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *ledger;
  ferroblosc_report report;
  int64_t faults, bad[1];
  int code;

  blosc2_init();
  /* An interrupted run may have left the file, and a new super-chunk never replaces one. */
  check(blosc2_remove_urlpath(path));
  storage.contiguous = true;
  storage.urlpath = path;
  storage.io = &io;
  ledger = blosc2_schunk_new(&storage);
  check(ledger != NULL ? 0 : BLOSC2_ERROR_FAILURE);

  /* A single change is durable when the call returns. */
  append(ledger, 0);

  /* A transaction is faster than many single changes: only its commit waits for the disk. Other
     handles see all its changes or none. */
  check(ferroblosc_begin(ledger));
  append(ledger, 1000);
  append(ledger, 2000);
  check(ferroblosc_commit(ledger));
  printf("after the commit: %d chunks\n", (int)ledger->nchunks);

  check(ferroblosc_begin(ledger));
  append(ledger, 3000);
  check(blosc2_schunk_delete_chunk(ledger, 0));
  check(blosc2_schunk_delete_chunk(ledger, 0));
  assert(ledger->nchunks == 2);
  check(ferroblosc_rollback(ledger));
  assert(ledger->nchunks == 3);
  printf("after the rollback: %d chunks\n", (int)ledger->nchunks);

  /* Verification reads everything and compares the checksums. */
  faults = ferroblosc_verify(path, 0, &report, NULL, 0);
  check(faults);
  assert(faults == 0 && report.compared == 3);

  /* Only the damaged chunk cannot be read, and verification names it. */
  damage(ledger, 1);
  faults = ferroblosc_verify(path, 0, &report, bad, 1);
  assert(faults == 1 && report.bad_chunks == 1 && bad[0] == 1);
  code = blosc2_schunk_decompress_chunk(ledger, 1, read_items, sizeof read_items);
  assert(code == BLOSC2_ERROR_DATA);
  printf("chunk %d is damaged: %s\n", (int)bad[0], ferroblosc_last_error());
  check(blosc2_schunk_decompress_chunk(ledger, 2, read_items, sizeof read_items));
  assert(read_items[0] == 2000 * 2000);

  blosc2_schunk_free(ledger);
  check(blosc2_remove_urlpath(path));
  blosc2_destroy();
  return EXIT_SUCCESS;
}
