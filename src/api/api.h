/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTHI_API_H
#define HEARTHI_API_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "world.h"

/* hearth_finalize was the last call: what a program frees behind it, such as a
 * static container, has gone with the heap. */
bool hearthi_is_over(void);

/* End the job: there is no heap, or the thread may not call this. */
_Noreturn void hearthi_refuse_down(const char *call);
_Noreturn void hearthi_refuse_thread(const char *call);

/* Every call but hearth_init() starts with this: ends the job before
 * hearth_init() and after hearth_finalize(). */
static inline void
hearthi_require_up(const char *call)
{
    if (!hearthi_world.up)
        hearthi_refuse_down(call);
}

/* The same for calls that move MPI: without MPI_THREAD_MULTIPLE they belong
 * to the thread that called hearth_init(). */
static inline void
hearthi_require_thread(const char *call)
{
    hearthi_require_up(call);
    if (!hearthi_may_call_mpi())
        hearthi_refuse_thread(call);
}

/* Forget which threads hold reader-writer locks, at a new start. */
void hearthi_rwlocks_reset(void);

/* For calls that name a lock, a flag and so on: as hearthi_require_thread(),
 * and ends the job unless the number is 0 to most - 1. */
void hearthi_require_number(const char *call, const char *what, int number,
                            int most);

/* For calls on a heap word: as hearthi_require_thread(), and ends the job
 * unless it is aligned to its size and lies in an allocation. */
void hearthi_word_check(const char *call, const void *word, size_t size);

/* Initialise MPI, unless that was done before: true if it is ours to finalize.
 * From now on hearthi_fatal() ends the whole job. */
bool hearthi_mpi_start(const char *call, MPI_Comm comm);

/* Allocate: what hearth_alloc does once its arguments were checked.  In two
 * steps, of which the first is collective: between them nothing is at its
 * addresses on this rank, while others may use it. */
struct hearthi_placing;
struct hearthi_allocation;
void *hearthi_alloc(size_t bytes, unsigned unit,
                    const struct hearthi_placing *to);
struct hearthi_allocation       *
hearthi_alloc_take(size_t bytes, unsigned unit,
                         const struct hearthi_placing *to);
void *hearthi_alloc_place(struct hearthi_allocation *a);

/* A barrier has brought what ranks ask: make a checkpoint if it is due.
 * Collective; true on all ranks if one was made. */
bool hearthi_point_save(const char *call, unsigned asks);

/* Free what a call named `maker` has allocated. */
void hearthi_free(const char *call, const char *maker, void *p);

/* End the job if a collective call was not given the same arguments by every
 * rank; names are for that line. */
enum { HEARTHI_ARGS = 6 };
void hearthi_args_check(const char *call, const char *const *name,
                        const uint64_t *mine);

#endif
