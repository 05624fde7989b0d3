/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Connections that are made again: to which address, and when no more.
 */
#include "config.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "link/link_state.h"
#include "link_ends.h"
#include "link_proxy.h"
#include "visitor.h"

static struct end e[ENDS_MAX];

static struct hearthi_remote_gateway *
gateway_of_alpha(void)
{
    return &e[1].link->remote[0];
}

static bool
again(struct end *all, int n)
{
    (void)n;
    return hearthi_link_counts(all[1].link).reconnects > 0;
}

/* Nobody answers at the first of two addresses. */
START_TEST(an_address_that_has_answered_is_called_again)
{
    struct hearthi_gateway *g;

    pair_prepare(e);
    pair_open(e);
    g = &gateway_of_alpha()->at;
    ck_assert_int_eq(g->n, 1);
    g->at = realloc(g->at, 2 * sizeof *g->at);
    ck_assert_ptr_nonnull(g->at);
    g->n = 2;
    g->at[1] = g->at[0];
    ((struct sockaddr_in *)&g->at[0].to)->sin_port = htons(1);
    ck_timely(ends_turn(e, 2, all_up, 5));
    ck_assert_int_eq(g->next, 1);
    shutdown(gateway_of_alpha()->conn[0]->fd, SHUT_RDWR);
    ck_timely(ends_turn(e, 2, again, 5));
    ck_assert_int_eq(gateway_of_alpha()->missed, 0);
    ck_assert_int_eq(gateway_of_alpha()->conn[0]->at, 1);
    ends_close(e, 2);
}
END_TEST

static bool
all_sent(struct end *all, int n)
{
    return any_failed(all, n) || (hearthi_link_unsent(all[0].link, 1) == 0 &&
                                  hearthi_link_unsent(all[1].link, 0) == 0);
}

/* Its system has let the other connect, several times, to nobody. */
START_TEST(a_gateway_that_was_suspended_goes_on)
{
    pair_prepare(e);
    for (int i = 0; i < 2; i++) {
        e[i].options.silence = 0.2;
        e[i].options.handshake = 0.3;
    }
    pair_open(e);
    ck_timely(ends_turn(e, 2, all_up, 5));
    line_send(&e[0], 1, "before");
    line_send(&e[1], 0, "before");
    ck_assert(!ends_turn(&e[1], 1, any_failed, 1));
    line_send(&e[1], 0, "meanwhile");
    line_send(&e[0], 1, "after");
    ck_timely(ends_turn(e, 2, all_sent, 5));
    ck_assert(!ends_turn(e, 2, any_failed, 0.3));
    ck_assert_int_eq(e[0].got[1], 2);
    ck_assert_int_eq(e[1].got[0], 2);
    ck_assert_uint_ge(hearthi_link_counts(e[1].link).reconnects, 1);
    ends_close(e, 2);
}
END_TEST

/* Packets of full size are lost: hellos come through, a message never. */
START_TEST(a_message_that_goes_down_with_each_connection_ends_the_job)
{
    struct proxy *network = calloc(1, sizeof *network);
    size_t        len = 64 << 10;

    pair_prepare(e);
    for (int i = 0; i < 2; i++) {
        e[i].options.silence = 0.1;
        e[i].options.giveup = 5;
        e[i].options.linger = 0.5;
    }
    end_open(&e[0]);
    network->to = end_port(&e[0]);
    network->most = 4096;
    proxy_start(network);
    snprintf(e[1].conf.cluster[0].port, 6, "%d", network->port);
    end_open(&e[1]);
    ck_assert(hearthi_link_give(e[1].link, 0, calloc(1, len), len, free));
    ck_timely(ends_turn(e, 2, all_failed, 20));
    said(e[1].failed, "cluster alpha (127.0.0.1:");
    said(e[1].failed, "broke (");
    said(e[1].failed, "with the same message of 65536 bytes");
    said(e[0].failed, "cluster beta has ended: cluster alpha");
    ends_close(e, 2);
}
END_TEST

static bool
one_came(struct end *all, int n)
{
    return any_failed(all, n) || all[1].got[0] > 0;
}

/* Bytes that come are a sign of life, long before a record is whole. */
START_TEST(a_slow_link_is_not_silent)
{
    struct proxy *network = calloc(1, sizeof *network);
    size_t        len = 30000;

    pair_prepare(e);
    e[1].options.silence = 0.3;
    end_open(&e[0]);
    network->to = end_port(&e[0]);
    network->slow = 500;
    proxy_start(network);
    snprintf(e[1].conf.cluster[0].port, 6, "%d", network->port);
    end_open(&e[1]);
    ck_assert(hearthi_link_give(e[0].link, 1, calloc(1, len), len, free));
    ck_timely(ends_turn(e, 2, one_came, 10));
    ck_assert_int_eq(e[1].got[0], 1);
    ck_timely(hearthi_link_counts(e[1].link).reconnects == 0);
    ends_close(e, 2);
}
END_TEST

static int
connections(const struct end *one)
{
    const struct hearthi_remote_gateway *m = &one->link->remote[1 - one->me];
    int                                  n = 0;

    for (int i = 0; i < HEARTHI_CONNECTIONS_MAX; i++)
        n += m->conn[i] != NULL && m->conn[i]->state == HEARTHI_CONNECTION_UP;
    return n;
}

static bool
all_connected(struct end *all, int n)
{
    (void)n;
    return connections(&all[0]) == all[1].options.conns &&
           connections(&all[1]) == all[1].options.conns;
}

START_TEST(who_connects_decides_how_many_connections_there_are)
{
    for (int conns = 1; conns <= HEARTHI_CONNECTIONS_MAX; conns += 2) {
        pair_prepare(e);
        e[0].options.conns = HEARTHI_CONNECTIONS_MAX + 1 - conns;
        e[1].options.conns = conns;
        pair_open(e);
        ck_timely(ends_turn(e, 2, all_connected, 5));
        ck_assert(!ends_turn(e, 2, any_failed, 0.1));
        ck_assert(all_connected(e, 2));
        ends_close(e, 2);
    }
}
END_TEST

static bool
beta_is_alone(struct end *all, int n)
{
    (void)n;
    return !hearthi_remote_gateway_is_up(&all[1].link->remote[0]);
}

/* It may live on for as long as it likes, and silence would tell of the end
 * much later. */
START_TEST(a_child_of_a_gateway_keeps_none_of_its_connections)
{
    int   port, status;
    pid_t child;

    pair_prepare(e);
    e[0].options.silence = e[1].options.silence = 30;
    pair_open(e);
    ck_timely(ends_turn(e, 2, all_up, 5));
    port = end_port(&e[0]);
    child = fork();
    if (child == 0) {
        hearthi_link_forked(e[0].link);
        raise(SIGSTOP);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    end_close(&e[0]);
    ck_timely(ends_turn(e, 2, beta_is_alone, 5));
    ck_assert_int_lt(visitor_or_none(port), 0);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    end_close(&e[1]);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("link_again");
    TCase *tc = tcase_create("link_again");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, an_address_that_has_answered_is_called_again);
    tcase_add_test(tc, a_gateway_that_was_suspended_goes_on);
    tcase_add_test(tc,
                   a_message_that_goes_down_with_each_connection_ends_the_job);
    tcase_add_test(tc, a_slow_link_is_not_silent);
    tcase_add_test(tc, who_connects_decides_how_many_connections_there_are);
    tcase_add_test(tc, a_child_of_a_gateway_keeps_none_of_its_connections);
    suite_add_tcase(s, tc);
    ends_keys_make();
    unit_main(s);
    ends_keys_remove();
    return EXIT_SUCCESS;
}
