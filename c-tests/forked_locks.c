/*
 * Parent and forked child exclude each other through a handle that the child inherited, with locks:
 * neither holds, nor releases, a lock of the other one. A thread that holds a lock does not wait for
 * itself.
 */

#include "schunks.h"
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>

enum { APPENDS = 100 };

/* To the other process and back. */
static int there[2], back[2];

static void signal_to(int *end) { CHECK_IS(write(end[1], "x", 1), 1); }

static void wait_for(int *end) {
  char byte;
  CHECK_IS(read(end[0], &byte, 1), 1);
}

/* Whether a byte has arrived, which is then read. */
static bool has_arrived(int *end) {
  char byte;
  bool has;
  CHECK_IS(fcntl(end[0], F_SETFL, O_NONBLOCK), 0);
  has = read(end[0], &byte, 1) == 1;
  CHECK_IS(fcntl(end[0], F_SETFL, 0), 0);
  return has;
}

static void pause_briefly(void) {
  struct timespec time = {0, 100000000};
  nanosleep(&time, NULL);
}

static pid_t start(void) {
  pid_t child;
  fflush(stdout);
  CHECK_IS(pipe(there), 0);
  CHECK_IS(pipe(back), 0);
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    checks_bad = 0;
    alarm(100);
  }
  return child;
}

static void end_child(void) {
  fflush(stdout);
  _exit(checks_bad == 0 ? 0 : 1);
}

static void wait_for_child(pid_t child) {
  int status, i;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  for (i = 0; i < 2; i++) {
    close(there[i]);
    close(back[i]);
  }
}

/* Whether a process holds the lock of a kind's file. */
static bool is_locked(int kind) {
  int file = open(kind == SINGLE_FILE ? "file.b2frame.b2lock" : "directory.b2frame/.b2lock", O_RDWR);
  bool is;
  CHECK(file >= 0);
  is = flock(file, LOCK_EX | LOCK_NB) != 0;
  close(file);
  return is;
}

static void a_lock_of_the_child_excludes_the_parent(int kind) {
  blosc2_schunk *schunk = make_full(kind, 2);
  pid_t child = start();
  if (child == 0) {
    CHECK_IS(blosc2_schunk_lock(schunk), 0);
    signal_to(back);
    pause_briefly();
    signal_to(back);
    CHECK_IS(blosc2_schunk_unlock(schunk), 0);
    end_child();
  }
  wait_for(back);
  CHECK_IS(blosc2_schunk_lock(schunk), 0);
  CHECK(has_arrived(back));
  CHECK_IS(blosc2_schunk_unlock(schunk), 0);
  wait_for_child(child);
  done(schunk, kind);
}

static void a_lock_of_the_parent_excludes_the_child(int kind) {
  blosc2_schunk *schunk = make_full(kind, 2);
  pid_t child;
  CHECK_IS(blosc2_schunk_lock(schunk), 0);
  child = start();
  if (child == 0) {
    int32_t items[ITEMS];
    signal_to(back);
    CHECK_IS(blosc2_schunk_refresh(schunk), 1);
    CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 2, items, CHUNK), CHUNK);
    CHECK(has_arrived(there));
    CHECK_IS(items[0], 1234);
    end_child();
  }
  wait_for(back);
  pause_briefly();
  {
    int32_t items[ITEMS] = {1234};
    CHECK_IS(blosc2_schunk_append_buffer(schunk, items, CHUNK), 3);
  }
  signal_to(there);
  CHECK_IS(blosc2_schunk_unlock(schunk), 0);
  wait_for_child(child);
  done(schunk, kind);
}

/* Appends chunks with the numbers from `first` on. */
static void append_from(blosc2_schunk *schunk, int first) {
  int32_t items[ITEMS];
  int i, j;
  for (i = first; i < first + APPENDS; i++) {
    for (j = 0; j < ITEMS; j++) {
      items[j] = i * 1000 + j;
    }
    CHECK(blosc2_schunk_append_buffer(schunk, items, CHUNK) > 0);
  }
}

