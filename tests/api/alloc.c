/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Allocations: layouts and homes, zeroes, the same address, free.
 */
#include "alloc.h"

static bool
same_everywhere(const void *p)
{
    uint64_t mine = (uint64_t)(uintptr_t)p, both[2] = { mine, ~mine }, got[2];

    MPI_Allreduce(both, got, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    return got[0] == mine && got[1] == ~mine;
}

/* Block: a page that two parts share may be at home with either. */
static bool
block_home_is_right(size_t page, size_t bytes, int home)
{
    size_t first = bytes * (size_t)home / (size_t)ranks;
    size_t end =
        (bytes * ((size_t)home + 1) + (size_t)ranks - 1) / (size_t)ranks;

    return page * page_bytes() < end && (page + 1) * page_bytes() > first;
}

static bool
home_is_right(hearth_layout layout, size_t page, size_t bytes, int home)
{
    if (home < 0 || home >= ranks)
        return false;
    switch (layout.kind) {
    case HEARTH_BLOCK:
    case HEARTH_FIRST_TOUCH: return block_home_is_right(page, bytes, home);
    case HEARTH_CYCLIC:
        return home == (int)(page / layout.pages % (size_t)ranks);
    case HEARTH_ON: return home == layout.rank;
    }
    return false;
}

/* An allocation as it should be: aligned, zero, at home where the layout
 * says, in the order of ranks if it says so. */
static bool
allocation_is_right(const unsigned char *p, size_t bytes, hearth_layout layout)
{
    size_t pages = (bytes + page_bytes() - 1) / page_bytes();
    int    last = 0;

    if (p == NULL || (uintptr_t)p % page_bytes() != 0)
        return false;
    for (size_t i = 0; i < bytes; i += 7)
        if (p[i] != 0)
            return false;
    for (size_t i = 0; i < pages; i++) {
        int home = hearth_home(p + i * page_bytes());

        if (!home_is_right(layout, i, bytes, home) ||
            (layout.kind == HEARTH_BLOCK && home < last))
            return false;
        last = home;
    }
    return hearth_home(p + bytes - 1) == last;
}

START_TEST(each_layout_has_its_homes)
{
    const size_t page = page_bytes();
    const size_t sizes[] = { 1,        page - 1, page,         page + 1,
                             4 * page, 5 * page, 7 * page + 9, 40 * page - 1 };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        hearth_layout layouts[] = { hearth_block(),
                                    hearth_cyclic(1),
                                    hearth_cyclic(3),
                                    hearth_on(0),
                                    hearth_on(ranks - 1),
                                    hearth_on_cluster(0),
                                    hearth_within(hearth_cyclic(3), 1) };
        for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
            unsigned char *p = hearth_alloc(sizes[i], 1, layouts[k]);

            all_assert(same_everywhere(p));
            all_assert(allocation_is_right(p, sizes[i], layouts[k]));
            hearth_free(p);
            all_assert(hearth_home(p) == -1);
        }
    }
}
END_TEST

START_TEST(home_is_none_outside_of_allocations)
{
    int   local;
    char *p = hearth_alloc(page_bytes(), 1, hearth_on(0));

    all_assert(hearth_home(NULL) == -1);
    all_assert(hearth_home(&local) == -1);
    all_assert(hearth_home(p) == 0);
    all_assert(hearth_home((void *)~(uintptr_t)0) == -1);
    hearth_free(NULL);
    hearth_free(p);
}
END_TEST

/* Everybody caches and writes everything, then the memory is freed and given
 * out again: nobody may see what was there. */
START_TEST(memory_is_zero_again_after_free)
{
    const size_t bytes = 6 * page_bytes();

    for (int round = 0; round < 8; round++) {
        hearth_layout layout =
            round % 2 ? hearth_cyclic(1) : hearth_on(round / 2 % ranks);
        unsigned char *p = hearth_alloc(bytes, 1, layout);

        all_assert(allocation_is_right(p, bytes, layout));
        for (size_t i = (size_t)me; i < bytes; i += (size_t)ranks)
            p[i] = (unsigned char)(round + 1);
        barrier();
        for (size_t i = 0; i < bytes; i += 5)
            expect_eq(p[i], round + 1);
        hearth_free(p);
        all_expected();
    }
}
END_TEST

/* A rank that is done early may write at once: zeroing must not come after. */
START_TEST(a_new_allocation_may_be_written_at_once)
{
    for (int round = 0; round < 10; round++) {
        unsigned char *p = hearth_alloc((size_t)ranks * 3 * page_bytes(), 1,
                                        hearth_cyclic(2));

        for (size_t i = (size_t)me; i < (size_t)ranks * 3 * page_bytes();
             i += (size_t)ranks)
            p[i] = (unsigned char)(me + 1);
        barrier();
        for (size_t i = 0; i < (size_t)ranks * 3 * page_bytes(); i++)
            expect_eq(p[i], i % (size_t)ranks + 1);
        hearth_free(p);
        all_expected();
    }
}
END_TEST

START_TEST(many_allocations_are_freed_in_any_order)
{
    enum { COUNT = 60 };
    unsigned char *p[COUNT] = { NULL };
    uint64_t       random = 5;

    for (int step = 0; step < 4 * COUNT; step++) {
        int    i = (int)(hearthi_random(&random) % COUNT);
        size_t bytes = hearthi_random(&random) % (6 * page_bytes()) + 1;
        int    owner = (int)(hearthi_random(&random) % (uint64_t)ranks);

        if (p[i] != NULL) {
            expect_eq(p[i][0], i + 1);
            hearth_free(p[i]);
            p[i] = NULL;
            continue;
        }
        p[i] = hearth_alloc(bytes, 1, hearth_on(owner));
        expect_eq(p[i][bytes - 1], 0);
        barrier();
        if (me == step % ranks) {
            p[i][0] = (unsigned char)(i + 1);
            p[i][bytes - 1] = (unsigned char)(i + 1);
        }
        barrier();
    }
    for (int i = 0; i < COUNT; i++)
        hearth_free(p[i]);
    all_expected();
}
END_TEST

/* Freed memory is used again, or this would need more than there is. */
START_TEST(free_gives_memory_back)
{
    for (int i = 0; i < 40; i++) {
        unsigned char *p = hearth_alloc(8 << 20, 1, hearth_on(i % ranks));

        p[(size_t)me * page_bytes()] = 1;
        hearth_free(p);
    }
    all_expected();
}
END_TEST

static void
start_with_little_memory(void)
{
    fixture_start_with("HOME", "20m");
}

TCase *
allocations(void)
{
    TCase *tc = tcase_create("allocations");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, each_layout_has_its_homes);
    tcase_add_test(tc, home_is_none_outside_of_allocations);
    tcase_add_test(tc, memory_is_zero_again_after_free);
    tcase_add_test(tc, a_new_allocation_may_be_written_at_once);
    tcase_add_test(tc, many_allocations_are_freed_in_any_order);
    return tc;
}

TCase *
allocations_in_little_memory(void)
{
    TCase *tc = tcase_create("little memory");

    tcase_add_unchecked_fixture(tc, start_with_little_memory, fixture_stop);
    tcase_add_test(tc, free_gives_memory_back);
    return tc;
}
