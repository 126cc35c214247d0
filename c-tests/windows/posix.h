/*
 * Functions of POSIX for the C tests on Windows; the compiler includes this file first
 * (-include). <windows.h>, which <blosc2.h> includes there, defines names that tests use, too.
 */

#ifndef POSIX_H
#define POSIX_H

#include <direct.h>
#include <errno.h>
#include <process.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <windows.h>

#undef small
#undef near
#undef far
#undef ERROR
#undef DELETE
#define SIZE TESTED_SIZE
#define mkdir(path, mode) ((void)(mode), _mkdir(path))
#define setenv(name, value, overwrite) _putenv_s(name, value)
#define unsetenv(name) _putenv_s(name, "")
#undef P_tmpdir
#define P_tmpdir "."
#define alarm(seconds) ((void)(seconds))
#define chdir(path) change_directory(path)

/* The tests leave their directory, a subdirectory of the current one, by chdir("/"). */
static inline int change_directory(const char *path) {
  return _chdir(strcmp(path, "/") == 0 ? ".." : path);
}

/* Creates a directory whose name replaces the X at the end of the template. */
static inline char *mkdtemp(char *template_) {
  static unsigned counter;
  char *end = template_ + strlen(template_) - 6;
  int tries;

  for (tries = 0; tries < 1000; tries++) {
    snprintf(end, 7, "%03x%03x", (unsigned)_getpid() & 0xFFF, counter++ & 0xFFF);
    if (_mkdir(template_) == 0) {
      return template_;
    }
    if (errno != EEXIST) {
      return NULL;
    }
  }
  return NULL;
}

#endif /* POSIX_H */
