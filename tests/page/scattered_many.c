/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Copies that lie scattered: many more than the kernel has mappings for, with
 * userfaultfd.
 */
#include "scattered.h"

#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "fixture.h"
#include "space/heap.h"

/* 28,000 scattered copies are all that the kernel's mappings allow.  So many of
 * 4 KiB; of longer pages it is as much memory, and more pages than FEW_MAPPINGS.
 */
enum { MANY = 80000, FEWER = 60000, FEW_MAPPINGS = 64 };

static double
gib_free(void)
{
    struct statvfs shm;

    if (statvfs("/dev/shm", &shm) != 0)
        return 0;
    return (double)shm.f_bavail * (double)shm.f_frsize / (1 << 30);
}

/* Every rank has them, and rank 0 the home memory of twice as many. */
static int
how_many(void)
{
    double least = gib_free(), memory;
    double longer = (double)page_bytes() / 4096;
    int    all;

    memory = (double)sysconf(_SC_AVPHYS_PAGES) *
             (double)sysconf(_SC_PAGESIZE) / (1 << 30);
    if (memory < least)
        least = memory;
    all = (int)((watched() && least > 2 + ranks ? MANY : FEWER) / longer);
    MPI_Bcast(&all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return all;
}

/* Mappings of the kernel in the application view. */
static int
mappings(void)
{
    const unsigned long low = (unsigned long)hearthi_heap.base;
    FILE               *f = fopen("/proc/self/maps", "r");
    char                line[512];
    unsigned long       from;
    int                 n = 0;

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        n += sscanf(line, "%lx-", &from) == 1 &&
             from - low < hearthi_heap.bytes;
    if (f != NULL)
        fclose(f);
    return n;
}

/* Every second page, in no order: 7919 is prime. */
static int
nth(int k, int n)
{
    return (int)((int64_t)k * 7919 % n) * 2;
}

static int
wrong_of(int64_t *p, int n, int turn)
{
    int wrong = 0;

    for (int k = 0; k < n; k++)
        wrong += *word(p, nth(k, n)) != value_of(nth(k, n), turn);
    return wrong;
}

static void
fill(int64_t *p, int n, int turn)
{
    for (int k = 0; k < n; k++)
        *word(p, nth(k, n)) = value_of(nth(k, n), turn);
}

/* What a round costs beyond touching memory. */
static void
round_check(int64_t *p, int n, int turn, bool again)
{
    struct hearth_stats before, after;

    hearth_get_stats(&before);
    expect_eq(wrong_of(p, n, turn), 0);
    hearth_get_stats(&after);
    if (!watched())
        return;
    expect_eq(after.evictions - before.evictions, 0);
    if (again)
        expect_eq(after.getpages - before.getpages, 0);
    expect(mappings() < FEW_MAPPINGS);
}

START_TEST(scattered_copies_stay_however_many)
{
    int      n;
    int64_t *p;

    fixture_start_with("CACHE", "1g");
    n = how_many();
    p = hearth_alloc((size_t)2 * (size_t)n * page_bytes() / sizeof *p,
                     sizeof *p, hearth_on(0));
    if (me == 0)
        fill(p, n, 1);
    barrier();
    if (me == ranks - 1) {
        round_check(p, n, 1, false);
        round_check(p, n, 1, true);
        fill(p, n, 2);
        expect(!watched() || mappings() < FEW_MAPPINGS);
        round_check(p, n, 2, true);
    }
    barrier();
    if (me == 0)
        expect_eq(wrong_of(p, n, 2), 0);
    barrier();
    hearth_free(p);
    fixture_stop();
    all_expected();
}
END_TEST

/* Each has a mapping of its own where nothing beside it is watched, and what
 * is between is one, too: 2 * APART are more than the kernel has. */
enum { APART = 36000, STEP = 1024 };

START_TEST(copies_may_lie_far_from_each_other)
{
    int64_t *p;
    int      n;

    fixture_start_with("CACHE", "1g");
    n = (int)(APART * (size_t)4096 / page_bytes()); /* in the default heap */
    if (ranks == 1 || !apart(0, 1))
        n = 2; /* the home memory of rank 0 is in /dev/shm */
    p = hearth_alloc((size_t)n * STEP * page_bytes() / sizeof *p, sizeof *p,
                     hearth_on(0));
    for (int i = 0; me == 0 && i < n; i++)
        *word(p, i * STEP) = i;
    barrier();
    for (int turn = 0; me == ranks - 1 && turn < 2; turn++)
        for (int k = 0, i; k < n; k++) {
            i = nth(k, n) / 2 * STEP;
            expect_eq(*word(p, i), i / STEP + turn);
            ++*word(p, i);
        }
    barrier();
    /* A second fetch tells the home of all first ones: there each page has a
     * mapping of its own from now on, too. */
    if (me == ranks - 1)
        expect_eq(*word(p, 0), 2);
    barrier();
    barrier();
    for (int i = 0; me == 0 && i < n; i++)
        expect_eq(*word(p, i * STEP), i + 2);
    barrier();
    hearth_free(p);
    fixture_stop();
    all_expected();
}
END_TEST

void
scattered_many(TCase *tc)
{
    tcase_add_test(tc, scattered_copies_stay_however_many);
    tcase_add_test(tc, copies_may_lie_far_from_each_other);
}
