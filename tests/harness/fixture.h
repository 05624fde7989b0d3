/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Hearth around a test case: what the tests of shared memory have in common.
 */
#ifndef HEARTH_FIXTURE_H
#define HEARTH_FIXTURE_H

#include <hearth/hearth.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "harness.h"

extern int me, ranks; /* hearth_rank(), hearth_size() */

/* Fixtures: Hearth on MPI_COMM_WORLD with the options of the environment. */
void fixture_start(void);
void fixture_stop(void);

/* The same with HEARTH_<name> = value for this one time. */
void fixture_start_with(const char *name, const char *value);
void fixture_start_on(MPI_Comm comm, const char *name, const char *value);

/* A value of HEARTH_CACHE or another option of bytes: room for so many pages
 * of the next start.  Lasts to the next call. */
const char *bytes_of_pages(size_t pages);

/* The same with locks that do not stay, so that a rank's own are an acquire
 * and a release each time. */
void fixture_start_eager(void);

/* The same with no page fetched that nobody touched: where fetches are
 * counted, or played against something else. */
void fixture_start_unforeseen(void);

/* Everybody's turn in MPI alone, without Hearth: MPI_Ibarrier, so that the
 * wait serves one-sided operations. */
static inline void
mpi_barrier(void)
{
    all_assert(true);
}

/* True if the two ranks are on different nodes. */
bool apart(int a, int b);

/* Messages that this rank began.  hearth_stats counts what its server answers
 * too, whenever others ask, or ask again. */
uint64_t messages_begun(void);

/* True where ranks of other nodes are reached by MPI's RMA, whose calls a test
 * may see. */
bool rma_used(void);

/* True under HEARTH_CONSISTENCY=release. */
bool release_consistency(void);

/* Bytes of a page of this start of Hearth, as the machine and HEARTH_PAGE_SIZE
 * say; and words. */
size_t page_bytes(void);
static inline size_t
page_words(void)
{
    return page_bytes() / sizeof(int64_t);
}

/* Words that each have a page of their own; page i has its home on rank
 * i % ranks. */
int64_t *pages_new(int count);
static inline int64_t *
word(int64_t *pages, int i)
{
    return pages + (size_t)i * page_bytes() / sizeof(int64_t);
}

/* A message of the program's own, with nothing in it. */
void tell(int rank, int tag);
void told_by(int rank, int tag);

/* Read n of these pages, which have this value, until the copies of others are
 * such that stay over an acquire, and are written without having been
 * reported: first ones do not. */
void copies_take(int64_t *pages, int n, int64_t value);

/* Wait a little, differently each time, to vary who comes first. */
void dawdle(void);
void sleep_ms(long ms);

/* hearth_barrier(), remembered for a run that hangs. */
#define barrier()                       \
    do {                                \
        harness_at(__func__, __LINE__); \
        hearth_barrier();               \
    } while (0)

#endif
