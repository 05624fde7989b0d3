/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Managed objects under a driver that writes down what it is told: who is
 * answered, and when.  What logs hold is in tests/notice/log.c.
 */
#include "config.h"

#include "transport/sync/managed_object.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "harness.h"
#include "property.h"

enum { RANKS = 40, GROUP = 20, LOCK = 3, COND = HEARTHI_CONDS_AT + 1 };
enum { FLAG = HEARTH_LOCKS + 2, RW = HEARTHI_RWS_AT + 1 };

static struct hearthi_managed_objects all;
static struct hearthi_managed_client  client[RANKS];
static char                           told[4096]; /* "+1 " granted, "-1 "
                                                     refused, "!1 " woken */
static int recalls;

static void
tell(char what, const struct hearthi_managed_client *c)
{
    size_t at = strlen(told);

    snprintf(told + at, sizeof told - at, "%c%u ", what, c->rank);
}

static void
grant(const struct hearthi_managed_object *o, struct hearthi_managed_client *c,
      const struct hearthi_managed_grant *g)
{
    (void)o;
    tell(g->again ? '*' : '+', c);
}

static void
refuse(struct hearthi_managed_client *c)
{
    tell('-', c);
}

static void
woken(struct hearthi_managed_client *c)
{
    tell('!', c);
}

static void
recall(struct hearthi_managed_object *o)
{
    (void)o;
    recalls++;
}

static int
group(uint32_t rank)
{
    return (int)rank / GROUP;
}

static const struct hearthi_managed_driver plain = {
    .grant = grant, .refuse = refuse, .woken = woken, .recall = recall
};
static const struct hearthi_managed_driver grouped = {
    .grant = grant, .refuse = refuse, .woken = woken, .group = group
};

static struct hearthi_managed_object *
object(const struct hearthi_managed_driver *driver, int sync)
{
    if (all.object == NULL) {
        all = (struct hearthi_managed_objects){
            .driver = driver,
            .me = sync % 2,
            .managers = 2,
            .reads = true,
            .object = calloc(1, hearthi_managed_bytes(2, HEARTHI_SYNCS + 4)),
        };
        hearthi_managed_open(&all);
    }
    return hearthi_managed_object(&all, sync);
}

static struct hearthi_managed_client *
rank(uint32_t r, char how)
{
    client[r] = (struct hearthi_managed_client){ .rank = r,
                                                 .try = how == 't',
                                                 .write = how == 'w' };
    return &client[r];
}

static void
release(struct hearthi_managed_object *o, uint32_t r)
{
    hearthi_managed_release(o, r, 1, NULL, 0);
}

static void
is_told(const char *want)
{
    ck_assert_str_eq(told, want);
    told[0] = '\0';
}

/* ---- locks ---- */

START_TEST(a_lock_is_given_to_those_that_wait_in_their_order)
{
    struct hearthi_managed_object *o = object(&plain, LOCK);

    for (uint32_t r = 0; r < 4; r++)
        hearthi_managed_acquire(o, rank(r, ' '));
    is_told("+0 ");
    for (uint32_t r = 0; r < 4; r++)
        release(o, r);
    is_told("+1 +2 +3 ");
    hearthi_managed_acquire(o, rank(3, 't'));
    hearthi_managed_acquire(o, rank(4, 't'));
    is_told("*3 -4 ");
    ck_assert(hearthi_managed_is_held(o, 3));
    ck_assert(!hearthi_managed_is_held(o, 2));
}
END_TEST

/* Rank 20 waits in the other group, while those of the first come again and
 * again. */
START_TEST(a_group_has_a_lock_sixteen_times_while_another_waits)
{
    struct hearthi_managed_object *o = object(&grouped, LOCK);
    char                           want[256] = "+0 ";
    uint32_t                       r = 0;

    hearthi_managed_acquire(o, rank(0, ' '));
    hearthi_managed_acquire(o, rank(GROUP, ' '));
    for (int i = 0; i < 17; i++) {
        uint32_t next = 1 - r;

        hearthi_managed_acquire(o, rank(next, ' '));
        release(o, r);
        r = i < 16 ? next : GROUP;
        snprintf(want + strlen(want), sizeof want - strlen(want), "+%u ", r);
    }
    is_told(want);
    release(o, GROUP);
    is_told("+1 ");
}
END_TEST

