/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Diffs against a loop over units.  Every test runs for the library's diff
 * and for the portable one, which other machines than x86-64 and aarch64 get.
 */
#include "notice/diff.h"

#include <string.h>
#include <sys/mman.h>

#include "harness.h"
#include "property.h"

size_t portable_diff(const void *page, const void *twin, size_t size,
                     unsigned unit, struct hearthi_run *out);
struct hearthi_changed portable_diff_masks(const void *page, const void *twin,
                                           size_t size, unsigned unit,
                                           uint64_t *mask);
size_t                 portable_mask_runs(const uint64_t *mask, size_t blocks,
                                          struct hearthi_run *out);
#define hearthi_diff       portable_diff
#define hearthi_diff_masks portable_diff_masks
#define hearthi_mask_runs  portable_mask_runs
#undef __SSE2__
#undef __ARM_NEON
#include "notice/diff.c"
#undef hearthi_diff
#undef hearthi_diff_masks
#undef hearthi_mask_runs

enum { LARGEST = 2 << 20, SLACK = 64, CASES = 4000 };

static const uint32_t UNTOUCHED = 0xa5a5a5a5;

/* By way of masks. */
static size_t
masks_check(struct hearthi_changed c, const uint64_t *mask, size_t size,
            struct hearthi_run *out)
{
    size_t n = hearthi_mask_runs(mask, size / 64, out), bytes = 0;

    for (size_t i = 0; i < n; i++)
        bytes += out[i].len;
    if (c.runs != n || c.bytes != bytes)
        ck_abort_msg("%zu runs of %zu bytes, not %zu of %zu", c.runs, c.bytes,
                     n, bytes);
    return n;
}

static uint64_t masks[LARGEST / 64];

static size_t
masked_diff(const void *page, const void *twin, size_t size, unsigned unit,
            struct hearthi_run *out)
{
    return masks_check(hearthi_diff_masks(page, twin, size, unit, masks),
                       masks, size, out);
}

static size_t
portable_masked_diff(const void *page, const void *twin, size_t size,
                     unsigned unit, struct hearthi_run *out)
{
    return masks_check(portable_diff_masks(page, twin, size, unit, masks),
                       masks, size, out);
}

static size_t (*const diff[])(const void *, const void *, size_t, unsigned,
                              struct hearthi_run *) = {
    hearthi_diff, portable_diff, masked_diff, portable_masked_diff
};
enum { DIFFS = sizeof diff / sizeof *diff };

static const unsigned units[] = { 1, 4, 8 };

/* Bytes that end where the next page of memory may not be touched, so that
 * reading beyond is a crash. */
