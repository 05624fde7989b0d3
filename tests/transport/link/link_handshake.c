/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How gateways meet: who is let in, what must agree, and what a stranger, a
 * second job, or one that ends gets.
 */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "link/gateway_hello.h"
#include "link/link_state.h"
#include "link_ends.h"

static struct end e[ENDS_MAX];

START_TEST(three_gateways_meet_and_each_hears_the_others)
{
    struct hearthi_link_counts c;

    ends_open(e, 3);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (i != j)
                line_send(&e[i], j, "hello");
    ck_timely(ends_turn(e, 3, all_came, 5));
    ck_assert_str_eq(e[1].told, "page=4096");
    c = hearthi_link_counts(e[0].link);
    ck_assert_uint_eq(c.messages_out, 2);
    ck_assert_uint_eq(c.messages_in, 2);
    ck_assert_uint_eq(c.bytes_in, 10);
    ck_timely(c.reconnects == 0);
    ck_assert_uint_eq(c.strangers, 0);
    ends_close(e, 3);
}
END_TEST

/* ---- what must agree ---- */

START_TEST(options_that_differ_are_told_on_both_sides)
{
    pair_prepare(e);
    e[1].options.agree = "HEARTH_CONSISTENCY=scope\nHEARTH_MORE=1";
    pair_open(e);
    ck_timely(ends_turn(e, 2, all_failed, 5));
    for (int i = 0; i < 2; i++) {
        said(e[i].failed, "alpha has HEARTH_CONSISTENCY=release, ");
        said(e[i].failed, "beta has HEARTH_CONSISTENCY=scope, ");
        said(e[i].failed, "HEARTH_PAGE_SIZE=4096");
        said(e[i].failed, "HEARTH_PAGE_SIZE not at all");
        said(e[i].failed, "HEARTH_MORE=1");
        said(e[i].failed, "HEARTH_MORE not at all");
        said(e[i].failed, "start both with the same");
    }
    ends_close(e, 2);
}
END_TEST

/* Of many clusters, or with long names: what differs is shown. */
START_TEST(a_difference_in_a_long_list_is_one)
{
    char                         a[600], b[600];
    struct hearthi_gateway_hello mine = { .name = "alpha", .agree = a };
    struct hearthi_gateway_hello theirs = { .name = "beta", .agree = b };
    struct hearthi_link_error    w;

    snprintf(a, sizeof a, "clusters=%0*d,tokyo:8,osaka:%0*d\nmore=1", 300, 0,
             100, 0);
    strcpy(b, a);
    ck_assert(hearthi_gateway_hello_agree(&mine, &theirs, &w));
    strstr(b, "tokyo:8")[6] = '9';
    ck_assert(!hearthi_gateway_hello_agree(&mine, &theirs, &w));
    said(w.text, "alpha has clusters=...0");
    said(w.text, ",tokyo:8,osaka:");
    said(w.text, ",tokyo:9,osaka:");
    said(w.text, "start both with the same");
    ck_assert_ptr_null(strstr(w.text, "more"));
}
END_TEST

START_TEST(a_hello_is_as_long_as_may_be_and_no_longer)
{
    static char                  agree[HEARTHI_HELLO_MAX + 1];
    static char                  text[HEARTHI_HELLO_MAX];
    struct hearthi_gateway_hello mine = { .name = "alpha",
                                          .agree = agree,
                                          .tell = "" };
    struct hearthi_gateway_hello same = { .name = "" };
    size_t rest = hearthi_gateway_hello_write(&mine, text, sizeof text);

    memset(agree, 'a', sizeof text - 1 - rest);
    rest = hearthi_gateway_hello_write(&mine, text, sizeof text);
    ck_assert_uint_eq(rest, sizeof text - 1);
    ck_assert(hearthi_gateway_hello_read(&same, text, rest));
    ck_assert_str_eq(same.agree, agree);
    agree[strlen(agree)] = 'b';
    ck_assert_uint_eq(hearthi_gateway_hello_write(&mine, text, sizeof text),
                      0);
    pair_prepare(e);
    e[0].options.agree = e[1].options.agree = agree;
    pair_open(e);
    ck_timely(ends_turn(e, 2, any_failed, 5));
    said(e[e[0].failures == 0].failed, "a hello of more than");
    ends_close(e, 2);
}
END_TEST

