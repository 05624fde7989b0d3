/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages that lie scattered, and those between them: what changes is protected
 * by few calls of the kernel, and what lies between stays as it was.
 */
#define _GNU_SOURCE /* syscall */

#include "scattered.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fixture.h"

/* Of PAGES pages every second one changes, so HALF of them. */
enum { PAGES = 256, HALF = PAGES / 2, FEW = 16 };

/* The last rank has copies of some pages of rank 0. */
static bool
is_taker(void)
{
    return me == ranks - 1 && apart(0, me);
}

static bool
is_home(void)
{
    return me == 0 && apart(0, ranks - 1);
}

/* For one start, unlike what the environment says, which `saved` is to keep.
 */
static void
option_set(const char *name, const char *value, char saved[static 64])
{
    const char *asked = getenv(name);

    snprintf(saved, 64, "%s", asked == NULL ? "" : asked);
    setenv(name, value, 1);
}

static void
option_restore(const char *name, const char *saved)
{
    if (*saved == '\0')
        unsetenv(name);
    else
        setenv(name, saved, 1);
}

/* Pages that move, or come in advance, have calls of their own. */
static void
start(bool watching)
{
    char migrate[64], protect[64];

    option_set("HEARTH_MIGRATE", "off", migrate);
    if (watching) {
        watching_start("PREDICT", "off");
    } else {
        option_set("HEARTH_PROTECT", "mprotect", protect);
        fixture_start_with("PREDICT", "off");
        option_restore("HEARTH_PROTECT", protect);
    }
    option_restore("HEARTH_MIGRATE", migrate);
}

static int
wrong_of(int64_t *p, int first, int step, int64_t value)
{
    int wrong = 0;

    for (int i = first; i < PAGES; i += step)
        wrong += *word(p, i) != value;
    return wrong;
}

static void
fill(int64_t *p, int first, int step, int64_t value)
{
    for (int i = first; i < PAGES; i += step)
        *word(p, i) = value;
}

/* Pages of rank 0.  The last rank has every step-th so that it keeps it, and
 * rank 0 is to tell of stores to these. */
static int64_t *
pages_taken(int step)
{
    int64_t *p =
        hearth_alloc((size_t)PAGES * page_words(), sizeof *p, hearth_on(0));

    if (me == 0)
        fill(p, 0, 1, 1);
    barrier();
    for (int k = 0; k < 6; k++) {
        if (is_taker())
            expect_eq(wrong_of(p, 0, step, 1), 0);
        barrier();
    }
    return p;
}

/* How many calls of this rank change protections in a barrier. */
static long
calls_of_barrier(void)
{
    long before = protections;

    barrier();
    return protections - before;
}

static void
end(int64_t *p)
{
    barrier();
    hearth_free(p);
    fixture_stop();
}

/* ---- home pages ---- */

static void
home_is_written(bool watching)
{
    int64_t *p;
    long     calls;

    start(watching);
    p = pages_taken(1);
    if (is_home())
        fill(p, 0, 2, 2);
    calls = calls_of_barrier();
    if (is_home())
        expect(calls <= FEW);
    if (is_taker()) {
        expect_eq(wrong_of(p, 0, 2, 2), 0);
        expect_eq(wrong_of(p, 1, 2, 1), 0);
    }
    barrier();
    if (is_home())
        fill(p, 1, 2, 3); /* those between are told of, as before */
    barrier();
    if (is_taker()) {
        expect_eq(wrong_of(p, 0, 2, 2), 0);
        expect_eq(wrong_of(p, 1, 2, 3), 0);
    }
    end(p);
}

START_TEST(a_barrier_protects_scattered_home_pages_together)
{
    home_is_written(false);
    home_is_written(true);
    all_expected();
}
END_TEST

/* What no other rank has ever had is written without a fault. */
START_TEST(a_private_page_between_shared_ones_stays_writable)
{
    hearth_stats before, after;
    int64_t     *p;

    start(false);
    p = pages_taken(2);
    if (is_home())
        fill(p, 0, 2, 2);
    barrier();
    hearth_get_stats(&before);
    if (is_home())
        fill(p, 1, 2, 2);
    hearth_get_stats(&after);
    expect_eq(after.write_faults - before.write_faults, 0);
    barrier();
    if (is_taker())
        expect_eq(wrong_of(p, 0, 1, 2), 0);
    end(p);
    all_expected();
}
END_TEST

