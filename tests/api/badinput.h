/* SPDX-License-Identifier: BSD-2-Clause
 *
 * badinput's files: tables of cases by their names, and what they share.
 */
#ifndef BADINPUT_H
#define BADINPUT_H

#include <hearth/hearth.h>

enum { PAGE = 4096 };

extern int me, last; /* this rank and the last one */

struct badinput {
    const char *name; /* NULL ends a table */
    void (*work)(void);
};

#define BADINPUT(name) \
    {                  \
#name, name    \
    }

extern const struct badinput badinput_allocs[], badinput_calls[],
    badinput_holds[], badinput_touches[], badinput_ends[], badinput_losses[],
    badinput_mallocs[], badinput_fars[];

/* The last rank goes away as MPI_TEST_END says, and the others come to wait
 * for it, in each of the ways to wait.  After "awhile" it is there again. */
void badinput_go_away(void);

/* What the machine or its MPI lacks: a case's name, or "". */
extern const char *fake;

/* This rank hears late what others claim. */
extern int slow;

/* Before hearth_init: the last rank's port is somebody else's. */
void port_take(void);

static inline void *
page_new(void)
{
    return hearth_alloc(PAGE, 1, hearth_block());
}

#endif
