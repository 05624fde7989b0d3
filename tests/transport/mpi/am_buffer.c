/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What stands in an active message, made of random diffs and stored again.
 */
#include "transport/patch.h"

#include "harness.h"
#include "notice/diff.h"
#include "property.h"

enum { SIZE = 4096, BLOCK = 64, BLOCKS = SIZE / BLOCK, CASES = 4000 };

static char     page[SIZE], twin[SIZE];
static uint64_t mask[BLOCKS];

/* Runs of changed bytes and what lies between, in whole units or not. */
static void
page_change(uint64_t *s)
{
    size_t unit = (size_t)1 << below(s, 4);
    size_t longest = (size_t)1 << below(s, 10), gap = (size_t)1 << below(s, 8);

    for (size_t k = 0; k < SIZE; k++)
        page[k] = twin[k] = (char)hearthi_random(s);
    for (size_t at = unit * below(s, 2 * gap); at < SIZE;
         at += unit * (1 + below(s, 2 * gap))) {
        size_t end = at + unit * (1 + below(s, longest));

        for (; at < end && at < SIZE; at++)
            page[at] = (char)(twin[at] + 1 + (int)below(s, 255));
    }
}

/* As the transport does it, at an offset of a segment. */
static void
letter_make(struct hearthi_am_buffer *l, size_t offset)
{
    for (size_t i = 0, n; i < BLOCKS; i += n) {
        struct hearthi_patch p = { 0, 0, 0 };
        struct hearthi_run   run[BLOCK / 2 + 1];

        n = 1;
        if (mask[i] != 0)
            p = hearthi_patch_of(mask + i, BLOCKS - i);
        if (p.blocks > 0) {
            size_t before = l->bytes;

            hearthi_am_buffer_patch(l, &p, offset + i * BLOCK,
                                    page + i * BLOCK);
            ck_assert_uint_eq(l->bytes - before,
                              HEARTHI_PATCH_HEAD +
                                  hearthi_patch_bytes(p.bits, p.shift));
            n = p.blocks;
            continue;
        }
        for (size_t k = hearthi_mask_runs(mask + i, 1, run); k-- > 0;)
            hearthi_am_buffer_run(l, offset + i * BLOCK + run[k].off,
                                  page + i * BLOCK + run[k].off, run[k].len);
    }
}

/* Changed bytes are those of the page, and all others what they were. */
static size_t
wrong_of(const char *segment, size_t offset)
{
    size_t wrong = 0;

    for (size_t k = 0; k < SIZE; k++) {
        bool changed = mask[k / BLOCK] >> k % BLOCK & 1;

        wrong += segment[offset + k] != (changed ? page[k] : 'h');
    }
    return wrong;
}

START_TEST(an_active_message_stores_what_was_changed_and_nothing_beside)
{
    static const unsigned     units[] = { 1, 4, 8 };
    static char               segment[3 * SIZE];
    struct hearthi_am_buffer *l = malloc(sizeof *l + 16 * SIZE);

    ck_assert(l != NULL);
    for (int i = 0; i < CASES; i++) {
        uint64_t s = case_start(i);
        size_t   offset = BLOCK * below(&s, 2 * BLOCKS);

        page_change(&s);
        hearthi_diff_masks(page, twin, SIZE, units[below(&s, 3)], mask);
        memset(segment, 'h', sizeof segment);
        l->bytes = 0;
        letter_make(l, offset);
        hearthi_am_buffer_store(l, segment);
        if (wrong_of(segment, offset) > 0)
            ck_abort_msg("case %d: %zu bytes", i, wrong_of(segment, offset));
        for (size_t k = 0; k < sizeof segment; k++)
            if (segment[k] != 'h' && (k < offset || k >= offset + SIZE))
                ck_abort_msg("case %d: byte %zu beside", i, k);
    }
    free(l);
}
END_TEST

static void
bits_set(uint64_t bits)
{
    memset(mask, 0, sizeof mask);
    for (int i = 0; i < BLOCKS; i++)
        mask[i] = bits;
}

