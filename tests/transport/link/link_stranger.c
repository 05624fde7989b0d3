/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who is not let in: without the key, with garbage, or without a word.
 */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "link/link_state.h"
#include "link_ends.h"

static struct end e[ENDS_MAX];

static bool
one_stranger(struct end *all, int n)
{
    (void)n;
    return hearthi_link_counts(all->link).strangers >= 1;
}

START_TEST(another_key_is_refused_and_told_on_the_side_that_knows)
{
    pair_prepare(e);
    strcpy(e[1].conf.key, ends_other_key);
    pair_open(e);
    ck_timely(ends_turn(e, 2, any_failed, 5));
    ck_assert_int_eq(e[1].failures, 1);
    said(e[1].failed, "cluster alpha does not know our key");
    said(e[1].failed, "/other");
    ck_timely(ends_turn(e, 1, one_stranger, 5));
    ck_assert_int_eq(e[0].failures, 0);
    ck_assert_int_eq(e[0].warnings, 1);
    said(e[0].warned, "a connection from 127.0.0.1:");
    e[0].link->options.giveup = 0.01;
    ck_timely(ends_turn(e, 1, all_failed, 5));
    said(e[0].failed, "1 connections without our key came");
    ck_assert_int_eq(e[0].ups + e[1].ups, 0);
    ends_close(e, 2);
}
END_TEST

/* Read until the other side closes; what came, at most room. */
static size_t
all_read(int fd, char *in, size_t room)
{
    size_t n = 0;

    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        ssize_t       r;

        hearthi_link_turn(e[0].link, 1);
        if (poll(&p, 1, 1) == 0)
            continue;
        r = recv(fd, in + n, room - n, 0);
        if (r <= 0)
            return n;
        n += (size_t)r;
    }
}

START_TEST(garbage_learns_nothing_and_disturbs_nothing)
{
    static const char *const texts[] = { "GET / HTTP/1.0\r\n\r\n",
                                         "SSH-2.0-OpenSSH_9.2\r\n",
                                         "\x16\x03\x01\x40\x00 and more of it",
                                         "\0\0\0\0\0\0\0\0" };
    char                     in[256];

    ends_open(e, 2);
    for (size_t i = 0; i < 4; i++) {
        int    fd = visitor(end_port(&e[0]));
        size_t n;

        ck_assert(send(fd, texts[i], 18, MSG_NOSIGNAL) == 18);
        shutdown(fd, SHUT_WR);
        n = all_read(fd, in, sizeof in);
        /* An alert of TLS, and no more. */
        ck_assert_msg(n == 0 || (n == 7 && in[0] == 21), "%zu bytes", n);
        close(fd);
    }
    line_send(&e[0], 1, "still here");
    line_send(&e[1], 0, "still here");
    ck_timely(ends_turn(e, 2, all_came, 5));
    ck_assert_uint_eq(hearthi_link_counts(e[0].link).strangers, 4);
    ck_timely(hearthi_link_counts(e[0].link).reconnects == 0);
    ck_assert_int_eq(e[0].warnings, 1); /* the first is told of */
    ends_close(e, 2);
}
END_TEST

START_TEST(a_half_open_connection_has_a_time)
{
    char     in[16];
    int      fd;
    uint64_t begin = hearthi_clock_kernel();

    pair_prepare(e);
    e[0].options.handshake = 0.3;
    pair_open(e);
    ck_timely(ends_turn(e, 2, all_up, 5));
    fd = visitor(end_port(&e[0]));
    ck_assert_uint_eq(all_read(fd, in, sizeof in), 0);
    ck_assert((double)(hearthi_clock_kernel() - begin) / 1e9 > 0.25);
    said(e[0].warned, "did not say who it is");
    close(fd);
    ends_close(e, 2);
}
END_TEST

/* More of them than there is room for, and more each time. */
START_TEST(connections_that_say_nothing_keep_no_cluster_out)
{
    enum { MANY = 100 };
    int fd[MANY];

    pair_prepare(e);
    e[0].options.handshake = 60;
    e[0].options.guests = 8;
    end_open(&e[0]);
    for (int i = 0; i < MANY; i++) {
        fd[i] = visitor(end_port(&e[0]));
        hearthi_link_turn(e[0].link, 0);
    }
    end_knows(&e[1], &e[0]);
    end_open(&e[1]);
    ck_timely(ends_turn(e, 2, all_up, 5));
    ck_assert_uint_ge(hearthi_link_counts(e[0].link).strangers,
                      MANY - 8 - HEARTHI_CONNECTIONS_MAX);
    for (int i = 0; i < MANY; i++)
        close(fd[i]);
    ends_close(e, 2);
}
END_TEST

/* From another address than clusters come from: 127.0.0.2. */
static int
other_visitor(int port)
{
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1) };
    int                fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a.sin_port = htons((uint16_t)port);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

/* More of them in each turn than there is room for. */
START_TEST(connections_that_never_cease_keep_no_cluster_out)
{
    enum { FEW = 8, MANY = FEW + HEARTHI_CONNECTIONS_MAX, TURNS = 100 };
    int fd[MANY] = { 0 };

    pair_prepare(e);
    e[0].options.guests = FEW;
    pair_open(e);
    for (int i = 0; i < TURNS && !all_up(e, 2); i++) {
        for (int j = 0; j < MANY; j++) {
            if (fd[j] > 0)
                close(fd[j]);
            fd[j] = other_visitor(end_port(&e[0]));
        }
        hearthi_link_turn(e[0].link, 1);
        hearthi_link_turn(e[1].link, 1);
    }
    ck_assert(all_up(e, 2));
    ends_close(e, 2);
}
END_TEST

