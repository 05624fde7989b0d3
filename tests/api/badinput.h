/* SPDX-License-Identifier: BSD-2-Clause
 *
 * badinput's files: tables of cases by their names, and what they share.
 */
#ifndef BADINPUT_H
#define BADINPUT_H

#include <hearth/hearth.h>
#include <stdbool.h>
#include <stddef.h>

#include "space/heap.h"

/* Of a page of this start. */
static inline size_t
page_bytes(void)
{
    return hearthi_heap.page;
}

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
    badinput_mallocs[], badinput_fars[], badinput_aparts[],
    badinput_checkpoints[], badinput_masks[];

/* The last rank goes away as MPI_TEST_END says, and the others come to wait
 * for it, in each of the ways to wait.  After "awhile" it is there again. */
void badinput_go_away(void);

/* This rank stops, at once or in so many milliseconds, for others. */
void badinput_stop(unsigned after, unsigned ms);

/* What the machine or its MPI lacks: a case's name, or "". */
extern const char *fake;

/* This rank hears late what others claim. */
extern int slow;

/* Before MPI_Init: a process may not read another's memory. */
void memory_hide(void);

/* Before MPI_Init: a /dev/shm of its own, but for rank 0. */
void shm_leave(void);

/* Before hearth_init: the program has no standard input, output or error. */
void descriptors_close(void);

/* Before MPI_Init: a thread that has signals blocked, if so; and start again
 * with these signals blocked, unless that is done. */
void older_begin(bool blocks);
void mask_inherit(char **argv);

/* Before hearth_init: the last rank's port is somebody else's. */
void port_take(void);

static inline void *
page_new(void)
{
    return hearth_alloc(page_bytes(), 1, hearth_block());
}

/* This rank comes to MPI_Finalize so many milliseconds later than the first
 * one, and gives answers meanwhile or not.  And: has it given any since, or
 * does this MPI need none? */
void apart_wait(bool answers, unsigned ms);
bool apart_answered(void);

#endif
