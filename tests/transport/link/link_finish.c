/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The end in time: two jobs that have said all leave both, with success, and
 * soon, wherever the connection breaks on the way (link/link_close.c).
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "link/link_state.h"
#include "link_ends.h"
#include "link_proxy.h"
#include "property.h"

/* Pieces that the proxy carries: TCP's of a handshake, the hellos, messages
 * both ways and the end are 8 or 9. */
enum { PIECES = 12, SHAKEN = 5, ENOUGH = 2, SOON = 20 };

static struct end e[2];

static void
prepare(struct end *one, int me)
{
    end_prepare(one, 2, me);
    one->options.silence = 0.2;
    one->options.handshake = 0.6;
}

/* The one that connects, in a process of its own. */
static pid_t
connector_start(const struct proxy *network, size_t len)
{
    int   port = network != NULL ? network->port : end_port(&e[0]);
    pid_t other = fork();

    if (other != 0)
        return other;
    close(e[0].link->listener); /* which would listen on for the other */
    if (network != NULL)
        close(network->listener);
    prepare(&e[1], 1);
    snprintf(e[1].conf.cluster[0].port, 6, "%d", port);
    end_open(&e[1]);
    hearthi_link_give(e[1].link, 0, calloc(1, len), len, free);
    if (!hearthi_link_finish(e[1].link))
        printf("# it failed: %s\n", e[1].failed);
    else if (e[1].got[0] == 1)
        _exit(0);
    fflush(stdout);
    _exit(1);
}