START_TEST(another_version_or_another_file_is_told_on_both_sides)
{
    pair_prepare(e);
    e[1].options.version = "9.9";
    e[1].conf.cluster[0].ranks = 7;
    pair_open(e);
    ck_timely(ends_turn(e, 2, all_failed, 5));
    for (int i = 0; i < 2; i++) {
        said(e[i].failed, "hearth=1.2.3");
        said(e[i].failed, "hearth=9.9");
        said(e[i].failed, "clusters=alpha:2,beta:2");
        said(e[i].failed, "clusters=alpha:7,beta:2");
    }
    ends_close(e, 2);
}
END_TEST

static bool
newcomer_failed(struct end *all, int n)
{
    return any_failed(&all[2], n - 2);
}

/* Alpha and beta run; whoever comes ends nobody but itself. */
static void
newcomer_is_refused(const char *why)
{
    pair_open(e);
    ck_timely(ends_turn(e, 2, all_up, 5));
    end_knows(&e[2], &e[0]);
    end_open(&e[2]);
    ck_timely(ends_turn(e, 3, newcomer_failed, 5));
    said(e[2].failed, why);
    ck_assert(!ends_turn(e, 2, any_failed, 0.2));
    said(e[0].warned, "and the job goes on: ");
    line_send(&e[1], 0, "after");
    line_send(&e[0], 1, "after");
    ck_timely(ends_turn(e, 2, all_came, 5));
    ends_close(e, 3);
}

START_TEST(the_second_job_of_a_name_is_refused_alone)
{
    pair_prepare(e);
    end_prepare(&e[2], 2, 1);
    newcomer_is_refused("cluster alpha runs already, and refuses this job: "
                        "cluster beta was started anew, or twice");
}
END_TEST

START_TEST(a_newcomer_with_another_file_is_refused_alone)
{
    pair_prepare(e);
    end_prepare(&e[2], 3, 2);
    newcomer_is_refused("clusters=alpha:2,beta:2,gamma:2");
}
END_TEST

static bool
came_back_to_itself(struct end *all, int n)
{
    (void)n;
    return strstr(all[1].link->remote[0].why, "this job itself") != NULL;
}

/* As where the address of a router leads elsewhere for a while. */
START_TEST(a_way_that_leads_back_later_ends_nothing)
{
    struct sockaddr_in *alpha;
    in_port_t           port;

    pair_prepare(e);
    pair_open(e);
    ck_timely(ends_turn(e, 2, all_up, 5));
    alpha = (struct sockaddr_in *)&e[1].link->remote[0].at.at[0].to;
    port = alpha->sin_port;
    alpha->sin_port = htons((uint16_t)end_port(&e[1]));
    shutdown(e[1].link->remote[0].conn[0]->fd, SHUT_RDWR);
    ck_timely(ends_turn(e, 2, came_back_to_itself, 5));
    ck_assert(!any_failed(e, 2));
    alpha->sin_port = port;
    line_send(&e[1], 0, "after");
    line_send(&e[0], 1, "after");
    ck_timely(ends_turn(e, 2, all_came, 5));
    ends_close(e, 2);
}
END_TEST

START_TEST(a_cluster_that_was_started_anew_ends_the_job)
{
    pair_prepare(e);
    pair_open(e);
    ck_timely(ends_turn(e, 2, all_up, 5));
    end_close(&e[1]);
    end_prepare(&e[1], 2, 1);
    end_knows(&e[1], &e[0]);
    end_open(&e[1]);
    ck_timely(ends_turn(e, 2, all_failed, 5));
    said(e[0].failed, "cluster beta was started anew");
    said(e[1].failed, "cluster alpha has ended: cluster beta was started");
    ends_close(e, 2);
}
END_TEST

