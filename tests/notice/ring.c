/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The ring of a lock's log against a queue without bound.
 */
#include "harness.h"
#include "notice/notice.h"
#include "property.h"

enum { CASES = 3000 };

/* A log of numbers: element p holds p itself, as an unbounded queue would. */
struct ring {
    uint32_t cap, tail;
    uint64_t store[64];
    uint64_t count; /* positions so far, not wrapped */
};

static void
ring_append(struct ring *r, uint32_t n)
{
    struct hearthi_ring_span span[2];
    uint64_t                 value = r->count;
    uint32_t                 from = r->tail;

    if (hearthi_ring_write(r->cap, &r->tail, n, span))
        for (int i = 0; i < 2; i++)
            for (uint32_t k = 0; k < span[i].n; k++)
                r->store[span[i].at + k] = value++;
    r->count += r->tail - from;
}

/* True if the reader got its elements; wrong ones fail the test. */
static bool
ring_follow(const struct ring *r, uint64_t pos, int number)
{
    struct hearthi_ring_span span[2];
    uint64_t                 value = pos;

    if (!hearthi_ring_read(r->cap, (uint32_t)pos, r->tail, span))
        return false;
    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < span[i].n; k++) {
            if (span[i].at + k >= r->cap)
                ck_abort_msg("case %d: outside", number);
            if (r->store[span[i].at + k] != value)
                ck_abort_msg("case %d: not element %llu", number,
                             (unsigned long long)value);
            value++;
        }
    if (value != r->count)
        ck_abort_msg("case %d: element %llu is missing", number,
                     (unsigned long long)value);
    return true;
}

START_TEST(a_reader_of_a_ring_gets_all_that_is_new_or_hears_that_it_cannot)
{
    for (int i = 0; i < CASES; i++) {
        uint64_t    s = case_start(i);
        struct ring r = { .cap = 1 + (uint32_t)below(&s, 64) };
        uint64_t    pos[4], lost_at = 0;

        r.count = below(&s, 2) ? 0 : (UINT64_C(1) << 32) - below(&s, 300);
        r.tail = (uint32_t)r.count;
        for (int k = 0; k < 4; k++)
            pos[k] = r.count;
        for (int step = 0; step < 200; step++) {
            uint64_t *p = &pos[below(&s, 4)], before = r.count;
            uint32_t  n = (uint32_t)below(&s, below(&s, 8) ? 9 : r.cap + 4);

            ring_append(&r, n);
            if (n > r.cap || before >> 32 != r.count >> 32)
                lost_at = r.count;
            if (below(&s, 4) > 0)
                continue;
            if (ring_follow(&r, *p, i) != (*p >= lost_at || *p == r.count) &&
                r.count - *p <= r.cap)
                ck_abort_msg("case %d: lost without need", i);
            *p = r.count;
        }
    }
}
END_TEST

START_TEST(a_reader_who_is_a_ring_behind_reads_it_whole_and_one_more_is_lost)
{
    struct ring r = { .cap = 48 };

    for (uint32_t i = 0; i < 3 * r.cap; i++) {
        uint64_t pos = r.count;

        ring_append(&r, r.cap);
        ck_assert(ring_follow(&r, pos, 0));
        ring_append(&r, 1);
        ck_assert(!ring_follow(&r, pos, 0));
        pos = r.count;
        ck_assert(ring_follow(&r, pos, 0));
        ring_append(&r, r.cap + 1);
        ck_assert(!ring_follow(&r, pos, 0));
    }
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("ring");
    TCase *tc = tcase_create("ring");

    property_start();
    tcase_set_timeout(tc, 60);
    tcase_add_test(
        tc, a_reader_of_a_ring_gets_all_that_is_new_or_hears_that_it_cannot);
    tcase_add_test(
        tc, a_reader_who_is_a_ring_behind_reads_it_whole_and_one_more_is_lost);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
