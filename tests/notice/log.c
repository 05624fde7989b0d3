/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The rule of a lock's log, and the choice of managers.
 */
#include "log.h"

#include <string.h>

#include "property.h"

static const struct hearthi_ring_span none[2];

/* ---- the rules one by one ---- */

static const uint64_t epochs[] = { 1,
                                   2,
                                   UINT16_MAX / 2,
                                   UINT16_MAX,
                                   UINT32_MAX,
                                   UINT64_C(1) << 32,
                                   UINT64_C(1) << 62 };

enum { N_EPOCHS = sizeof epochs / sizeof *epochs };

/* However long ago: so long that less than 64 bits would have gone round. */
START_TEST(a_log_of_an_earlier_epoch_has_nothing)
{
    struct hearthi_ring_span span[2];

    for (int i = 0; i < N_EPOCHS; i++)
        for (uint64_t ago = 1; ago <= epochs[i]; ago = ago * 2 - ago / 3) {
            struct hearthi_log log = { epochs[i] - ago, 7, 7 };
            uint32_t           pos = 3;

            ck_assert_int_eq(
                hearthi_log_read(&log, HEARTHI_LOG, epochs[i], &pos, span),
                HEARTHI_LOG_PAST);
            ck_assert_uint_eq(pos, 0);
            ck_assert_int_eq(memcmp(span, none, sizeof span), 0);
        }
}
END_TEST

START_TEST(a_log_of_a_later_epoch_is_everything)
{
    struct hearthi_ring_span span[2];

    for (int i = 0; i < N_EPOCHS; i++)
        for (uint64_t ahead = 1; ahead < UINT64_C(1) << 62; ahead *= 2) {
            struct hearthi_log log = { epochs[i] + ahead, 7, 7 };
            uint32_t           pos = 3;

            ck_assert_int_eq(
                hearthi_log_read(&log, HEARTHI_LOG, epochs[i], &pos, span),
                HEARTHI_LOG_AHEAD);
            ck_assert_uint_eq(pos, 7);
            ck_assert_int_eq(memcmp(span, none, sizeof span), 0);
        }
}
END_TEST

START_TEST(an_append_begins_an_earlier_log_anew_and_continues_a_later_one)
{
    struct hearthi_ring_span span[2];

    for (int i = 0; i < N_EPOCHS; i++)
        for (int k = 0; k < N_EPOCHS; k++) {
            bool               past = epochs[k] < epochs[i];
            struct hearthi_log log = { epochs[k], 7, 7 };

            ck_assert(
                hearthi_log_append(&log, HEARTHI_LOG, epochs[i], 2, span));
            ck_assert_uint_eq(log.epoch, past ? epochs[i] : epochs[k]);
            ck_assert_uint_eq(log.end, past ? 2 : 9);
            ck_assert_uint_eq(log.whole, log.end);
            ck_assert_uint_eq(span[0].at, past ? 0 : 7);
            ck_assert_uint_eq(span[0].n, 2);
            ck_assert_uint_eq(span[1].n, 0);
        }
}
END_TEST

START_TEST(an_append_of_nothing_leaves_the_log_alone)
{
    struct hearthi_log       log = { 3, 7, 7 };
    struct hearthi_ring_span span[2];

    ck_assert(!hearthi_log_append(&log, HEARTHI_LOG, 4, 0, span));
    ck_assert_uint_eq(log.epoch, 3);
    ck_assert_uint_eq(log.end, 7);
}
END_TEST

START_TEST(more_than_a_log_holds_is_everything_for_every_reader)
{
    struct hearthi_ring_span span[2];
    uint32_t                 last = 2 * HEARTHI_LOG;

    for (uint32_t from = 0; from <= last; from++)
        for (uint32_t pos = 0; pos <= from; pos++) {
            struct hearthi_log log = { 1, from, from % 9 };
            uint32_t           at = pos;

            ck_assert(!hearthi_log_append(&log, HEARTHI_LOG, 1,
                                          HEARTHI_LOG + 1, span));
            ck_assert_int_eq(hearthi_log_read(&log, HEARTHI_LOG, 1, &at, span),
                             HEARTHI_LOG_LOST);
            ck_assert_uint_eq(at, log.end);
            ck_assert_int_eq(hearthi_log_read(&log, HEARTHI_LOG, 1, &at, span),
                             HEARTHI_LOG_NEWS);
        }
}
END_TEST

/* A reader who has read nothing in this epoch is the one to be deceived, and
 * one who has read all of it. */
START_TEST(a_log_that_ran_out_of_positions_is_everything_until_the_next_epoch)
{
    struct hearthi_ring_span span[2];

    for (uint32_t before = 1; before <= HEARTHI_LOG + 1; before++) {
        struct hearthi_log log = { 1, UINT32_MAX - before, 0 };
        uint32_t           pos = 0;

        /* with what does not fit, and with what does */
        ck_assert(!hearthi_log_append(&log, HEARTHI_LOG, 1,
                                      before % 2 ? HEARTHI_LOG + 1 : before,
                                      span));
        for (int k = 0; k < 3; k++) {
            ck_assert_int_eq(
                hearthi_log_read(&log, HEARTHI_LOG, 1, &pos, span),
                HEARTHI_LOG_LOST);
            ck_assert(!hearthi_log_is_unchanged(&log, pos));
            ck_assert(!hearthi_log_append(&log, HEARTHI_LOG, 1, 1, span));
        }
        pos = 0;
        ck_assert(hearthi_log_append(&log, HEARTHI_LOG, 2, 1, span));
        ck_assert_int_eq(hearthi_log_read(&log, HEARTHI_LOG, 2, &pos, span),
                         HEARTHI_LOG_NEWS);
        ck_assert_uint_eq(span[0].n, 1);
    }
}
END_TEST

/* ---- managers ---- */

START_TEST(every_object_has_a_place_of_its_own_at_one_rank)
{
    static bool taken[HEARTHI_SYNCS * 3];

    for (int size = 1; size < 2 * HEARTHI_SYNCS; size = size * 3 / 2 + 1) {
        size_t count = hearthi_managed_count(size);

        ck_assert_uint_le((size_t)size * count, sizeof taken);
        memset(taken, 0, sizeof taken);
        for (int sync = 0; sync < HEARTHI_SYNCS; sync++) {
            int    rank = hearthi_manager(sync, size);
            size_t at = hearthi_managed_at(sync, size);
            bool  *place;

            ck_assert(rank >= 0 && rank < size && at < count);
            place = &taken[(size_t)rank * count + at];
            ck_assert(!*place);
            *place = true;
        }
    }
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("log");
    TCase *tc = tcase_create("log");

    property_start();
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_log_of_an_earlier_epoch_has_nothing);
    tcase_add_test(tc, a_log_of_a_later_epoch_is_everything);
    tcase_add_test(
        tc, an_append_begins_an_earlier_log_anew_and_continues_a_later_one);
    tcase_add_test(tc, an_append_of_nothing_leaves_the_log_alone);
    tcase_add_test(tc, more_than_a_log_holds_is_everything_for_every_reader);
    tcase_add_test(
        tc,
        a_log_that_ran_out_of_positions_is_everything_until_the_next_epoch);
    tcase_add_test(tc, every_object_has_a_place_of_its_own_at_one_rank);
    logs_with_notices(tc);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
