/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory without collectives that cannot be had, or is not there.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "badinput.h"

enum { SMALL = 100, LARGE = 100000 };

/* What rank 0 has allocated. */
static char *
passed_on(size_t bytes)
{
    char *p = me == 0 ? hearth_malloc(bytes) : NULL;

    MPI_Bcast(&p, sizeof p, MPI_BYTE, 0, MPI_COMM_WORLD);
    return p;
}

static void
after_malloc(void)
{
    char *p = hearth_malloc(SMALL);

    hearth_barrier();
    hearth_finalize();
    hearth_free(p);
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

const struct badinput badinput_mallocs[] = {
    BADINPUT(after_malloc),
    BADINPUT(twice_own),
    BADINPUT(twice_others),
    BADINPUT(twice_of_many),
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
    { NULL, NULL },
};
