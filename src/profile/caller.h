/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which instruction of the program it was: where a fault, or a call, lies in
 * Hearth, MPI, the C library or a language's run-time library, it is the
 * program's call that led there.
 */
#ifndef HEARTHI_CALLER_H
#define HEARTHI_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEARTHI_MODULES = 256 }; /* segments of what is loaded, at most */

/* Learn what is loaded. */
void hearthi_caller_open(void);

/* `at`, if it is the program's, or else the nearest return address, less one,
 * that lies above `stack` and is; `at` if there is none.  In a signal handler,
 * too.  What lies on the stack by chance may be taken for a return address. */
uintptr_t hearthi_caller_at(uintptr_t at, const void *stack);

/* The program's call that is on this thread's stack, less one; 0 if there is
 * none.  Not in a signal handler. */
uintptr_t hearthi_caller_here(void);

/* Is it code of the program, or of a library of its own? */
int hearthi_caller_is_program(uintptr_t at);

/* Whose is a thread, as the kernel numbers them, that is blocked in the
 * kernel?  It serves others if all code on its stack is that of libraries
 * whose threads do, such as MPI's own and OpenMP's idle ones, also of what was
 * loaded since.  Of one that runs, or whose stack cannot be read, it is not
 * known. */
enum hearthi_caller_of {
    HEARTHI_CALLER_SERVES,
    HEARTHI_CALLER_PROGRAMS,
    HEARTHI_CALLER_UNKNOWN
};
enum hearthi_caller_of hearthi_caller_of(int thread);

/* The file in which an address lies, and the address as that file has it; NULL
 * if it is in none.  The text stays. */
const char *hearthi_caller_module(uintptr_t at, uint64_t *in_file);

/* Copy a path, or of one that is too long dots and its end, which has the name
 * of the file. */
void hearthi_caller_path_keep(char *to, size_t room, const char *path);

#endif