/* The kernel writes there, which no fault can stop and open. */
static void
kernel_writes(int64_t *at, int64_t value)
{
    int ends[2];

    expect_eq(pipe(ends), 0);
    expect_eq(syscall(SYS_write, ends[1], &value, sizeof value), sizeof value);
    expect_eq(syscall(SYS_read, ends[0], at, sizeof value), sizeof value);
    close(ends[0]);
    close(ends[1]);
}

START_TEST(a_pinned_page_between_others_stays_writable)
{
    int64_t *p, *held;

    start(false);
    p = pages_taken(1);
    held = word(p, 101);
    if (is_home()) {
        hearth_hold(held, page_bytes(), HEARTH_WRITE);
        fill(p, 0, 2, 2);
    }
    barrier();
    if (is_home()) {
        kernel_writes(held, 5);
        expect_eq(*held, 5);
    }
    barrier();
    if (is_taker())
        expect_eq(*held, 5);
    barrier();
    if (is_home())
        hearth_drop(held, page_bytes(), HEARTH_WRITE);
    end(p);
    all_expected();
}
END_TEST

/* ---- copies ---- */

/* Those that were written are closed, and those between, which were not, go on
 * being copies. */
static void
copies_are_written(bool watching)
{
    hearth_stats before, after;
    int64_t     *p;
    long         calls;

    start(watching);
    p = pages_taken(1);
    if (is_taker())
        fill(p, 0, 2, 2);
    hearth_get_stats(&before);
    calls = calls_of_barrier();
    if (is_taker()) {
        expect(calls <= FEW);
        expect_eq(wrong_of(p, 0, 2, 2), 0);
        expect_eq(wrong_of(p, 1, 2, 1), 0);
    }
    hearth_get_stats(&after);
    expect_eq(after.getpages - before.getpages, 0);
    expect_eq(after.read_faults - before.read_faults, 0);
    if (is_taker())
        expect_eq(after.diffs - before.diffs, HALF);
    if (is_home()) {
        expect_eq(wrong_of(p, 0, 2, 2), 0);
        expect_eq(wrong_of(p, 1, 2, 1), 0);
    }
    barrier();
    if (is_taker())
        fill(p, 1, 2, 3); /* those between are told of, as before */
    barrier();
    if (is_home())
        expect_eq(wrong_of(p, 1, 2, 3), 0);
    end(p);
}

START_TEST(a_barrier_closes_scattered_copies_together)
{
    copies_are_written(false);
    copies_are_written(true);
    all_expected();
}
END_TEST

/* What lies between is written by its home: it is not here, or is on its way,
 * and no old bytes of a frame are shown for it. */
START_TEST(what_is_no_copy_between_closed_ones_is_none)
{
    int64_t *p;

    start(false);
    p = pages_taken(1);
    if (is_home())
        fill(p, 1, 2, 4);
    barrier(); /* those between are invalid, and have frames */
    if (is_taker())
        fill(p, 0, 2, 5);
    barrier();
    if (is_taker()) {
        expect_eq(wrong_of(p, 0, 2, 5), 0);
        expect_eq(wrong_of(p, 1, 2, 4), 0);
    }
    end(p);
    all_expected();
}
END_TEST

/* ---- copies that go ---- */

/* Copies every second page: the first time, which goes at the next barrier in
 * any case, and when its home has told of stores. */
static void
copies_go(bool watching)
{
    int64_t *p;
    long     calls;

    start(watching);
    p = hearth_alloc((size_t)PAGES * page_words(), sizeof *p, hearth_on(0));
    if (me == 0)
        fill(p, 0, 1, 1);
    barrier();
    for (int64_t turn = 1; turn < 6; turn++) {
        if (is_taker())
            expect_eq(wrong_of(p, 0, 2, turn), 0);
        barrier(); /* first copies go at the first of these */
        if (me == 0)
            fill(p, 0, 2, turn + 1);
        calls = calls_of_barrier();
        if (is_taker())
            expect(calls <= FEW);
    }
    if (is_taker()) {
        expect_eq(wrong_of(p, 0, 2, 6), 0);
        expect_eq(wrong_of(p, 1, 2, 1), 0);
    }
    end(p);
}

