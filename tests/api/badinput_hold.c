/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Holds that cannot be.
 */
#include "api/api_pin.h"
#include "badinput.h"
#include "page/pin_count.h"

static void
hold_null(void)
{
    page_new();
    hearth_hold(NULL, 8, HEARTH_READ);
}

static void
hold_outside(void)
{
    static char mine[4096];

    page_new();
    hearth_hold(mine, sizeof mine, HEARTH_WRITE);
}

static void
hold_beyond(void)
{
    char *p = hearth_alloc(100, 1, hearth_block());

    page_new();
    hearth_hold(p + 60, 41, HEARTH_READ);
}

static void
hold_freed(void)
{
    void *p = page_new();

    hearth_free(p);
    hearth_hold(p, 8, HEARTH_READ);
}

static void
hold_how_zero(void)
{
    hearth_hold(page_new(), 8, 0);
}

static void
hold_how_unknown(void)
{
    hearth_hold(page_new(), 8, HEARTH_WRITE + 4);
}

static void
hold_too_often(void)
{
    char *p = page_new();

    hearth_hold(p, 8, HEARTH_READ);
    hearthi_pin_count.reads[hearthi_page_of(p)] = UINT32_MAX - 1;
    hearth_hold(p, 8, HEARTH_READ);
    if (hearthi_pin_count.reads[hearthi_page_of(p)] == UINT32_MAX)
        hearth_hold(p, 8, HEARTH_READ);
}

static void
hold_after_finalize(void)
{
    void *p = page_new();

    hearth_finalize();
    hearth_hold(p, 8, HEARTH_READ);
}

/* With a cache of 16 pages. */
static void
hold_too_much(void)
{
    char *p = hearth_alloc(20 * page_bytes(), 1, hearth_on(0));

    hearth_barrier();
    if (me == last) {
        hearth_hold(p, 5 * page_bytes(), HEARTH_READ);
        hearth_hold(p + 4 * page_bytes(), 5 * page_bytes(), HEARTH_READ);
    }
    hearth_barrier();
}

/* More pieces than the kernel has mappings for by default. */
static void
hold_too_scattered(void)
{
    enum { PIECES = 40000 };
    char *p = hearth_alloc((size_t)2 * PIECES * page_bytes(), 1, hearth_on(0));

    hearth_barrier();
    for (size_t i = 0; i < PIECES && me == last; i++)
        hearth_hold(p + 2 * i * page_bytes(), 1, HEARTH_READ);
    hearth_barrier();
}

static void
drop_not_held(void)
{
    char *p = page_new();

    hearth_hold(p, 8, HEARTH_READ);
    hearth_drop(p, 8, HEARTH_WRITE);
}

static void
drop_twice(void)
{
    char *p = page_new();

    hearth_hold(p, 8, HEARTH_READ);
    hearth_drop(p, 8, HEARTH_READ);
    hearth_drop(p, 8, HEARTH_READ);
}

static void
free_held(void)
{
    char *p = page_new();

    if (me == last)
        hearth_hold(p, 8, HEARTH_READ);
    hearth_free(p);
}

/* What may be: nothing, wherever it is, and an end with holds. */
static void
hold_nothing(void)
{
    char *p = hearth_alloc(4 * page_bytes(), 1, hearth_cyclic(1));

    hearth_hold(NULL, 0, HEARTH_READ);
    hearth_drop(p, 0, HEARTH_WRITE);
    hearth_hold(p, 4 * page_bytes(), HEARTH_WRITE);
    p[me] = 1;
}

/* What a message is received into by another thread, and then is another's. */
static void
free_received(void)
{
    static char pages[4 << 16];
    char       *p = hearth_alloc(sizeof pages, 1, hearth_on(0)), *q;
    uint64_t    number = hearthi_mostly_absent("MPI_Recv", p, sizeof pages);

    hearth_free(p);
    q = hearth_alloc(sizeof pages, 1, hearth_on(0));
    if (me == last && q == p)
        hearthi_write_through("MPI_Recv", number, p, pages, sizeof pages);
}

/* ---- atomic steps ---- */

static void
atomic_unaligned(void)
{
    char *p = page_new();

    if (me == last)
        hearth_fetch_add((int64_t *)(void *)(p + 4), 1);
}

static void
atomic_half(void)
{
    char *p = page_new();

    if (me == last)
        hearth_compare_swap32((int32_t *)(void *)(p + 2), 0, 1);
}

static void
atomic_crossing(void)
{
    char *p = page_new();

    if (me == last)
        hearth_fetch_add_double((double *)(void *)(p + page_bytes() - 4), 1);
}

static void
add_crossing(void)
{
    char *p = page_new();

    if (me == last)
        hearth_add((int64_t *)(void *)(p + 4), 1);
}

static void
wait_how(void)
{
    char *p = page_new();

    if (me == last)
        hearth_wait_until((int64_t *)(void *)p, HEARTH_LE + 1, 1);
}

static void
prefetchv_outside(void)
{
    static char outside;
    const void *places[2] = { page_new(), &outside };

    if (me == last)
        hearth_prefetchv(places, (size_t[]){ 1, 1 }, 2);
}

static void
read_mostly_outside(void)
{
    static char outside;

    if (me == last)
        hearth_read_mostly(&outside, 1);
}

static void
name_outside(void)
{
    static char outside;

    if (me == last)
        hearth_name(&outside, "outside");
}

static void
team_of_none(void)
{
    if (me == last)
        hearth_team_of(MPI_COMM_NULL);
}

static void
team_freed(void)
{
    hearth_team *t = hearth_team_of(MPI_COMM_WORLD);

    hearth_team_free(t);
    if (me == last)
        hearth_team_barrier(t);
}

static void
atomic_outside(void)
{
    static int64_t word;

    page_new();
    if (me == last)
        hearth_swap(&word, 1);
}

const struct badinput badinput_holds[] = {
    BADINPUT(hold_null),
    BADINPUT(hold_outside),
    BADINPUT(hold_beyond),
    BADINPUT(hold_freed),
    BADINPUT(hold_how_zero),
    BADINPUT(hold_how_unknown),
    BADINPUT(hold_too_much),
    BADINPUT(hold_too_scattered),
    BADINPUT(hold_too_often),
    BADINPUT(hold_after_finalize),
    BADINPUT(drop_not_held),
    BADINPUT(drop_twice),
    BADINPUT(free_held),
    BADINPUT(free_received),
    BADINPUT(hold_nothing),
    BADINPUT(atomic_unaligned),
    BADINPUT(atomic_half),
    BADINPUT(atomic_crossing),
    BADINPUT(atomic_outside),
    BADINPUT(add_crossing),
    BADINPUT(wait_how),
    BADINPUT(prefetchv_outside),
    BADINPUT(read_mostly_outside),
    BADINPUT(name_outside),
    BADINPUT(team_of_none),
    BADINPUT(team_freed),
    { 0 },
};