static char *
fenced_new(void)
{
    size_t page = 64 << 10, all = LARGEST + 2 * page;
    char  *p = mmap(NULL, all, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert(p != MAP_FAILED);
    ck_assert(mprotect(p + all - page, page, PROT_NONE) == 0);
    return p + all - page;
}

static char               *page_end, *twin_end;
static struct hearthi_run *found, *wanted;

static void
setup(void)
{
    page_end = fenced_new();
    twin_end = fenced_new();
    found = malloc((LARGEST / 2 + 1 + SLACK) * sizeof *found);
    wanted = malloc((LARGEST / 2 + 1) * sizeof *wanted);
    ck_assert(found != NULL && wanted != NULL);
}

static size_t
naive_diff(const char *page, const char *twin, size_t size, unsigned unit)
{
    size_t n = 0;
    bool   open = false;

    for (size_t i = 0; i < size; i += unit) {
        bool differs = memcmp(page + i, twin + i, unit) != 0;

        if (differs && !open)
            wanted[n++] = (struct hearthi_run){ (uint32_t)i, 0 };
        if (differs)
            wanted[n - 1].len += unit;
        open = differs;
    }
    return n;
}

/* True if nothing was written past the room that the contract asks for. */
static bool
is_untouched(const struct hearthi_run *run)
{
    for (size_t i = 0; i < SLACK; i++)
        if (run[i].off != UNTOUCHED || run[i].len != UNTOUCHED)
            return false;
    return true;
}

/* Compare with the naive answer.  (A ck_assert that holds costs a system
 * call, too much for the inside of these loops.) */
static size_t
check(int which, const char *page, const char *twin, size_t size,
      unsigned unit, int number)
{
    size_t room = size / (2 * unit) + 1;
    size_t n, i, want = naive_diff(page, twin, size, unit);

    for (i = 0; i < SLACK; i++)
        found[room + i] = (struct hearthi_run){ UNTOUCHED, UNTOUCHED };
    n = diff[which](page, twin, size, unit, found);
    if (n != want)
        ck_abort_msg("case %d: %zu runs, not %zu (size %zu unit %u)", number,
                     n, want, size, unit);
    for (i = 0; i < n && found[i].off == wanted[i].off &&
                found[i].len == wanted[i].len;
         i++)
        ;
    if (i < n)
        ck_abort_msg("case %d: run %zu is %u+%u, not %u+%u (size %zu unit "
                     "%u)",
                     number, i, found[i].off, found[i].len, wanted[i].off,
                     wanted[i].len, size, unit);
    if (!is_untouched(found + room))
        ck_abort_msg("case %d: more than %zu runs written", number, room);
    return n;
}

static void
check_units(int which, const char *page, const char *twin, size_t size,
            int number)
{
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        check(which, page, twin, size, units[u], number);
}

/* Change stretches of a page: lengths and gaps from bytes to blocks, and the
 * new bytes may by chance be the old ones. */
static void
page_change(uint64_t *s, char *page, size_t size)
{
    size_t longest = (size_t)1 << (1 + below(s, 12));
    size_t gap = (size_t)1 << (1 + below(s, 12));
    bool   sure = below(s, 2);

    for (size_t i = below(s, gap); i < size; i += below(s, gap)) {
        size_t len = 1 + below(s, longest);

        for (; len > 0 && i < size; len--, i++)
            page[i] = (char)(page[i] + (sure ? 1 : (int)below(s, 3)));
    }
}

START_TEST(a_diff_is_what_a_loop_over_units_finds)
{
    for (int i = 0; i < CASES; i++) {
        uint64_t s = case_start(i);
        size_t   size = 64 * (1 + below(&s, i % 16 == 0 ? 1024 : 96));
        char    *page = page_end - size - (below(&s, 2) ? below(&s, 64) : 0);
        char    *twin = twin_end - size - (below(&s, 2) ? below(&s, 64) : 0);

        for (size_t k = 0; k < size; k++)
            twin[k] = (char)hearthi_random(&s);
        memcpy(page, twin, size);
        page_change(&s, page, size);
        check_units(_i, page, twin, size, i);
    }
}
END_TEST

START_TEST(the_runs_of_a_diff_turn_the_twin_into_the_page)
{
    enum { SIZE = 4096 };

    for (int i = 0; i < CASES / 4; i++) {
        uint64_t s = case_start(i);
        char    *page = page_end - SIZE, *twin = twin_end - SIZE;
        unsigned unit = units[below(&s, 3)];
        size_t   n;

        memset(twin, (int)below(&s, 256), SIZE);
        memcpy(page, twin, SIZE);
        page_change(&s, page, SIZE);
        n = diff[_i](page, twin, SIZE, unit, found);
        while (n-- > 0)
            memcpy(twin + found[n].off, page + found[n].off, found[n].len);
        ck_assert_msg(memcmp(page, twin, SIZE) == 0, "case %d", i);
    }
}
END_TEST

START_TEST(a_single_bit_is_found_alone_wherever_it_is)
{
    enum { SIZE = 256 };
    char *page = page_end - SIZE, *twin = twin_end - SIZE;

    memset(page, 0x5a, SIZE);
    memset(twin, 0x5a, SIZE);
    for (int bit = 0; bit < SIZE * 8; bit++) {
        page[bit / 8] = (char)(0x5a ^ 1 << bit % 8);
        check_units(_i, page, twin, SIZE, bit);
        ck_assert_uint_eq(diff[_i](page, twin, SIZE, 1, found), 1);
        page[bit / 8] = 0x5a;
    }
}
END_TEST

START_TEST(one_run_is_found_whole_wherever_it_begins_and_ends)
{
    enum { SIZE = 320 };
    char *page = page_end - SIZE, *twin = twin_end - SIZE;

    memset(twin, 0, SIZE);
    for (int from = 0; from < SIZE; from++) {
        memset(page, 0, SIZE);
        for (int to = from; to < SIZE; to++) {
            page[to] = 1;
            for (size_t u = 0; u < 3; u++)
                ck_assert_uint_eq(check(_i, page, twin, SIZE, units[u], from),
                                  1);
        }
    }
}
END_TEST

START_TEST(equal_pages_have_no_run_and_opposite_ones_have_one)
{
    for (size_t size = 64; size <= LARGEST; size *= 2) {
        char *page = page_end - size, *twin = twin_end - size;

        for (size_t u = 0; u < 3; u++) {
            memset(page, 0x0f, size);
            memset(twin, 0x0f, size);
            ck_assert_uint_eq(diff[_i](page, twin, size, units[u], found), 0);
            memset(twin, 0xf0, size);
            ck_assert_uint_eq(diff[_i](page, twin, size, units[u], found), 1);
            ck_assert_uint_eq(found[0].off, 0);
            ck_assert_uint_eq(found[0].len, size);
        }
    }
}
END_TEST

START_TEST(every_second_unit_fills_the_room_and_no_more)
{
    for (size_t size = 64; size <= LARGEST; size *= 32) {
        char *page = page_end - size, *twin = twin_end - size;

        for (size_t u = 0; u < 3; u++)
            for (size_t odd = 0; odd < 2; odd++) {
                memset(page, 0, size);
                memset(twin, 0, size);
                for (size_t i = odd * units[u]; i < size; i += 2 * units[u])
                    page[i + units[u] - 1] = 1;
                ck_assert_uint_eq(check(_i, page, twin, size, units[u], 0),
                                  size / (2 * units[u]));
            }
    }
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("diff");
    TCase *tc = tcase_create("diff");

    property_start();
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, a_diff_is_what_a_loop_over_units_finds, 0, DIFFS);
    tcase_add_loop_test(tc, the_runs_of_a_diff_turn_the_twin_into_the_page, 0,
                        DIFFS);
    tcase_add_loop_test(tc, a_single_bit_is_found_alone_wherever_it_is, 0,
                        DIFFS);
    tcase_add_loop_test(tc, one_run_is_found_whole_wherever_it_begins_and_ends,
                        0, DIFFS);
    tcase_add_loop_test(tc, equal_pages_have_no_run_and_opposite_ones_have_one,
                        0, DIFFS);
    tcase_add_loop_test(tc, every_second_unit_fills_the_room_and_no_more, 0,
                        DIFFS);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