/* First copies lie in a list, in the order in which they came. */
static void
first_copies_go(bool watching)
{
    int64_t *p;
    long     calls;

    start(watching);
    p = hearth_alloc((size_t)PAGES * page_words(), sizeof *p, hearth_on(0));
    if (me == 0)
        fill(p, 0, 1, 1);
    barrier();
    if (is_taker())
        expect_eq(wrong_of(p, 0, 2, 1), 0);
    calls = calls_of_barrier();
    if (is_taker()) {
        expect(calls <= FEW);
        expect_eq(wrong_of(p, 0, 1, 1), 0);
    }
    end(p);
}

START_TEST(a_barrier_hides_scattered_copies_together)
{
    copies_go(false);
    copies_go(true);
    first_copies_go(false);
    first_copies_go(true);
    all_expected();
}
END_TEST

static void
some_are_dropped(bool watching)
{
    hearth_stats before, after;
    int64_t     *p;

    start(watching);
    p = pages_taken(1);
    if (is_home())
        fill(p, 0, 2, 2);
    barrier();
    hearth_get_stats(&before);
    if (is_taker())
        expect_eq(wrong_of(p, 1, 2, 1), 0);
    hearth_get_stats(&after);
    expect_eq(after.getpages - before.getpages, 0);
    expect_eq(after.read_faults - before.read_faults, 0);
    if (is_taker())
        expect_eq(wrong_of(p, 0, 2, 2), 0);
    end(p);
}

START_TEST(a_copy_between_dropped_ones_stays)
{
    some_are_dropped(false);
    some_are_dropped(true);
    all_expected();
}
END_TEST

/* So does one that is open, with what was stored there. */
START_TEST(an_open_copy_between_dropped_ones_stays_open)
{
    hearth_stats before, after;
    int64_t     *p;

    start(false);
    p = pages_taken(1);
    for (int64_t turn = 2; turn < 6; turn++) {
        if (is_home())
            fill(p, 0, 2, turn);
        hearth_get_stats(&before);
        if (is_taker())
            fill(p, 1, 2, turn); /* twice in a row, and it stays open */
        hearth_get_stats(&after);
        if (is_taker() && turn > 3)
            expect_eq(after.write_faults - before.write_faults, 0);
        barrier();
    }
    if (is_home())
        expect_eq(wrong_of(p, 0, 1, 5), 0);
    end(p);
    all_expected();
}
END_TEST

/* The kernel reads there, as it may at any moment: no fault brings it back. */
static int64_t
kernel_reads(const int64_t *at)
{
    int64_t got = 0;
    long    written;
    int     ends[2];

    expect_eq(pipe(ends), 0);
    written = syscall(SYS_write, ends[1], at, sizeof got);
    expect_eq(written, sizeof got);
    if (written == sizeof got)
        expect_eq(syscall(SYS_read, ends[0], &got, sizeof got), sizeof got);
    close(ends[0]);
    close(ends[1]);
    return got;
}

START_TEST(a_pinned_copy_between_dropped_ones_stays)
{
    int64_t *p, *held;

    start(false);
    p = pages_taken(1);
    held = word(p, 101);
    if (is_taker())
        hearth_hold(held, page_bytes(), HEARTH_READ);
    barrier();
    if (is_home())
        fill(p, 0, 1, 2); /* one notice names all of them */
    barrier();
    if (is_taker()) {
        expect_eq(kernel_reads(held), 2);
        hearth_drop(held, page_bytes(), HEARTH_READ);
        expect_eq(wrong_of(p, 0, 1, 2), 0);
    }
    end(p);
    all_expected();
}
END_TEST

void
hulls_tests(TCase *tc)
{
    tcase_add_test(tc, a_barrier_protects_scattered_home_pages_together);
    tcase_add_test(tc, a_private_page_between_shared_ones_stays_writable);
    tcase_add_test(tc, a_pinned_page_between_others_stays_writable);
    tcase_add_test(tc, a_barrier_closes_scattered_copies_together);
    tcase_add_test(tc, what_is_no_copy_between_closed_ones_is_none);
    tcase_add_test(tc, a_barrier_hides_scattered_copies_together);
    tcase_add_test(tc, a_copy_between_dropped_ones_stays);
    tcase_add_test(tc, an_open_copy_between_dropped_ones_stays_open);
    tcase_add_test(tc, a_pinned_copy_between_dropped_ones_stays);
}
