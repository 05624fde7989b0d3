/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The program's own static memory, which each rank has for itself.  Programs
 * in these macros were written for threads, which share it.  Two mistakes that
 * come of that are looked for, and said in one line; the program goes on, as
 * it may never use what was found.
 *
 * Pointers: a program that is loaded at addresses of its own on each rank (a
 * position-independent one) has stored the address of a table or a function
 * into shared memory.  It means nothing to other ranks.
 *
 * Results: a process that CREATE has made has stored into a global variable
 * what no other process stored there.  main(), which goes on as rank 0, does
 * not see it.  Which variables there are is read from the symbol table of the
 * program's file: without one nothing is said.
 */
#ifndef HEARTHI_PARMACS_PRIVATE_H
#define HEARTHI_PARMACS_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

/* ---- pointers ---- */

/* At the first CREATE.  Collective. */
void hearthi_parmacs_pointers_open(void);

/* Look for them in private memory that lies over a part of the heap, of which
 * pages that were never touched are left out.  After the first that is found
 * nothing is looked at. */
void hearthi_parmacs_pointers_look(const char *at, size_t bytes);

/* ---- results ---- */

enum { HEARTHI_PARMACS_VARIABLES = 64 };

/* What a rank has changed: places of variables, where the program was loaded
 * taken off, in ascending order.  What is beyond these is left out. */
struct hearthi_parmacs_changes {
    uint64_t n;
    uint64_t variable[HEARTHI_PARMACS_VARIABLES];
};

/* A process starts its work. */
void hearthi_parmacs_globals_keep(void);

/* It has done it. */
void hearthi_parmacs_globals_changed(struct hearthi_parmacs_changes *c);

/* Rank 0, of itself and of each other: say in a line what one of the others
 * alone has changed.  Each variable counts once in a run. */
void hearthi_parmacs_globals_look(const struct hearthi_parmacs_changes *c,
                                  int                                   n);

void hearthi_parmacs_globals_close(void);

#endif
