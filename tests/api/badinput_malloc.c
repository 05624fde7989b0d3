/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory without collectives that cannot be had, or is not there.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "badinput.h"
#include "malloc/remote_free_overflow.h"

enum { SMALL = 100, LARGE = 100000 };

/* What rank 0 has allocated. */
static char *
passed_on(size_t bytes)
{
    char *p = me == 0 ? hearth_malloc(bytes) : NULL;

    MPI_Bcast(&p, sizeof p, MPI_BYTE, 0, MPI_COMM_WORLD);
    return p;
}

/* As the destructor of a static container does; it went with the heap. */
static void
freed_after_the_end(void)
{
    char *p = hearth_malloc(SMALL);

    hearth_barrier();
    hearth_finalize();
    MPI_Finalize();
    hearth_free(p);
    exit(0);
}

static void
after_malloc(void)
{
    char *p = hearth_malloc(SMALL);

    hearth_barrier();
    hearth_finalize();
    hearth_realloc(p, 2 * SMALL);
}

/* Another one has freed it. */
static void
resized_by_another(void)
{
    char *p = passed_on(SMALL);

    if (me == last) {
        hearth_free(p);
        hearth_realloc(p, 1000 * SMALL);
    }
}

static void
twice_own(void)
{
    char *p = hearth_malloc(SMALL);

    if (me == last) {
        hearth_free(p);
        hearth_free(p);
    }
}

/* The one that allocated it says so. */
static void
twice_others(void)
{
    char *p = passed_on(SMALL);

    if (me == last) {
        hearth_free(p);
        hearth_free(p);
    }
}

/* Found though there is no room to tell of all. */
static void
twice_of_many(void)
{
    enum { MANY = 20000 };
    static void *p[MANY];

    for (int i = 0; i < MANY && me == 0; i++)
        p[i] = hearth_malloc(SMALL);
    MPI_Bcast(p, sizeof p, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < MANY && me == last; i++)
        hearth_free(p[i]);
    if (me == last)
        hearth_free(p[MANY - 1]);
}

/* What waits for its owner is listed in the objects, over which somebody has
 * stored. */
static void
list_overwritten(void)
{
    static uint64_t at[HEARTHI_OVERFLOW_MOST];
    uint64_t        next = UINT64_MAX / 2;

    hearthi_overflow_read(&next, at, 1);
}

static void
twice_large(void)
{
    char *p = passed_on(LARGE);

    if (me == last)
        hearth_free(p);
    hearth_barrier();
    if (me == 0)
        hearth_free(p);
}

static void
inside_own(void)
{
    hearth_free((char *)hearth_malloc(SMALL) + 16);
}

static void
inside_others(void)
{
    char *p = passed_on(SMALL);

    if (me == last)
        hearth_free(p + 16);
}

static void
inside_large(void)
{
    char *p = passed_on(LARGE);

    if (me == last)
        hearth_free(p + 8192);
}

/* On one rank alone: nobody waits for others. */
static void
not_from_here(void)
{
    if (me == last)
        hearth_free(&me);
}

static void
never_given_out(void)
{
    char *p = hearth_malloc(SMALL);

    if (me == last)
        hearth_free(p + (1 << 20));
}

static void
object_too_large(void)
{
    hearth_malloc((size_t)1 << 50);
}

static void
memory_used_up(void)
{
    for (int i = 0; i < 100000 && me == 0; i++)
        hearth_malloc(SMALL);
}

static void
memory_used_up_elsewhere(void)
{
    for (int i = 0; i < 100000 && me == 0; i++)
        hearth_malloc_on(LARGE, last);
}

static void
rank_unknown(void)
{
    hearth_malloc_on(SMALL, last + 1);
}

static void
elements_overflow(void)
{
    hearth_calloc(SIZE_MAX / 4, 8);
}

static void
resized_after_free(void)
{
    char *p = hearth_malloc(SMALL);

    hearth_free(p);
    hearth_realloc(p, 2 * SMALL);
}

static void
alignment_odd(void)
{
    hearth_aligned_alloc(48, SMALL);
}

static void
size_of_none(void)
{
    hearth_malloc_usable_size((char *)hearth_malloc(SMALL) + 16);
}

/* Where they look for it (HEARTH_MALLOC_GUARD). */
static void
stored_after_free(void)
{
    char *p = hearth_malloc(SMALL);

    if (me == 0) {
        hearth_free(p);
        p[8] = 1;
    }
    hearth_barrier();
}

/* Another rank has freed it, which goes on. */
static void
stored_after_free_elsewhere(void)
{
    char *p = passed_on(SMALL);

    if (me == last)
        hearth_free(p);
    hearth_barrier();
    if (me == last)
        p[20] = 2;
    hearth_barrier();
    hearth_barrier();
}

static void
resized_and_stored(void)
{
    char *p = hearth_malloc(LARGE);

    hearth_realloc(p, 2 * LARGE);
    p[LARGE - 1] = 3;
    hearth_collect();
}

/* None is used again. */
static void
freed_and_no_more(void)
{
    for (int i = 0; i < 5000; i++) {
        char *p = hearth_malloc_on(SMALL, i % (last + 1));

        p[0] = 1;
        if (i % 3 == 0)
            p = hearth_realloc(p, LARGE);
        hearth_free(p);
    }
    hearth_barrier();
}

const struct badinput badinput_mallocs[] = {
    BADINPUT(after_malloc),
    BADINPUT(freed_after_the_end),
    BADINPUT(resized_by_another),
    BADINPUT(twice_own),
    BADINPUT(twice_others),
    BADINPUT(twice_of_many),
    BADINPUT(list_overwritten),
    BADINPUT(twice_large),
    BADINPUT(inside_own),
    BADINPUT(inside_others),
    BADINPUT(inside_large),
    BADINPUT(not_from_here),
    BADINPUT(never_given_out),
    BADINPUT(object_too_large),
    BADINPUT(memory_used_up),
    BADINPUT(memory_used_up_elsewhere),
    BADINPUT(rank_unknown),
    BADINPUT(elements_overflow),
    BADINPUT(resized_after_free),
    BADINPUT(alignment_odd),
    BADINPUT(size_of_none),
    BADINPUT(stored_after_free),
    BADINPUT(stored_after_free_elsewhere),
    BADINPUT(resized_and_stored),
    BADINPUT(freed_and_no_more),
    { NULL, NULL },
};
