/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A rank and a gateway that goes away
 * (src/transport/clusters/gateway_channel.h).
 */
#define _GNU_SOURCE
#include <config.h>

#include <arpa/inet.h>
#include <linux/filter.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "harness.h"
#include "transport/clusters/gateway_channel.h"
#include "transport/clusters/gateway_server.h"
#include "transport/clusters/gateway_thread.h"
#include "transport/clusters/rank_connection.h"
#include "visitor.h"
#include "world.h"

enum { TRIES = 100, SLOW_US = 300000, AWAY = 3, STRANGERS = 300 };

static int listener;

/* As by default, in all tests but those of a gateway that is cut off: with
 * none the kernel would give a connection up when an acknowledgement, of its
 * own on this machine, takes a millisecond. */
static void
patient(void)
{
    hearthi_opt.gateway_giveup = UINT64_C(60000000000);
}

/* One that lets in whoever comes and is gone. */
static void *
gateway_gone(void *unused)
{
    const struct linger none = { .l_onoff = 1 };

    for (;;) {
        int fd = accept(listener, NULL, NULL);

        setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
        close(fd);
    }
    return unused;
}

/* What a rank says first, and the answer to it. */
static void
hello_answer(int fd)
{
    struct hearthi_listener_words said;
    struct hearthi_wan_message    answer = { .op = HEARTHI_WAN_HELLO };

    if (recv(fd, &said, sizeof said, MSG_WAITALL) == sizeof said)
        send(fd, &answer, sizeof answer, MSG_NOSIGNAL);
}

static void *
gateway_answers(void *unused)
{
    for (;;)
        hello_answer(accept(listener, NULL, NULL));
    return unused;
}

/* One that sends away who comes first. */
static void *
gateway_crowded(void *unused)
{
    for (int i = 0; i < AWAY; i++)
        close(accept(listener, NULL, NULL));
    return gateway_answers(unused);
}

/* One that takes its time, and then answers. */
static void *
gateway_slow(void *unused)
{
    int fd = accept(listener, NULL, NULL);

    hello_answer(fd);
    usleep(SLOW_US);
    send(fd, "", 1, MSG_NOSIGNAL);
    close(fd);
    return unused;
}

static void
gateway_start(struct hearthi_listener *door, void *(*run)(void *))
{
    struct sockaddr_in a = { .sin_family = AF_INET };
    socklen_t          size = sizeof a;
    pthread_t          thread;

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&a, size), 0);
    ck_assert_int_eq(listen(listener, TRIES), 0);
    getsockname(listener, (struct sockaddr *)&a, &size);
    door->at = hearthi_addresses_loopback();
    hearthi_addresses_port(&door->at, a.sin_port);
    if (run != NULL)
        pthread_create(&thread, NULL, run, NULL);
}

static bool
ending(const char *call, const char *text)
{
    (void)call;
    return hearthi_gateway_channel_ending(text);
}

/* What a rank says that ends the job. */
static size_t
last_words(const struct hearthi_listener *door, char *text, size_t room)
{
    int    fd = memfd_create("said", 0), status;
    size_t n;
    pid_t  child = fork();

    if (child == 0) {
        dup2(fd, STDERR_FILENO);
        hearthi_gateway_channels_open(door);
        hearthi_ending_hook = ending;
        hearthi_fatal("hearth_alloc", "this and that is wrong");
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WEXITSTATUS(status), HEARTHI_EXIT);
    n = (size_t)pread(fd, text, room - 1, 0);
    text[n] = '\0';
    close(fd);
    return n;
}

/* One to which another rank of the cluster has said why the job ends. */
static void *
gateway_told(void *unused)
{
    int                        fd = accept(listener, NULL, NULL);
    struct hearthi_wan_message answer = { .op = HEARTHI_WAN_ENDING,
                                          .answer = 1 };

    hello_answer(fd);
    send(fd, &answer, sizeof answer, MSG_NOSIGNAL);
    return unused;
}

