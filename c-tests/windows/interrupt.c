/*
 * Interrupts a program that writes a file, as a user does at the console.
 *
 * usage: interrupt c|break OUTPUT PROGRAM ARGUMENT...
 *
 * Starts the program in a console without a window, in the working directory, in which only the
 * program creates files. After the program created a staging folder (".NAME.tmp"), the console sends
 * Ctrl-C or Ctrl-Break. The program must end with STATUS_CONTROL_C_EXIT and leave neither OUTPUT nor
 * a staging folder.
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
  int is_break, i, waited;
  DWORD status = 0;
  STARTUPINFOA start;
  PROCESS_INFORMATION process;

  if (argc < 4) {
    return 2;
  }
  is_break = strcmp(argv[1], "break") == 0;
  for (i = 3; i < argc; i++) {
    strcat(strcat(command, argv[i]), " ");
  }
  /* The console of this program may be shared with others, or be none. */
  FreeConsole();
  if (!AllocConsole()) {
    return failed("no console");
  }
  memset(&start, 0, sizeof start);
  start.cb = sizeof start;
  /* A program in a new group ignores Ctrl-C, and Ctrl-Break can be sent to this group alone. */
  if (!CreateProcessA(NULL, command, NULL, NULL, FALSE, is_break ? CREATE_NEW_PROCESS_GROUP : 0,
                      NULL, NULL, &start, &process)) {
    return failed("the program did not start");
  }
  for (waited = 0; !exists(".*.tmp"); waited += 10) {
    if (waited > PATIENCE || WaitForSingleObject(process.hProcess, 10) == WAIT_OBJECT_0) {
      return failed("the program created no staging folder");
    }
  }
  /* This program survives; the other one was started before. */
  SetConsoleCtrlHandler(NULL, TRUE);
  if (!GenerateConsoleCtrlEvent(is_break ? CTRL_BREAK_EVENT : CTRL_C_EVENT,
                                is_break ? process.dwProcessId : 0)) {
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
  if (exists(argv[2]) || exists(".*.tmp")) {
    printf("%s is left\n", exists(argv[2]) ? argv[2] : "a staging folder");
    return 1;
  }
  return 0;
}
