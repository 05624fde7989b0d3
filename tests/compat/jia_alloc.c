/* SPDX-License-Identifier: BSD-2-Clause
 *
 * jia.h's allocations: where their pages are at home, and what they hold.
 */
#include "jia_alloc.h"

#include <hearth/jia.h>
#include <stdio.h>

#include "fixture.h"
#include "jia/jia_start.h"

/* True if page i of an allocation has its home on that host, for all pages of
 * the list, which ends with -1. */
static bool
homes_are(unsigned long base, const int *host)
{
    for (int i = 0; host[i] >= 0; i++) {
        const char *page = (const char *)base + (size_t)i * page_bytes();

        if (hearth_home(page) != host[i] % jiahosts) {
            printf("page %d has its home on %d, not %d\n", i,
                   hearth_home(page), host[i] % jiahosts);
            return false;
        }
    }
    return true;
}

#define HOMES(base, ...) homes_are((base), (const int[]){ __VA_ARGS__, -1 })

START_TEST(memory_is_zero_aligned_and_shared)
{
    unsigned long base = jia_alloc3(5 * page_bytes() + 1, page_bytes(), 0);
    int          *p = (int *)base, sum = 0;

    all_assert(base % page_bytes() == 0);
    for (int i = 0; i < 5 * (int)page_bytes() / 4; i++)
        sum |= p[i];
    all_assert(sum == 0);
    jia_barrier();
    /* Neighbouring words of 4 bytes, written at the same time. */
    p[jiapid] = 10 + jiapid;
    p[page_bytes() / 4 + jiapid] = 20 + jiapid;
    jia_barrier();
    for (int i = 0; i < jiahosts; i++)
        sum += p[i] == 10 + i && p[page_bytes() / 4 + i] == 20 + i;
    all_assert(sum == jiahosts);
}
END_TEST

START_TEST(alloc_goes_round_the_hosts)
{
    int first = hearth_home((void *)jia_alloc(1));

    for (int i = first + 1; i < first + 6; i++)
        all_assert(HOMES(jia_alloc(2 * page_bytes()), i, i));
}
END_TEST

START_TEST(alloc1_is_at_home_on_host_0)
{
    all_assert(HOMES(jia_alloc1(3 * page_bytes()), 0, 0, 0));
}
END_TEST

START_TEST(alloc2_deals_blocks_from_host_0)
{
    all_assert(HOMES(jia_alloc2(6 * page_bytes(), 2 * page_bytes()), 0, 0, 1,
                     1, 2, 2));
}
END_TEST

START_TEST(alloc2p_is_at_home_on_one_host)
{
    int last = jiahosts - 1;

    all_assert(HOMES(jia_alloc2p(3 * page_bytes(), last), last, last, last));
}
END_TEST

START_TEST(alloc3_deals_blocks_from_the_starting_host)
{
    int s = jiahosts - 1;

    all_assert(HOMES(jia_alloc3(4 * page_bytes(), page_bytes(), s), s, s + 1,
                     s + 2, s + 3));
    /* Blocks are rounded up to pages, and the last one is whole. */
    all_assert(HOMES(jia_alloc3(2 * page_bytes() + 1, page_bytes() + 1, s), s,
                     s, s + 1, s + 1));
}
END_TEST

/* A round ends where host 0 comes next. */
START_TEST(alloc4_changes_the_block_at_host_0)
{
    const int     blocks[] = { page_bytes(), 2 * page_bytes() };
    int           s = jiahosts - 1;
    unsigned long base = jia_alloc4(12 * page_bytes(), blocks, 2, s);
    int           want[32], n = 0;

    for (int host = s, round = 0; n < 12; host = (host + 1) % jiahosts) {
        for (int i = 0; i < blocks[round % 2] / (int)page_bytes(); i++)
            want[n++] = host;
        round += host == jiahosts - 1;
    }
    want[n] = -1;
    all_assert(homes_are(base, want));
}
END_TEST

START_TEST(alloc_array_gives_each_host_its_own_size)
{
    const int blocks[] = { page_bytes(), 3 * page_bytes() };

    if (jiahosts == 1)
        all_assert(
            HOMES(jia_alloc_array(4 * page_bytes(), blocks, 1), 0, 0, 0, 0));
    else
        all_assert(HOMES(jia_alloc_array(5 * page_bytes(), blocks, 2), 0, 1, 1,
                         1, 2));
}
END_TEST

START_TEST(alloc_random_is_the_same_everywhere)
{
    for (int i = 0; i < 8; i++) {
        unsigned long p = jia_alloc_random(2 * page_bytes()),
                      others[2] = { p, ~p };
        int home = hearth_home((void *)p);

        all_assert(home >= 0 && home < jiahosts);
        all_assert(HOMES(p, home, home));
        MPI_Allreduce(MPI_IN_PLACE, others, 2, MPI_UNSIGNED_LONG, MPI_MAX,
                      MPI_COMM_WORLD);
        all_assert(others[0] == p && others[1] == ~p);
    }
}
END_TEST

/* Written by all, and copied, before it is freed. */
START_TEST(what_was_freed_is_used_again_and_zero)
{
    unsigned long first = 0;

    for (int k = 0; k < 3; k++) {
        unsigned long base = jia_alloc2(4 * page_bytes(), page_bytes());
        int          *p = (int *)base, sum = 0;

        for (int i = 0; i < 4 * (int)page_bytes() / 4; i++)
            sum |= p[i];
        all_assert(sum == 0);
        jia_barrier();
        for (int i = jiapid; i < 4 * (int)page_bytes() / 4; i += jiahosts)
            p[i] = i + 1;
        jia_barrier();
        for (int i = 0; i < 4 * (int)page_bytes() / 4; i++)
            sum += p[i] != i + 1;
        all_assert(sum == 0);
        if (k == 0)
            first = base;
        all_assert(base == first);
        if (k % 2 == 0)
            jia_free(base);
        else
            jia_free(p);
        all_assert(hearth_home((void *)base) == -1);
    }
    jia_free(0);
    jia_free(NULL);
}
END_TEST

void
jia_alloc_tests(TCase *c)
{
    tcase_add_test(c, memory_is_zero_aligned_and_shared);
    tcase_add_test(c, alloc_goes_round_the_hosts);
    tcase_add_test(c, alloc1_is_at_home_on_host_0);
    tcase_add_test(c, alloc2_deals_blocks_from_host_0);
    tcase_add_test(c, alloc2p_is_at_home_on_one_host);
    tcase_add_test(c, alloc3_deals_blocks_from_the_starting_host);
    tcase_add_test(c, alloc4_changes_the_block_at_host_0);
    tcase_add_test(c, alloc_array_gives_each_host_its_own_size);
    tcase_add_test(c, alloc_random_is_the_same_everywhere);
    tcase_add_test(c, what_was_freed_is_used_again_and_zero);
}