/* Number 1's gateway, where number 0's should be. */
START_TEST(a_gateway_that_is_another_cluster_is_told)
{
    pair_prepare(e);
    end_prepare(&e[0], 2, 1);
    end_open(&e[0]);
    snprintf(e[1].conf.cluster[0].port, 6, "%d", end_port(&e[0]));
    end_open(&e[1]);
    ck_timely(ends_turn(e, 2, all_failed, 5));
    said(e[0].failed, "two jobs with the name beta");
    said(e[1].failed, "beta");
    ends_close(e, 2);
}
END_TEST

START_TEST(a_gateway_that_leads_to_oneself_is_told)
{
    struct sockaddr_in *alpha;

    end_prepare(&e[1], 2, 1);
    end_open(&e[1]);
    alpha = (struct sockaddr_in *)&e[1].link->remote[0].at.at[0].to;
    alpha->sin_port = htons((uint16_t)end_port(&e[1]));
    ck_timely(ends_turn(&e[1], 1, all_failed, 5));
    said(e[1].failed, "leads to this job itself, at 127.0.0.1:");
    end_close(&e[1]);
}
END_TEST

START_TEST(a_job_that_ends_tells_the_others_why)
{
    ends_open(e, 3);
    hearthi_link_end(e[1].link, "rank 3: killed by signal 9");
    ck_assert(!hearthi_link_turn(e[1].link, 0));
    hearthi_link_linger(e[1].link, e[1].options.linger);
    end_close(&e[1]);
    ck_timely(ends_turn(e, 3, any_failed, 5));
    ck_timely(ends_turn(&e[2], 1, all_failed, 5));
    ck_timely(ends_turn(&e[0], 1, all_failed, 5));
    said(e[0].failed, "cluster beta has ended: rank 3: killed by signal 9");
    ends_close(e, 3);
}
END_TEST

/* Where a launcher ends the job, too, there is no time to lose. */
START_TEST(a_failure_is_told_before_others_have_heard)
{
    uint64_t begin;

    ends_open(e, 3);
    e[0].link->options.linger = 1; /* gamma does not answer */
    hearthi_link_end(e[1].link, "rank 3 is gone");
    begin = hearthi_clock_kernel();
    ck_timely(ends_turn(e, 1, any_failed, 5));
    ck_timely(e[0].failed_at - begin < UINT64_C(500000000));
    ck_assert_uint_ge(hearthi_clock_kernel() - begin, UINT64_C(1000000000));
    ends_close(e, 3);
}
END_TEST

/* ---- who does not come ---- */

START_TEST(a_cluster_that_does_not_come_is_given_up)
{
    uint64_t begin = hearthi_clock_kernel();
    double   took;

    pair_prepare(e);
    e[0].options.giveup = e[1].options.giveup = 0.5;
    pair_open(e);
    snprintf(e[1].conf.cluster[0].port, 6, "1");
    end_close(&e[1]);
    end_open(&e[1]); /* nobody is at port 1 */
    ck_timely(ends_turn(e, 2, all_failed, 20));
    took = (double)(hearthi_clock_kernel() - begin) / 1e9;
    ck_assert(took > 0.5);
    said(e[0].failed, "cluster beta (gateway 127.0.0.1) has not come to");
    said(e[1].failed,
         "cluster alpha: its gateway 127.0.0.1:1 does not answer");
    said(e[1].failed, "refused");
    ck_assert_int_eq(e[1].failed_cluster, 0);
    ends_close(e, 2);
}
END_TEST

START_TEST(a_cluster_that_is_gone_is_given_up_after_the_time_for_it)
{
    pair_prepare(e);
    e[0].options.giveup = e[1].options.giveup = 3;
    pair_open(e);
    ck_timely(ends_turn(e, 2, all_up, 5));
    end_close(&e[0]);
    ck_timely(!ends_turn(e, 2, any_failed, 0.3));
    ck_timely(ends_turn(e, 2, any_failed, 20));
    said(e[1].failed, "cluster alpha: its gateway 127.0.0.1:");
    said(e[1].failed, "does not answer any more, tried for");
    ends_close(e, 2);
}
END_TEST