static void both_append(int kind) {
  blosc2_schunk *schunk = make(kind);
  bool seen[2 * APPENDS] = {false};
  int32_t items[ITEMS];
  int64_t nchunk;
  int i;
  pid_t child = start();
  append_from(schunk, child == 0 ? APPENDS : 0);
  if (child == 0) {
    end_child();
  }
  wait_for_child(child);
  CHECK(blosc2_schunk_refresh(schunk) >= 0);
  CHECK_IS(schunk->nchunks, 2 * APPENDS);
  for (nchunk = 0; nchunk < schunk->nchunks; nchunk++) {
    CHECK_IS(blosc2_schunk_decompress_chunk(schunk, nchunk, items, CHUNK), CHUNK);
    i = items[0] / 1000;
    CHECK(i >= 0 && i < 2 * APPENDS && !seen[i]);
    seen[i % (2 * APPENDS)] = true;
    CHECK_IS(items[ITEMS - 1], i * 1000 + ITEMS - 1);
  }
  done(schunk, kind);
}

static void a_child_does_not_release_the_lock_of_its_parent(int kind) {
  blosc2_schunk *schunk = make_full(kind, 2);
  pid_t child;
  CHECK_IS(blosc2_schunk_lock(schunk), 0);
  CHECK(is_locked(kind));
  child = start();
  if (child == 0) {
    CHECK_IS(blosc2_schunk_unlock(schunk), 0);
    CHECK_IS(blosc2_schunk_free(schunk), 0);
    end_child();
  }
  wait_for_child(child);
  CHECK(is_locked(kind));
  CHECK_IS(blosc2_schunk_unlock(schunk), 0);
  CHECK(!is_locked(kind));
  done(schunk, kind);
}

static void a_lock_ends_with_its_handle_though_a_child_lives_on(int kind) {
  blosc2_schunk *schunk = make_full(kind, 2);
  pid_t child;
  CHECK_IS(blosc2_schunk_lock(schunk), 0);
  child = start();
  if (child == 0) {
    wait_for(there);
    end_child();
  }
  CHECK_IS(blosc2_schunk_free(schunk), 0);
  CHECK(!is_locked(kind));
  signal_to(there);
  wait_for_child(child);
  CHECK_IS(blosc2_remove_urlpath(path_of(kind)), 0);
}

/* The thread would wait for itself; a child waits for the release. */
static void other_handles_of_the_thread_fail_until_the_release(int kind) {
  blosc2_schunk *schunk = make_full(kind, 2), *other = blosc2_schunk_open(path_of(kind));
  int32_t items[ITEMS] = {0};
  pid_t child;
  CHECK(other != NULL);
  CHECK_IS(blosc2_schunk_lock(schunk), 0);
  CHECK_IS(blosc2_schunk_append_buffer(other, items, CHUNK), BLOSC2_ERROR_LOCK);
  CHECK_IS(blosc2_schunk_decompress_chunk(other, 0, items, CHUNK), BLOSC2_ERROR_LOCK);
  CHECK_IS(blosc2_schunk_lock(other), BLOSC2_ERROR_LOCK);
  CHECK(blosc2_schunk_open(path_of(kind)) == NULL);
  CHECK_IS(blosc2_schunk_append_buffer(schunk, items, CHUNK), 3);
  child = start();
  if (child == 0) {
    signal_to(back);
    CHECK_IS(blosc2_schunk_append_buffer(other, items, CHUNK), 4);
    CHECK(has_arrived(there));
    end_child();
  }
  wait_for(back);
  pause_briefly();
  signal_to(there);
  CHECK_IS(blosc2_schunk_unlock(schunk), 0);
  wait_for_child(child);
  CHECK_IS(blosc2_schunk_append_buffer(other, items, CHUNK), 5);
  CHECK_IS(blosc2_schunk_free(other), 0);
  done(schunk, kind);
}

int main(void) {
  int kind;
  alarm(200);
  CHECK_IS(setenv("BLOSC_LOCKING", "1", 1), 0);
  blosc2_init();
  enter_folder();
  for (kind = SINGLE_FILE; kind <= DIRECTORY; kind++) {
    a_lock_of_the_child_excludes_the_parent(kind);
    a_lock_of_the_parent_excludes_the_child(kind);
    both_append(kind);
    a_child_does_not_release_the_lock_of_its_parent(kind);
    a_lock_ends_with_its_handle_though_a_child_lives_on(kind);
    other_handles_of_the_thread_fail_until_the_release(kind);
  }
  blosc2_destroy();
  return leave_folder();
}
