/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The kernel allows a process so many mappings (vm.max_map_count, 65,530 by
 * default), and pages of different protection are different mappings: touch
 * every second page of a range that has more pages than twice that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixture.h"
#include "page/page.h"

static long
mappings_most(void)
{
    FILE *f = fopen("/proc/sys/vm/max_map_count", "r");
    long  count = 65530;

    if (f != NULL) {
        if (fscanf(f, "%ld", &count) != 1)
            count = 65530;
        fclose(f);
    }
    return count < 200000 ? count : 200000; /* as some distributions set it */
}

/* So many pages that every second one is a mapping too many. */
static int
pages_too_many(void)
{
    long count = mappings_most();

    /* Of longer pages as much memory: they do not come near the limit. */
    return 2 * (int)((count + 1000) * 4096 / (long)page_bytes());
}

static void
use_every_second_page(hearth_layout layout)
{
    int            pages = pages_too_many();
    unsigned char *p = hearth_alloc((size_t)pages * page_bytes(), 1, layout);
    long           wrong = 0;

    for (int i = me % 2; i < pages; i += 2) /* some read, some write */
        if (ranks == 1 || me % 2 == 1)
            p[(size_t)i * page_bytes()] = (unsigned char)(i / 2 + 1);
        else
            wrong += p[(size_t)i * page_bytes() + 9] != 0;
    expect_eq(wrong, 0);
    barrier();
    for (int i = 0; i < pages; i += 2) {
        int mine = ranks == 1 ? i : i + 1;

        wrong +=
            p[(size_t)mine * page_bytes()] != (unsigned char)(mine / 2 + 1);
    }
    expect_eq(wrong, 0);
    barrier();
    for (int i = 0; i < pages; i++)
        if (i % 3 == me % 3)
            p[(size_t)i * page_bytes() + 1 + (size_t)me] = 1;
    barrier();
    for (int i = me; i < pages; i += 97)
        for (int r = 0; r < ranks; r++)
            wrong += p[(size_t)i * page_bytes() + 1 + (size_t)r] !=
                     (i % 3 == r % 3);
    expect_eq(wrong, 0);
    hearth_free(p);
    all_expected();
}

START_TEST(copies_of_every_second_page)
{
    use_every_second_page(hearth_on(0));
}
END_TEST

/* Every second page has its home here, and the segment is compact. */
START_TEST(home_pages_dealt_one_by_one)
{
    use_every_second_page(hearth_cyclic(1));
}
END_TEST

START_TEST(home_pages_in_one_piece)
{
    use_every_second_page(hearth_block());
}
END_TEST

/* Between allocations of one page lie addresses that nobody has, so that each
 * is by itself.  Most of the kernel's mappings are the program's. */
enum { SINGLE = 8000, LAST = 8 }; /* LAST: of the fault that fills them */

static char *
mappings_take(size_t *bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    long   taken = mappings_most() * 2 / 3;
    char  *at;

    *bytes = (size_t)taken * page;
    at = mmap(NULL, *bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long i = 0; at != MAP_FAILED && i < taken; i += 2)
        mprotect(at + (size_t)i * page, page, PROT_READ);
    return at;
}

/* Of so many pages each. */
static void
lie_apart(size_t pages)
{
    static int64_t *word[SINGLE];
    size_t          bytes;
    char           *taken = mappings_take(&bytes);

    fixture_start();
    for (int i = 0; i < SINGLE; i++)
        word[i] = hearth_alloc(pages, page_bytes(), hearth_on(0));
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < SINGLE; i++)
            if (i / 2 % ranks == me)
                *word[i] += i;
        barrier();
        for (int i = 0; i < SINGLE; i++)
            expect_eq(*word[i], (k + 1) * i);
        expect(hearthi_table.areas <= hearthi_table.areas_max + LAST);
        barrier();
    }
    fixture_stop();
    if (taken != MAP_FAILED)
        munmap(taken, bytes);
    all_expected();
}

START_TEST(many_allocations_of_a_page_lie_apart)
{
    lie_apart(1);
}
END_TEST

START_TEST(many_allocations_of_some_pages_lie_apart)
{
    lie_apart(9);
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("mappings");
    TCase *tc = tcase_create("every second page");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, copies_of_every_second_page);
    tcase_add_test(tc, home_pages_dealt_one_by_one);
    tcase_add_test(tc, home_pages_in_one_piece);
    suite_add_tcase(s, tc);
    tc = tcase_create("single pages");
    tcase_add_test(tc, many_allocations_of_a_page_lie_apart);
    tcase_add_test(tc, many_allocations_of_some_pages_lie_apart);
    suite_add_tcase(s, tc);
    return mpi_main(argc, argv, s);
}