/* Its machine is there, and takes what it gets; but nobody looks at it. */
START_TEST(a_cluster_that_is_silent_is_noticed_in_time)
{
    uint64_t begin;

    pair_prepare(e);
    for (int i = 0; i < 2; i++) {
        e[i].options.silence = 1;
        e[i].options.giveup = 1;
        e[i].options.handshake = 1;
    }
    pair_open(e);
    ck_timely(ends_turn(e, 2, all_up, 5));
    ck_timely(!ends_turn(e, 2, any_failed, 3)); /* beats alone keep it up */
    ck_timely(hearthi_link_counts(e[1].link).reconnects == 0);
    begin = hearthi_clock_kernel();
    ck_timely(ends_turn(&e[1], 1, any_failed, 20));
    ck_assert((double)(hearthi_clock_kernel() - begin) / 1e9 > 0.9);
    said(e[1].failed, "does not answer any more");
    ends_close(e, 2);
}
END_TEST

START_TEST(a_port_in_use_is_one_line)
{
    struct hearthi_link_calls calls = { NULL, NULL, NULL, NULL };
    struct hearthi_link_error w;

    pair_prepare(e);
    end_open(&e[0]);
    snprintf(e[1].conf.cluster[1].port, 6, "%d", end_port(&e[0]));
    ck_assert_ptr_null(
        hearthi_link_open(&e[1].conf, 1, &e[1].options, &calls, NULL, &w));
    said(w.text, "Address already in use");
    said(w.text, e[1].conf.cluster[1].port);
    strcpy(e[1].conf.cluster[0].host, "no.such.host.invalid");
    ck_assert_ptr_null(
        hearthi_link_open(&e[1].conf, 1, &e[1].options, &calls, NULL, &w));
    said(w.text, "gateway no.such.host.invalid of cluster alpha");
    strcpy(e[1].conf.key, "./no-key");
    ck_assert_ptr_null(
        hearthi_link_open(&e[1].conf, 1, &e[1].options, &calls, NULL, &w));
    said(w.text, "./no-key");
    end_close(&e[0]);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("link_handshake");
    TCase *tc = tcase_create("link_handshake");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, three_gateways_meet_and_each_hears_the_others);
    tcase_add_test(tc, options_that_differ_are_told_on_both_sides);
    tcase_add_test(tc, a_difference_in_a_long_list_is_one);
    tcase_add_test(tc, a_hello_is_as_long_as_may_be_and_no_longer);
    tcase_add_test(tc, another_version_or_another_file_is_told_on_both_sides);
    tcase_add_test(tc, the_second_job_of_a_name_is_refused_alone);
    tcase_add_test(tc, a_newcomer_with_another_file_is_refused_alone);
    tcase_add_test(tc, a_way_that_leads_back_later_ends_nothing);
    tcase_add_test(tc, a_cluster_that_was_started_anew_ends_the_job);
    tcase_add_test(tc, a_gateway_that_is_another_cluster_is_told);
    tcase_add_test(tc, a_gateway_that_leads_to_oneself_is_told);
    tcase_add_test(tc, a_job_that_ends_tells_the_others_why);
    tcase_add_test(tc, a_failure_is_told_before_others_have_heard);
    tcase_add_test(tc, a_cluster_that_does_not_come_is_given_up);
    tcase_add_test(tc,
                   a_cluster_that_is_gone_is_given_up_after_the_time_for_it);
    tcase_add_test(tc, a_cluster_that_is_silent_is_noticed_in_time);
    tcase_add_test(tc, a_port_in_use_is_one_line);
    suite_add_tcase(s, tc);
    ends_keys_make();
    unit_main(s);
    ends_keys_remove();
    return EXIT_SUCCESS;
}