START_TEST(all_connections_of_clusters_have_room)
{
    pair_prepare(e);
    e[0].options.guests = 1;
    e[1].options.conns = HEARTHI_CONNECTIONS_MAX;
    pair_open(e);
    ck_timely(ends_turn(e, 2, all_up, 5));
    ck_assert(!ends_turn(e, 2, any_failed, 0.1));
    for (int i = 0; i < HEARTHI_CONNECTIONS_MAX; i++)
        ck_assert(e[0].link->remote[1].conn[i] != NULL);
    ck_assert_uint_eq(hearthi_link_counts(e[0].link).strangers, 0);
    ends_close(e, 2);
}
END_TEST

static uint64_t
cpu_now(void)
{
    return hearthi_clock_of(CLOCK_THREAD_CPUTIME_ID);
}

/* What the gateway spends on so many connections that say nothing and go. */
static uint64_t
price_of(struct hearthi_link *k, int n)
{
    uint64_t all = 0, least = hearthi_link_counts(k).strangers + (uint64_t)n;

    while (n-- > 0) {
        int      fd = visitor(end_port(&e[0]));
        uint64_t begin;

        close(fd);
        begin = cpu_now();
        hearthi_link_turn(k, 0);
        all += cpu_now() - begin;
    }
    while (hearthi_link_counts(k).strangers < least)
        hearthi_link_turn(k, 0);
    return all;
}

/* As long as some have come a moment before, which one that waits for a core
 * may see as long ago. */
START_TEST(many_connections_of_a_host_are_cheap)
{
    enum { SHARE = 101, N = 50, TRIES = 5 };
    uint64_t first, more = UINT64_MAX;

    pair_prepare(e);
    pair_open(e);
    first = price_of(e[0].link, N);
    for (int i = 0; i < TRIES && more >= first / 2; i++) {
        price_of(e[0].link, SHARE);
        more = price_of(e[0].link, N);
    }
    ck_assert_msg(more < first / 2, "%llu and %llu us",
                  (unsigned long long)first / 1000,
                  (unsigned long long)more / 1000);
    ck_timely(ends_turn(e, 2, all_up, 5));
    ends_close(e, 2);
}
END_TEST

START_TEST(connections_do_not_keep_the_gateway_from_its_work)
{
    enum { MANY = 60, FEW = 32 };
    int fd[MANY];

    pair_prepare(e);
    e[0].options.guests = MANY;
    pair_open(e);
    for (int i = 0; i < MANY; i++)
        fd[i] = visitor(end_port(&e[0]));
    hearthi_link_turn(e[0].link, 1);
    ck_assert_int_gt(e[0].link->n_guests, 0);
    ck_assert_int_le(e[0].link->n_guests, FEW);
    ck_timely(ends_turn(e, 2, all_up, 5));
    for (int i = 0; i < MANY; i++)
        close(fd[i]);
    ends_close(e, 2);
}
END_TEST

/* The address in the file is that of something else. */
START_TEST(a_gateway_that_is_none_is_told)
{
    int                fd = socket(AF_INET, SOCK_STREAM, 0), at;
    struct sockaddr_in a = { .sin_family = AF_INET };
    socklen_t          len = sizeof a;

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    ck_assert_int_eq(listen(fd, 5), 0);
    getsockname(fd, (struct sockaddr *)&a, &len);
    end_prepare(&e[1], 2, 1);
    snprintf(e[1].conf.cluster[0].port, 6, "%d", ntohs(a.sin_port));
    end_open(&e[1]);
    hearthi_link_turn(e[1].link, 10);
    at = accept(fd, NULL, NULL);
    ck_assert_int_eq(send(at, "SSH-2.0-OpenSSH\r\n", 17, MSG_NOSIGNAL), 17);
    ck_timely(ends_turn(&e[1], 1, all_failed, 5));
    said(e[1].failed, "cluster alpha does not know our key");
    close(at);
    close(fd);
    end_close(&e[1]);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("link_stranger");
    TCase *tc = tcase_create("link_stranger");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, another_key_is_refused_and_told_on_the_side_that_knows);
    tcase_add_test(tc, garbage_learns_nothing_and_disturbs_nothing);
    tcase_add_test(tc, a_half_open_connection_has_a_time);
    tcase_add_test(tc, connections_that_say_nothing_keep_no_cluster_out);
    tcase_add_test(tc, connections_that_never_cease_keep_no_cluster_out);
    tcase_add_test(tc, all_connections_of_clusters_have_room);
    tcase_add_test(tc, many_connections_of_a_host_are_cheap);
    tcase_add_test(tc, connections_do_not_keep_the_gateway_from_its_work);
    tcase_add_test(tc, a_gateway_that_is_none_is_told);
    suite_add_tcase(s, tc);
    ends_keys_make();
    unit_main(s);
    ends_keys_remove();
    return EXIT_SUCCESS;
}
