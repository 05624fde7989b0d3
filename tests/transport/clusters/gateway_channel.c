/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A rank and a gateway that goes away
 * (src/transport/clusters/gateway_channel.h).
 */
#define _GNU_SOURCE
#include <config.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/report.h"
#include "harness.h"
#include "transport/clusters/gateway_channel.h"

enum { TRIES = 100, SLOW_US = 300000 };

static int listener;

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

/* One that takes its time, and then answers. */
static void *
gateway_slow(void *unused)
{
    int fd = accept(listener, NULL, NULL);

    usleep(SLOW_US);
    send(fd, "", 1, MSG_NOSIGNAL);
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
    static const char why[64] = "it was ended by one of its ranks";

    (void)call;
    (void)text;
    hearthi_gateway_channel_ending(why, sizeof why);
    return true;
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

/* No connection can be to all. */
static void
address_of_all(void)
{
    to.at.at[0].v4.sin_addr.s_addr = htonl(INADDR_BROADCAST);
    to.at.n = 1;
}

/* A rank asks for a connection, after that, to one that lets it wait: one that
 * is gone at once may be so before the rank has said its name.  Its status;
 * and what it says. */
static int
rank_connects(void (*before)(void), char *text, size_t room)
{
    int   fd = memfd_create("said", 0), status;
    pid_t child;

    gateway_start(&to, NULL);
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

    ck_assert_int_eq(rank_connects(files_no_more, text, sizeof text),
                     HEARTHI_EXIT);
    ck_assert_msg(strstr(text, "raise the limit on open files") != NULL,
                  "it says: %s", text);
}
END_TEST

START_TEST(a_rank_may_open_more_files_where_the_system_lets_it)
{
    char text[300];
    int  status = rank_connects(files_more, text, sizeof text);

    ck_assert_msg(status == 0, "status %d; it says: %s", status, text);
}
END_TEST

START_TEST(a_connection_that_cannot_be_does_not_time_out)
{
    char text[300];

    ck_assert_int_eq(rank_connects(address_of_all, text, sizeof text),
                     HEARTHI_EXIT);
    ck_assert_msg(strstr(text, "timed out") == NULL, "it says: %s", text);
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
    ending("hearth_alloc", "");
    ck_assert_uint_ge(hearthi_clock_kernel() - begin, SLOW_US * UINT64_C(900));
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("channel");
    TCase *tc = tcase_create("channel");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_gateway_that_goes_away_silences_no_rank);
    tcase_add_test(tc, a_rank_that_may_open_no_file_says_so);
    tcase_add_test(tc, a_rank_may_open_more_files_where_the_system_lets_it);
    tcase_add_test(tc, a_connection_that_cannot_be_does_not_time_out);
    tcase_add_test(tc, a_gateway_may_open_files_for_its_ranks);
    tcase_add_test(tc, a_gateway_has_its_time_whatever_signals_come);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