static void
child_good(pid_t child)
{
    int status;

    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

/* Both, to their ends, over a network or directly. */
static void
both_finish(struct proxy *network, size_t len)
{
    uint64_t begin = hearthi_clock_kernel();
    pid_t    other;

    prepare(&e[0], 0);
    end_open(&e[0]);
    if (network != NULL) {
        network->to = end_port(&e[0]);
        proxy_start(network);
    }
    other = connector_start(network, len);
    line_send(&e[0], 1, "so long");
    ck_assert_msg(hearthi_link_finish(e[0].link), "%s", e[0].failed);
    ck_assert_uint_eq(e[0].got[1], 1);
    end_close(&e[0]);
    child_good(other);
    ck_assert_msg(hearthi_clock_kernel() - begin < (uint64_t)SOON * 1000000000,
                  "it took %.1f s" TIMELY,
                  (double)(hearthi_clock_kernel() - begin) / 1e9);
}

/* Which side is the last to hear that the other has all does not matter. */
START_TEST(a_link_is_finished_when_all_messages_have_come)
{
    for (int round = 0; round < 5; round++)
        both_finish(NULL, 3 << 20);
}
END_TEST

static void
trouble_at_each_piece(enum trouble what, int first)
{
    int had = 0;

    for (int piece = first; piece <= PIECES; piece++) {
        struct proxy *network = calloc(1, sizeof *network);

        network->piece = piece;
        network->what = what;
        network->silent = 0.3;
        both_finish(network, 100);
        had += network->had[what];
    }
    printf("# trouble with %d of %d pieces\n", had, PIECES - first + 1);
    fflush(stdout);
    ck_assert_int_ge(had, ENOUGH);
}

START_TEST(the_end_survives_a_cut_wherever_it_comes)
{
    trouble_at_each_piece(TROUBLE_CUT, 1);
}
END_TEST

/* Not in the first handshake: whose key is wrong looks just so. */
START_TEST(the_end_survives_a_spoilt_byte_wherever_it_comes)
{
    trouble_at_each_piece(TROUBLE_SPOIL, SHAKEN);
}
END_TEST

START_TEST(the_end_survives_silence_wherever_it_comes)
{
    trouble_at_each_piece(TROUBLE_SILENT, 1);
}
END_TEST

/* Its listener has gone, after its last message, without a word. */
START_TEST(who_has_the_last_message_does_not_wait_for_one_that_is_not_there)
{
    uint64_t begin;

    pair_prepare(e);
    pair_open(e);
    ck_timely(ends_turn(e, 2, all_up, 5));
    e[1].link->remote[0].bye_came = true;
    end_close(&e[0]);
    begin = hearthi_clock_kernel();
    ck_assert(hearthi_link_finish(e[1].link));
    ck_timely(hearthi_clock_kernel() - begin < (uint64_t)SOON * 1000000000);
    end_close(&e[1]);
}
END_TEST

/* It has the other's last message, and the other is gone without its own. */
START_TEST(who_listens_does_not_leave_before_its_own_has_come)
{
    pair_prepare(e);
    e[0].options.giveup = 1;
    pair_open(e);
    ck_timely(ends_turn(e, 2, all_up, 5));
    e[0].link->remote[1].bye_came = true;
    end_close(&e[1]);
    ck_assert(!hearthi_link_finish(e[0].link));
    said(e[0].failed, "cluster beta");
    end_close(&e[0]);
}
END_TEST

/* ---- the next world ---- */

/* A pair that has said something, both ways. */
static void
pair_talk(void)
{
    pair_prepare(e);
    pair_open(e);
    ck_timely(ends_turn(e, 2, all_up, 5));
    line_send(&e[0], 1, "so long");
    line_send(&e[1], 0, "so long");
    ck_timely(ends_turn(e, 2, all_came, 5));
}

/* A job of the same name at the same gateway, which knows the other's. */
static void
start_next(struct end *one, int port)
{
    int me = one->me;

    end_close(one);
    prepare(one, me);
    one->options.agree = "HEARTH_CONSISTENCY=scope";
    snprintf(one->conf.cluster[0].port, 6, "%d", port);
    end_open(one);
}

/* Of three clusters beta may have left, and be there again, while alpha waits
 * for gamma still. */
START_TEST(the_next_world_waits_for_the_one_before)
{
    int port;

    pair_talk();
    port = end_port(&e[0]);
    e[0].link->remote[1].bye_came = true;
    start_next(&e[1], port);
    ck_assert(!ends_turn(e, 2, any_failed, 0.5));
    ck_assert_int_eq(e[1].ups, 0);
    ck_assert_uint_eq(hearthi_link_counts(e[0].link).strangers, 0);
    start_next(&e[0], port);
    ck_timely(ends_turn(e, 2, all_up, 5));
    line_send(&e[0], 1, "here we are again");
    line_send(&e[1], 0, "here we are again");
    ck_timely(ends_turn(e, 2, all_came, 5));
    ends_close(e, 2);
}
END_TEST

static bool
beta_is_done(struct end *all, int n)
{
    (void)n;
    return all[1].failures > 0 || hearthi_remote_gateway_done(all[1].link, 0);
}

/* Its last word was lost, and its gateway is that of the next world by now,
 * which is not to take this one for its own. */
START_TEST(who_left_is_known_by_the_next_world_that_is_there)
{
    pair_talk();
    e[1].link->remote[0].bye_came = e[1].link->remote[0].bye_sent = true;
    start_next(&e[0], end_port(&e[0]));
    ck_timely(ends_turn(e, 2, beta_is_done, 5));
    ck_assert_int_eq(e[0].failures + e[1].failures, 0);
    ck_assert_int_eq(e[0].ups, 0);
    start_next(&e[1], end_port(&e[0]));
    ck_timely(ends_turn(e, 2, all_up, 5));
    ends_close(e, 2);
}
END_TEST

/* It beats, and has not come to its end. */
START_TEST(a_cluster_that_does_not_end_with_this_one_is_named)
{
    pid_t other;

    prepare(&e[0], 0);
    end_open(&e[0]);
    other = fork();
    if (other == 0) {
        prepare(&e[1], 1);
        end_knows(&e[1], &e[0]);
        close(e[0].link->listener);
        end_open(&e[1]);
        ends_turn(&e[1], 1, all_failed, 10);
        _exit(strstr(e[1].failed, "cluster alpha has ended") == NULL);
    }
    ck_timely(ends_turn(e, 1, all_up, 10));
    e[0].link->options.giveup = 0.5;
    ck_assert(!hearthi_link_finish(e[0].link));
    said(e[0].failed, "cluster beta (gateway 127.0.0.1:");
    said(e[0].failed, "has not ended with this one");
    end_close(&e[0]);
    child_good(other);
}
END_TEST

START_TEST(a_message_that_is_too_long_is_not_sent)
{
    static char  one;
    struct iovec part[2] = { { &one, 1 },
                             { &one, HEARTHI_CONNECTION_LONGEST } };

    pair_prepare(e);
    pair_open(e);
    ck_assert(!hearthi_link_send(e[0].link, 1, part, 2));
    ck_assert(!hearthi_link_give(
        e[0].link, 1, &one, (size_t)HEARTHI_CONNECTION_LONGEST + 1, NULL));
    ends_close(e, 2);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("link_finish");
    TCase *tc = tcase_create("link_finish");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_link_is_finished_when_all_messages_have_come);
    tcase_add_test(tc, the_end_survives_a_cut_wherever_it_comes);
    tcase_add_test(tc, the_end_survives_a_spoilt_byte_wherever_it_comes);
    tcase_add_test(tc, the_end_survives_silence_wherever_it_comes);
    tcase_add_test(
        tc, who_has_the_last_message_does_not_wait_for_one_that_is_not_there);
    tcase_add_test(tc, who_listens_does_not_leave_before_its_own_has_come);
    tcase_add_test(tc, the_next_world_waits_for_the_one_before);
    tcase_add_test(tc, who_left_is_known_by_the_next_world_that_is_there);
    tcase_add_test(tc, a_cluster_that_does_not_end_with_this_one_is_named);
    tcase_add_test(tc, a_message_that_is_too_long_is_not_sent);
    suite_add_tcase(s, tc);
    ends_keys_make();
    unit_main(s);
    ends_keys_remove();
    return EXIT_SUCCESS;
}