/* Without one that waits elsewhere the turns are not counted. */
START_TEST(a_group_alone_has_a_lock_as_often_as_it_wants)
{
    struct hearthi_managed_object *o = object(&grouped, LOCK);
    uint32_t                       r = 0;

    hearthi_managed_acquire(o, rank(0, ' '));
    for (int i = 0; i < 40; i++, r = 1 - r) {
        hearthi_managed_acquire(o, rank(1 - r, ' '));
        release(o, r);
    }
    hearthi_managed_acquire(o, rank(GROUP, ' '));
    hearthi_managed_acquire(o, rank(1 - r, ' '));
    told[0] = '\0';
    release(o, r);
    is_told("+1 ");
}
END_TEST

START_TEST(a_lock_that_stays_is_recalled_and_tries_wait_for_what_is_said)
{
    struct hearthi_managed_object *o = object(&plain, LOCK);
    uint64_t                       stay;

    hearthi_managed_acquire(o, rank(0, ' '));
    stay = hearthi_managed_keep(o, 0);
    ck_assert_uint_ne(stay, 0);
    hearthi_managed_acquire(o, rank(1, 't'));
    ck_assert_int_eq(recalls, 1);
    ck_assert(hearthi_managed_is_tried(o));
    hearthi_managed_used(o, 0, stay - 1);
    hearthi_managed_used(o, 2, stay);
    is_told("+0 ");
    hearthi_managed_acquire(o, rank(2, ' '));
    hearthi_managed_used(o, 0, stay);
    is_told("-1 ");
    release(o, 0);
    is_told("+2 ");
    hearthi_managed_acquire(o, rank(3, ' '));
    ck_assert_uint_eq(hearthi_managed_keep(o, 2), 0);
    release(o, 2);
    is_told("+3 ");
}
END_TEST

/* ---- reader-writer locks ---- */

START_TEST(readers_and_writers_take_turns)
{
    struct hearthi_managed_object *o = object(&plain, RW);

    hearthi_managed_acquire(o, rank(0, 'r'));
    hearthi_managed_acquire(o, rank(1, 'r'));
    hearthi_managed_acquire(o, rank(2, 'w'));
    hearthi_managed_acquire(o, rank(3, 'r'));
    hearthi_managed_acquire(o, rank(4, 'w'));
    hearthi_managed_acquire(o, rank(5, 'r'));
    hearthi_managed_acquire(o, rank(6, 't'));
    is_told("+0 +1 -6 ");
    release(o, 0);
    is_told("");
    release(o, 1);
    is_told("+2 ");
    release(o, 2);
    is_told("+3 +5 ");
    release(o, 5);
    release(o, 3);
    is_told("+4 ");
    release(o, 4);
    hearthi_managed_acquire(o, rank(6, 't'));
    is_told("+6 ");
}
END_TEST

/* ---- flags and condition variables ---- */

START_TEST(a_flag_lets_all_go_that_wait_and_that_come_until_it_is_reset)
{
    struct hearthi_managed_object *o = object(&plain, FLAG);

    hearthi_managed_flag_wait(o, rank(0, ' '));
    hearthi_managed_flag_wait(o, rank(1, ' '));
    is_told("");
    hearthi_managed_flag_set(o, 1, NULL, 0);
    hearthi_managed_flag_wait(o, rank(2, ' '));
    is_told("+0 +1 +2 ");
    hearthi_managed_flag_reset(o);
    hearthi_managed_flag_wait(o, rank(3, ' '));
    is_told("");
}
END_TEST

static struct hearthi_managed_client *
at(uint32_t r, uint64_t place)
{
    rank(r, ' ')->at = place;
    return &client[r];
}

START_TEST(places_are_woken_in_the_order_in_which_they_were_given)
{
    struct hearthi_managed_object *o = object(&plain, COND);

    for (uint64_t place = 0; place < 4; place++)
        ck_assert_uint_eq(hearthi_managed_cond_enter(o), place);
    hearthi_managed_cond_wait(o, at(1, 1));
    hearthi_managed_cond_wait(o, at(2, 2));
    hearthi_managed_cond_wake(o, false);
    is_told("");
    hearthi_managed_cond_wait(o, at(0, 0));
    is_told("!0 ");
    hearthi_managed_cond_wake(o, false);
    is_told("!1 ");
    hearthi_managed_cond_wake(o, true);
    hearthi_managed_cond_wait(o, at(3, 3));
    is_told("!2 !3 ");
    hearthi_managed_cond_wake(o, false);
    ck_assert_uint_eq(hearthi_managed_cond_enter(o), 4);
    hearthi_managed_cond_wait(o, at(4, 4));
    is_told("");
}
END_TEST

/* ---- anything ---- */

/* Ranks that come and go as they are drawn: what is answered fits, and no rank
 * waits when all others have gone. */