/* The segment of a rank that has as much home memory as there can be. */
START_TEST(an_active_message_names_the_last_bytes_of_the_largest_segment)
{
    const size_t offset = HEARTHI_AM_BUFFER_OFFSETS - SIZE;
    static char  last[SIZE];
    char        *segment = (char *)((uintptr_t)last - offset);

    for (int bits = 0; bits < 2; bits++) {
        struct hearthi_am_buffer *l = calloc(1, 8 * SIZE);

        ck_assert(l != NULL);
        memset(last, 0, sizeof last);
        memset(page, 'p', sizeof page);
        bits_set(bits ? UINT64_C(0xff00ff00ff00ff00) : UINT64_C(0xff));
        letter_make(l, offset);
        hearthi_am_buffer_store(l, segment);
        for (size_t k = 0; k < SIZE; k++)
            ck_assert_int_eq(last[k],
                             mask[k / BLOCK] >> k % BLOCK & 1 ? 'p' : 0);
        free(l);
    }
}
END_TEST

/* Runs, adds of all kinds and a patch, one behind the other. */
START_TEST(an_active_message_does_adds_between_what_it_stores)
{
    const struct hearthi_add add[] = {
        hearthi_add_of(HEARTHI_ADD_WIDE, 8, (uint64_t)-5),
        hearthi_add_of(HEARTHI_ADD_NARROW, 20, 3),
        hearthi_add_of(HEARTHI_ADD_REAL, 24, hearthi_bits_of(0.5)),
        hearthi_add_of(HEARTHI_ADD_WIDE, 8, 12),
    };
    enum { ADDS = sizeof add / sizeof *add };
    _Alignas(8) static char   segment[SIZE];
    struct hearthi_am_buffer *l = calloc(1, 8 * SIZE);
    const int64_t            *wide = (const int64_t *)(const void *)segment;
    const int32_t            *half = (const int32_t *)(const void *)segment;

    ck_assert(l != NULL);
    memset(page, 1, sizeof page);
    bits_set(UINT64_C(0xff00ff0000000000));
    hearthi_am_buffer_run(l, 0, page, 8);
    hearthi_am_buffer_adds(l, add, ADDS);
    ck_assert_uint_eq(l->bytes,
                      HEARTHI_RUN_HEAD + 8 + HEARTHI_ADDS_HEAD + sizeof add);
    letter_make(l, 0);
    hearthi_am_buffer_store(l, segment);
    hearthi_am_buffer_store(l, segment);
    ck_assert_int_eq(wide[0], INT64_C(0x0101010101010101));
    ck_assert_int_eq(wide[1], 14);
    ck_assert_int_eq(half[4], 0);
    ck_assert_int_eq(half[5], 6);
    ck_assert(hearthi_real_of((uint64_t)wide[3]) == 1.0);
    ck_assert_int_eq(wide[4], 0);
    ck_assert_int_eq(wide[5], INT64_C(0x0101010101010101));
    free(l);
}
END_TEST

START_TEST(a_patch_has_the_largest_units_that_fit)
{
    struct hearthi_patch p;

    bits_set(UINT64_C(0xff00ff00ff00ff00));
    p = hearthi_patch_of(mask, BLOCKS);
    ck_assert_uint_eq(p.shift, 3);
    ck_assert_uint_eq(p.blocks, 8);
    ck_assert_uint_eq(p.bits, UINT64_C(0xaaaaaaaaaaaaaaaa));
    p = hearthi_patch_of(mask, 7);
    ck_assert_uint_eq(p.shift, 2);
    ck_assert_uint_eq(p.blocks, 4);
    bits_set(UINT64_C(0xf0f0f0f0f0f0f0f0));
    p = hearthi_patch_of(mask, BLOCKS);
    ck_assert_uint_eq(p.shift, 2);
    ck_assert_uint_eq(p.bits, UINT64_C(0xaaaaaaaaaaaaaaaa));
    bits_set(UINT64_C(0x7f7f7f7f7f7f7f7f));
    p = hearthi_patch_of(mask, BLOCKS);
    ck_assert_uint_eq(p.shift, 0);
    ck_assert_uint_eq(p.bits, UINT64_C(0x7f7f7f7f7f7f7f7f));
    bits_set(UINT64_C(0x7fffffffffffffff));
    p = hearthi_patch_of(mask, BLOCKS);
    ck_assert_uint_eq(p.blocks, 0);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("am_buffer");
    TCase *tc = tcase_create("am_buffer");

    property_start();
    tcase_add_test(
        tc, an_active_message_stores_what_was_changed_and_nothing_beside);
    tcase_add_test(
        tc, an_active_message_names_the_last_bytes_of_the_largest_segment);
    tcase_add_test(tc, an_active_message_does_adds_between_what_it_stores);
    tcase_add_test(tc, a_patch_has_the_largest_units_that_fit);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