static void
files_bound(rlim_t n, rlim_t most)
{
    struct rlimit files;

    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = n;
    if (most < files.rlim_max)
        files.rlim_max = most;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
}

static void
files_no_more(void)
{
    rlim_t all = (rlim_t)dup(0);

    files_bound(all, all);
}

static void
files_more(void)
{
    files_bound((rlim_t)dup(0), RLIM_INFINITY);
}

static struct hearthi_listener to;

static void
as_it_is(void)
{
}

/* No connection can be to all. */
static void
address_of_all(void)
{
    to.at.at[0].v4.sin_addr.s_addr = htonl(INADDR_BROADCAST);
    to.at.n = 1;
}

/* A rank asks for a connection, after that.  Its status; and what it says. */
static int
rank_connects(void *(*gateway)(void *), void (*before)(void), char *text,
              size_t room)
{
    int   fd = memfd_create("said", 0), status;
    pid_t child;

    gateway_start(&to, gateway);
    child = fork();
    if (child == 0) {
        dup2(fd, STDERR_FILENO);
        before();
        hearthi_gateway_channels_open(&to);
        hearthi_gateway_channel_take();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    text[pread(fd, text, room - 1, 0)] = '\0';
    close(fd);
    return WEXITSTATUS(status);
}

/* No firewall is to blame when a rank may open no more files. */
START_TEST(a_rank_that_may_open_no_file_says_so)
{
    char text[300];

    ck_assert_int_eq(
        rank_connects(gateway_answers, files_no_more, text, sizeof text),
        HEARTHI_EXIT);
    ck_assert_msg(strstr(text, "raise the limit on open files") != NULL,
                  "it says: %s", text);
}
END_TEST

START_TEST(a_rank_may_open_more_files_where_the_system_lets_it)
{
    char text[300];
    int status = rank_connects(gateway_answers, files_more, text, sizeof text);

    ck_assert_msg(status == 0, "status %d; it says: %s", status, text);
}
END_TEST

START_TEST(a_connection_that_cannot_be_does_not_time_out)
{
    char text[300];

    ck_assert_int_eq(
        rank_connects(gateway_answers, address_of_all, text, sizeof text),
        HEARTHI_EXIT);
    ck_assert_msg(strstr(text, "timed out") == NULL, "it says: %s", text);
}
END_TEST

/* As it may be while strangers come. */
START_TEST(a_rank_that_is_sent_away_comes_again)
{
    char text[300];
    int  status = rank_connects(gateway_crowded, as_it_is, text, sizeof text);

    ck_assert_msg(status == 0, "status %d; it says: %s", status, text);
}
END_TEST

/* One that answers who comes, and is killed a little later. */
static void *
gateway_killed(void *unused)
{
    int fd[2] = { accept(listener, NULL, NULL), accept(listener, NULL, NULL) };

    for (int i = 0; i < 2; i++)
        hello_answer(fd[i]);
    usleep(SLOW_US);
    for (int i = 0; i < 2; i++)
        close(fd[i]);
    close(listener);
    return unused;
}

/* The rank of that place waits for an answer.  Nobody ends it. */
static pid_t
rank_waits(const struct hearthi_listener *door, int place, int said)
{
    pid_t child = fork();

    if (child == 0) {
        dup2(said, STDERR_FILENO);
        hearthi_world.rank = place;
        hearthi_gateway_channels_open(door);
        hearthi_gateway_channel_hear(hearthi_gateway_channel_take(),
                                     "barrier");
        _exit(0);
    }
    return child;
}

/* Of ranks 1 and 2, rank 0 being the gateway's: a launcher has two seconds to
 * end the second. */
START_TEST(one_rank_says_that_the_gateway_is_gone)
{
    struct hearthi_listener door = { .gateway = 0 };
    int                     said = memfd_create("said", 0), status;
    pid_t                   rank[2], ended;
    pthread_t               gateway;
    char                    text[400];

    gateway_start(&door, NULL);
    for (int i = 0; i < 2; i++)
        rank[i] = rank_waits(&door, i + 1, said);
    /* not before: the second rank would keep the first one's connection open
     */
    pthread_create(&gateway, NULL, gateway_killed, NULL);
    ck_assert_int_eq(waitpid(rank[0], &status, 0), rank[0]);
    usleep(2 * SLOW_US);
    ended = waitpid(rank[1], &status, WNOHANG);
    kill(rank[1], SIGKILL);
    text[pread(said, text, sizeof text - 1, 0)] = '\0';
    ck_assert_msg(ended == 0, "status %x; they say: %s" TIMELY, status, text);
    waitpid(rank[1], &status, 0);
    ck_assert_str_eq(text, "hearth: barrier: the gateway of this cluster is "
                           "gone (it has closed the connection)\n");
    close(said);
}
END_TEST

/* It asks when nothing passes any more, for ten seconds at most. */
static pid_t
rank_asks(const struct hearthi_listener *door, int said)
{
    const struct hearthi_wan_message ask = { .op = HEARTHI_WAN_BARRIER };
    struct hearthi_gateway_channel  *c;
    pid_t                            child = fork();

    if (child == 0) {
        dup2(said, STDERR_FILENO);
        alarm(10);
        hearthi_world.rank = 1;
        hearthi_gateway_channels_open(door);
        c = hearthi_gateway_channel_take();
        usleep(SLOW_US);
        hearthi_gateway_channel_ask(c, ask, NULL, 0, "barrier");
        _exit(0);
    }
    return child;
}

/* One that lives, and whose connection nothing passes any more. */
static void *
gateway_cut_off(void *unused)
{
    struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
    struct sock_fprog  filter = { 1, &none };
    int                fd = accept(listener, NULL, NULL);

    hello_answer(fd);
    setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
    return unused;
}

/* It cannot know which of the two is cut off. */
START_TEST(a_gateway_that_is_cut_off_is_not_called_gone)
{
    struct hearthi_listener door = { .gateway = 0 };
    int                     said = memfd_create("said", 0), status;
    pid_t                   rank;
    char                    text[400] = "";

    hearthi_opt.gateway_giveup = 1;
    gateway_start(&door, gateway_cut_off);
    rank = rank_waits(&door, 1, said);
    ck_assert_int_eq(waitpid(rank, &status, 0), rank);
    ck_assert_int_gt(pread(said, text, sizeof text - 1, 0), 0);
    ck_assert_msg(strstr(text, "no answer from the gateway") != NULL &&
                      strstr(text, "or one of the two hosts") != NULL &&
                      strstr(text, "is gone") == NULL,
                  "it says: %s", text);
}
END_TEST

/* What was sent and is not acknowledged is no reason to wait for longer. */
START_TEST(a_rank_that_asks_a_gateway_that_is_cut_off_says_so)
{
    struct hearthi_listener door = { .gateway = 0 };
    int                     said = memfd_create("said", 0), status;
    pid_t                   rank;
    char                    text[400] = "";

    hearthi_opt.gateway_giveup = 1;
    gateway_start(&door, gateway_cut_off);
    rank = rank_asks(&door, said);
    ck_assert_int_eq(waitpid(rank, &status, 0), rank);
    ck_timely(WIFEXITED(status));
    ck_assert_int_gt(pread(said, text, sizeof text - 1, 0), 0);
    ck_assert_msg(strstr(text, "no answer from the gateway") != NULL,
                  "it says: %s", text);
}
END_TEST

/* One of them says its first byte, and no more. */
static void
strangers_come(const struct hearthi_listener *door, int *fd)
{
    for (int i = 0; i < STRANGERS; i++) {
        fd[i] = visitor_or_none(ntohs(door->at.at[0].v4.sin_port));
        ck_assert_int_ge(fd[i], 0);
        send(fd[i], "", 1, MSG_NOSIGNAL);
    }
}

static void
strangers_go(const int *fd)
{
    for (int i = 0; i < STRANGERS; i++)
        close(fd[i]);
}

static struct hearthi_conf conf = { .n = 1, .ranks = 1 };

static void
gateway_begin(struct hearthi_listener *door)
{
    hearthi_gateway_server.conf = &conf;
    hearthi_gateway_server.ranks = 1;
    *door = hearthi_gateway_clients_listen();
    hearthi_gateway_clients_open(eventfd(0, 0));
}

static int turns;

/* One of the gateway's, while a rank waits for it in the same thread.  Longer
 * than a moment it takes only if there is nothing to do. */
static void
turn(int fd, short events)
{
    (void)fd, (void)events;
    turns++;
    hearthi_gateway_clients_take(1000);
    hearthi_gateway_clients_send();
}

/* However many, and though they stay: a gateway takes dozens in a turn. */
START_TEST(strangers_keep_no_rank_waiting)
{
    enum { TURNS = STRANGERS / 10 };
    struct hearthi_listener door;
    int                     fd[STRANGERS], rank = -1;
    struct hearthi_wan_message hello = { .op = HEARTHI_WAN_HELLO, .value = 1 };

    gateway_begin(&door);
    strangers_come(&door, fd);
    hearthi_gateway_connect_at(&door);
    turns = 0;
    while (rank < 0 && turns <= TURNS)
        rank = hearthi_gateway_connect(&hello, turn);
    ck_assert_int_ge(rank, 0);
    ck_assert_int_le(turns, TURNS);
    strangers_go(fd);
    close(rank);
    hearthi_gateway_clients_bye(0);
    hearthi_gateway_clients_close();
}
END_TEST

/* A gateway that takes one rank in, makes a child that lives on, and ends. */
static void
gateway_with_child(int tell, const int *goes)
{
    struct hearthi_listener door;
    char                    byte;

    gateway_begin(&door);
    if (write(tell, &door, sizeof door) != sizeof door)
        _exit(1);
    for (int i = 0; i < AWAY; i++) {
        hearthi_gateway_clients_take(SLOW_US / 1000);
        hearthi_gateway_clients_send();
    }
    if (fork() == 0) {
        close(goes[1]);
        hearthi_gateway_clients_forked();
        (void)!read(goes[0], &byte, 1); /* until the test ends */
    }
    _exit(0);
}

START_TEST(a_child_of_the_gateway_keeps_no_rank_waiting)
{
    struct hearthi_listener door;
    int                            told[2], goes[2], status;
    struct pollfd           p = { .events = POLLIN };
    struct hearthi_rank_connection c;
    pid_t                   gateway;
    char                    byte;

    ck_assert_int_eq(pipe(told) + pipe(goes), 0);
    gateway = fork();
    if (gateway == 0)
        gateway_with_child(told[1], goes);
    ck_assert_int_eq(read(told[0], &door, sizeof door), sizeof door);
    hearthi_gateway_channels_open(&door);
    hearthi_rank_connection_open(&c, HEARTHI_WAN_HEARS);
    p.fd = c.fd;
    ck_assert_int_eq(waitpid(gateway, &status, 0), gateway);
    ck_timely(poll(&p, 1, 10000) == 1);
    ck_assert_int_eq(recv(c.fd, &byte, 1, 0), 0);
    close(goes[1]);
    hearthi_rank_connection_close(&c);
}
END_TEST

/* Some files for each rank, where the system lets it have them. */
START_TEST(a_gateway_may_open_files_for_its_ranks)
{
    struct hearthi_listener door;
    struct rlimit           files;
    int                     status;
    pid_t                   child = fork();

    if (child == 0) {
        files_bound(60, RLIM_INFINITY);
        close(hearthi_listener_listen(&door));
        getrlimit(RLIMIT_NOFILE, &files);
        _exit(files.rlim_cur >= 1024 || files.rlim_cur == files.rlim_max ? 0
                                                                         : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* Ranks of other machines would wait for where it listens. */
START_TEST(a_gateway_whose_host_has_no_address_ends_the_job)
{
    struct hearthi_listener door;
    int                     said = memfd_create("said", 0), status;
    char                    text[400] = "";
    pid_t                   child = fork();

    if (child == 0) {
        dup2(said, STDERR_FILENO);
        hearthi_cluster.size = 2;
        hearthi_cluster.machine_ranks = 1;
        strcpy(hearthi_opt.network.list, "none0");
        hearthi_listener_listen(&door);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WEXITSTATUS(status), HEARTHI_EXIT);
    ck_assert_int_gt(pread(said, text, sizeof text - 1, 0), 0);
    ck_assert_ptr_nonnull(strstr(text, "HEARTH_NETWORK=none0"));
    close(said);
}
END_TEST

START_TEST(a_gateway_that_goes_away_silences_no_rank)
{
    struct hearthi_listener door;
    char                    text[200];

    gateway_start(&door, gateway_gone);
    for (int i = 0; i < TRIES; i++) {
        last_words(&door, text, sizeof text);
        ck_assert_str_eq(text, "hearth: hearth_alloc: this and that is "
                               "wrong\n");
    }
}
END_TEST

START_TEST(of_two_ranks_that_end_the_job_one_says_why)
{
    struct hearthi_listener door;
    int                     said = memfd_create("said", 0), status;
    char                    text[200];
    pid_t                   child;

    gateway_start(&door, gateway_told);
    child = fork();
    if (child == 0) {
        dup2(said, STDERR_FILENO);
        hearthi_gateway_channels_open(&door);
        hearthi_ending_hook = ending;
        hearthi_fatal("hearth_alloc", "this and that is wrong");
    }
    usleep(2 * SLOW_US);
    ck_timely(waitpid(child, &status, WNOHANG) == 0);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    ck_assert_int_eq(pread(said, text, sizeof text, 0), 0);
    close(said);
}
END_TEST

static void
tick(int sig)
{
    (void)sig;
}

/* The other clusters are told before this job ends. */
START_TEST(a_gateway_has_its_time_whatever_signals_come)
{
    const struct itimerval  often = { { 0, 5000 }, { 0, 5000 } };
    struct hearthi_listener door;
    uint64_t                begin;

    gateway_start(&door, gateway_slow);
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &often, NULL);
    hearthi_gateway_channels_open(&door);
    begin = hearthi_clock_kernel();
    ending("", "");
    ck_assert_uint_ge(hearthi_clock_kernel() - begin, SLOW_US * UINT64_C(900));
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("gateway_channel");
    TCase *tc = tcase_create("gateway_channel");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, patient, NULL);
    tcase_add_test(tc, a_gateway_that_goes_away_silences_no_rank);
    tcase_add_test(tc, a_rank_that_may_open_no_file_says_so);
    tcase_add_test(tc, a_rank_may_open_more_files_where_the_system_lets_it);
    tcase_add_test(tc, a_connection_that_cannot_be_does_not_time_out);
    tcase_add_test(tc, a_rank_that_is_sent_away_comes_again);
    tcase_add_test(tc, one_rank_says_that_the_gateway_is_gone);
    tcase_add_test(tc, a_gateway_that_is_cut_off_is_not_called_gone);
    tcase_add_test(tc, a_rank_that_asks_a_gateway_that_is_cut_off_says_so);
    tcase_add_test(tc, strangers_keep_no_rank_waiting);
    tcase_add_test(tc, a_gateway_may_open_files_for_its_ranks);
    tcase_add_test(tc, a_gateway_whose_host_has_no_address_ends_the_job);
    tcase_add_test(tc, a_child_of_the_gateway_keeps_no_rank_waiting);
    tcase_add_test(tc, of_two_ranks_that_end_the_job_one_says_why);
    tcase_add_test(tc, a_gateway_has_its_time_whatever_signals_come);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