static void
lock_draw(uint64_t s, const struct hearthi_managed_driver *driver, int sync)
{
    struct hearthi_managed_object *o = object(driver, sync);
    enum { OUT, ASKS, READS, WRITES } is[RANKS] = { OUT };
    int left = 600, busy = 0;

    while (left > 0 || busy > 0) {
        uint32_t r = (uint32_t)below(&s, RANKS);
        int      inside[2] = { 0, 0 };

        if (is[r] >= READS) {
            is[r] = OUT;
            release(o, r);
            busy--;
        } else if (is[r] == OUT && left > 0) {
            left--;
            busy++;
            is[r] = ASKS;
            hearthi_managed_acquire(o, rank(r, " tw"[below(&s, 3)]));
        }
        for (char *t = told, *end; *t != '\0'; t = end + 1) {
            uint32_t to = (uint32_t)strtoul(t + 1, &end, 10);

            ck_assert_int_eq(is[to], ASKS);
            if (*t == '-')
                ck_assert(client[to].try && busy-- > 1);
            is[to] = *t == '-'                                  ? OUT
                     : client[to].write || !hearthi_is_rw(sync) ? WRITES
                                                                : READS;
        }
        told[0] = '\0';
        for (int i = 0; i < RANKS; i++)
            if (is[i] >= READS)
                inside[is[i] == WRITES]++;
        ck_assert_int_le(inside[1], 1);
        ck_assert(inside[0] == 0 || inside[1] == 0);
        ck_assert(busy == 0 || inside[0] + inside[1] > 0);
    }
    ck_assert_ptr_null(o->head);
}

START_TEST(one_writer_or_several_readers_are_inside_and_none_waits_for_ever)
{
    for (int i = 0; i < 20; i++) {
        lock_draw(case_start(4 * i), _i == 0 ? &plain : &grouped, LOCK);
        lock_draw(case_start(4 * i + 1), _i == 0 ? &plain : &grouped, RW);
    }
}
END_TEST

/* A client whose grant had no room for all asks for the rest. */
START_TEST(a_client_reads_on_in_a_log_until_it_has_gone_round)
{
    enum { SOME = 10 };
    struct hearthi_managed_object *o = object(&plain, LOCK);
    struct hearthi_ring_span       news[2];
    struct hearthi_notice          n[SOME];
    uint64_t                       page = 0;

    for (int turn = 0; turn < HEARTHI_LOG / SOME + 2; turn++) {
        for (int i = 0; i < SOME; i++) {
            page += 2;
            n[i] = (struct hearthi_notice){ page, 1, 1, page };
        }
        hearthi_managed_publish(o, 1, n, SOME);
        if (turn > 0)
            continue;
        ck_assert(hearthi_managed_reread(o, 1, 4, news));
        ck_assert_uint_eq(news[0].n + news[1].n, SOME - 4);
        ck_assert_uint_eq(o->notice[news[0].at].page, n[4].page);
        ck_assert(!hearthi_managed_reread(o, 2, 4, news));
    }
    ck_assert(!hearthi_managed_reread(o, 1, 4, news));
}
END_TEST

/* Which takes the line of its cache from the threads that read it. */
START_TEST(an_object_that_is_looked_up_again_is_not_written)
{
    size_t bytes = hearthi_managed_bytes(2, HEARTHI_SYNCS + 4);
    struct hearthi_managed_object *o;

    all.managers = 2;
    all.object = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(all.object, MAP_FAILED);
    o = hearthi_managed_object(&all, LOCK);
    ck_assert_int_eq(mprotect(all.object, bytes, PROT_READ), 0);
    ck_assert_ptr_eq(hearthi_managed_object(&all, LOCK), o);
    ck_assert_int_eq(o->sync, LOCK);
    ck_assert_ptr_eq(o->all, &all);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("managed objects");
    TCase *tc = tcase_create("managed objects");

    property_start();
    tcase_add_test(tc, a_lock_is_given_to_those_that_wait_in_their_order);
    tcase_add_test(tc, a_group_has_a_lock_sixteen_times_while_another_waits);
    tcase_add_test(tc, a_group_alone_has_a_lock_as_often_as_it_wants);
    tcase_add_test(
        tc, a_lock_that_stays_is_recalled_and_tries_wait_for_what_is_said);
    tcase_add_test(tc, readers_and_writers_take_turns);
    tcase_add_test(
        tc, a_flag_lets_all_go_that_wait_and_that_come_until_it_is_reset);
    tcase_add_test(tc, places_are_woken_in_the_order_in_which_they_were_given);
    tcase_add_test(tc, a_client_reads_on_in_a_log_until_it_has_gone_round);
    tcase_add_test(tc, an_object_that_is_looked_up_again_is_not_written);
    tcase_add_loop_test(
        tc, one_writer_or_several_readers_are_inside_and_none_waits_for_ever,
        0, 2);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
