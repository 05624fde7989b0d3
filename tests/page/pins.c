/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Held pages and false sharing: what a device writes into a part of a page,
 * while other ranks write other parts of it.
 */
#include <config.h>

#include "pins.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGES = 12, ROUNDS = 12 };

/* ---- the device ---- */

/* Each thread has its own: what one leaves there no other finds. */
static int
device(void)
{
    static _Thread_local int fd = -1;

    if (fd < 0)
        fd = memfd_create("device", MFD_CLOEXEC);
    return fd;
}

static size_t
moved(long n)
{
    return n < 0 ? 0 : (size_t)n;
}

/* System calls without the C library: nothing stands in front of them. */
size_t
device_in(void *heap, const void *from, size_t n)
{
    syscall(SYS_pwrite64, device(), from, n, 0L);
    return moved(syscall(SYS_pread64, device(), heap, n, 0L));
}

size_t
device_out(void *to, const void *heap, size_t n)
{
    size_t got = moved(syscall(SYS_pwrite64, device(), heap, n, 0L));

    return moved(syscall(SYS_pread64, device(), to, got, 0L));
}

bool
device_sets(void *heap, int value, size_t n)
{
    char  *from = malloc(n);
    size_t done;

    memset(from, value, n);
    done = device_in(heap, from, n);
    free(from);
    return done == n;
}

bool
device_finds(const void *heap, int value, size_t n)
{
    unsigned char *to = malloc(n);
    bool           good = device_out(to, heap, n) == n;

    for (size_t i = 0; good && i < n; i++)
        good = to[i] == (unsigned char)value;
    free(to);
    return good;
}

/* ---- pages ---- */

unsigned char *
bytes_new(size_t pages)
{
    return hearth_alloc(pages * page_bytes() + 1, 1, hearth_cyclic(1));
}

hearth_stats
counted(void)
{
    hearth_stats s;

    hearth_get_stats(&s);
    return s;
}

static unsigned char
value(int r, int round)
{
    return (unsigned char)(1 + (r * 31 + round * 7) % 250);
}

/* ---- litmus tests ---- */

static void
parts_write(unsigned char *p, int round)
{
    for (size_t i = 0; i < PAGES; i++)
        expect(device_sets(part(p, i, me), value(me, round), PART));
}

/* By loads and by the device. */
static void
parts_check(unsigned char *p, int r, int round)
{
    for (size_t i = 0; i < PAGES; i++) {
        expect_eq(*part(p, i, r), value(r, round));
        expect(device_finds(part(p, i, r), value(r, round), PART));
    }
}

START_TEST(what_a_device_writes_into_held_pages_meets_what_others_do)
{
    unsigned char *p = bytes_new(PAGES);

    hearth_hold(p, PAGES * page_bytes(), HEARTH_WRITE);
    for (int round = 0; round < ROUNDS; round++) {
        parts_write(p, round);
        barrier();
        for (int r = 0; r < ranks; r++)
            parts_check(p, r, round);
        barrier();
    }
    hearth_drop(p, PAGES * page_bytes(), HEARTH_WRITE);
    barrier();
    for (int r = 0; r < ranks; r++)
        for (size_t i = 0; i < PAGES; i++)
            expect_eq(part(p, i, r)[PART - 1], value(r, ROUNDS - 1));
    hearth_free(p);
    all_expected();
}
END_TEST

/* Ranks that hold and ranks that do not, each in turn. */
START_TEST(holders_and_others_share_a_page)
{
    unsigned char *p = bytes_new(PAGES);

    for (int round = 0; round < ROUNDS; round++) {
        bool holds = (round + me) % 2 == 0;

        if (holds) {
            hearth_hold(p, PAGES * page_bytes(), HEARTH_READ | HEARTH_WRITE);
            parts_write(p, round);
        }
        for (size_t i = 0; !holds && i < PAGES; i++)
            memset(part(p, i, me), value(me, round), PART);
        barrier();
        for (int r = 0; r < ranks; r++)
            for (size_t i = 0; i < PAGES; i++)
                expect_eq(part(p, i, r)[i], value(r, round));
        barrier();
        if (holds)
            hearth_drop(p, PAGES * page_bytes(), HEARTH_READ | HEARTH_WRITE);
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Rounds of each rank under one lock, which say how far each has come in words
 * of a page that all hold, too. */
START_TEST(held_pages_follow_a_lock)
{
    unsigned char *p = bytes_new(PAGES);
    int64_t       *come = pages_new(1);

    hearth_hold(p, PAGES * page_bytes(), HEARTH_WRITE);
    hearth_hold(come, page_bytes(), HEARTH_WRITE);
    for (int round = 1; round <= ROUNDS; round++) {
        hearth_lock(5);
        for (int r = 0; r < ranks; r++)
            if (come[r] > 0)
                parts_check(p, r, (int)come[r]);
        parts_write(p, round);
        come[me] = round;
        hearth_unlock(5);
        dawdle();
    }
    barrier();
    for (int r = 0; r < ranks; r++)
        parts_check(p, r, ROUNDS);
    hearth_drop(come, page_bytes(), HEARTH_WRITE);
    hearth_drop(p, PAGES * page_bytes(), HEARTH_WRITE);
    hearth_free(come);
    hearth_free(p);
    all_expected();
}
END_TEST

/* A token goes round by flags, with what was written before each. */
START_TEST(held_pages_follow_a_flag)
{
    unsigned char *p = bytes_new(PAGES);

    hearth_hold(p, PAGES * page_bytes(), HEARTH_WRITE);
    for (int round = 0; round < 3; round++) {
        if (me > 0)
            hearth_flag_wait(me - 1);
        for (int r = 0; r < me; r++)
            parts_check(p, r, round);
        parts_write(p, round);
        hearth_flag_set(me);
        barrier();
        hearth_flag_reset(me);
        barrier();
    }
    hearth_drop(p, PAGES * page_bytes(), HEARTH_WRITE);
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- all of it again ---- */

static void
start_large(void)
{
    fixture_start_with("PAGE_SIZE", "64k");
}

static void
litmus_add(Suite *s, const char *name, SFun start)
{
    TCase *tc = tcase_create(name);

    tcase_add_unchecked_fixture(tc, start, fixture_stop);
    tcase_add_test(tc,
                   what_a_device_writes_into_held_pages_meets_what_others_do);
    tcase_add_test(tc, holders_and_others_share_a_page);
    tcase_add_test(tc, held_pages_follow_a_lock);
    tcase_add_test(tc, held_pages_follow_a_flag);
    holds_beside(tc);
    suite_add_tcase(s, tc);
}

int
main(int argc, char **argv)
{
    Suite *s = suite_create("holds");

    litmus_add(s, "litmus", fixture_start);
    litmus_add(s, "large pages", start_large);
    holds_rules(s);
    holds_acquires(s);
    return mpi_main(argc, argv, s);
}
