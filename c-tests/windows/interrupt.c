/*
 * Interrupts a program that writes a file, as a user does at the console.
 *
 * usage: interrupt OUTPUT PROGRAM ARGUMENT...
 *
 * Starts the program in a console without a window, in the working directory, in which only the
 * program creates files. After the program created a temporary file or directory (".NAME.tmp"), the
 * console sends Ctrl-C. The program must end with STATUS_CONTROL_C_EXIT and leave neither OUTPUT
 * nor a temporary file. (wine 8 cannot send Ctrl-Break.)
 */

#include <stdio.h>
#include <string.h>
#include <windows.h>

#define PATIENCE 60000

/* Whether the working directory has an entry whose name matches a pattern. */
static int exists(const char *pattern) {
  WIN32_FIND_DATAA entry;
  HANDLE search = FindFirstFileA(pattern, &entry);

  if (search == INVALID_HANDLE_VALUE) {
    return 0;
  }
  FindClose(search);
  return 1;
}

static int failed(const char *reason) {
  printf("%s (error %lu)\n", reason, (unsigned long)GetLastError());
  return 1;
}

int main(int argc, char **argv) {
  static char command[8000];
  int i, waited;
  DWORD status = 0;
  STARTUPINFOA start;
  PROCESS_INFORMATION process;

  if (argc < 3) {
    return 2;
  }
  for (i = 2; i < argc; i++) {
    strcat(strcat(command, argv[i]), " ");
  }
  /* The console of this program may be shared with others, or be none. */
  FreeConsole();
  if (!AllocConsole()) {
    return failed("no console");
  }
  memset(&start, 0, sizeof start);
  start.cb = sizeof start;
  if (!CreateProcessA(NULL, command, NULL, NULL, FALSE, 0, NULL, NULL, &start, &process)) {
    return failed("the program did not start");
  }
  for (waited = 0; !exists(".*.tmp"); waited += 10) {
    if (waited > PATIENCE || WaitForSingleObject(process.hProcess, 10) == WAIT_OBJECT_0) {
      TerminateProcess(process.hProcess, 3);
      return failed("the program created no temporary file");
    }
  }
  /* All programs of the console receive the event, which this one ignores. */
  if (!SetConsoleCtrlHandler(NULL, TRUE) || !GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0)) {
    TerminateProcess(process.hProcess, 3);
    return failed("the console sent no event");
  }
  if (WaitForSingleObject(process.hProcess, PATIENCE) != WAIT_OBJECT_0) {
    TerminateProcess(process.hProcess, 3);
    return failed("the program did not end");
  }
  GetExitCodeProcess(process.hProcess, &status);
  if (status != 0xC000013A) {
    printf("the program ended with %lx\n", (unsigned long)status);
    return 1;
  }
  if (exists(argv[1]) || exists(".*.tmp")) {
    printf("%s is left\n", exists(argv[1]) ? argv[1] : "a temporary file");
    return 1;
  }
  return 0;
}
