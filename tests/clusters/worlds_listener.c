/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The door at which a gateway's ranks connect: strangers there, children of
 * fork(), and ranks that have much to ask at once.
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "visitor.h"
#include "worlds.h"

enum { DOORS = 8, MANY = 150 };

/* ---- where it is ---- */

/* Is it a socket of this process? */
static bool
is_own(unsigned long inode)
{
    DIR           *fds = opendir("/proc/self/fd");
    struct dirent *d;
    char           path[300], to[64], want[64];
    bool           found = false;

    snprintf(want, sizeof want, "socket:[%lu]", inode);
    while ((d = readdir(fds)) != NULL) {
        ssize_t n;

        snprintf(path, sizeof path, "/proc/self/fd/%s", d->d_name);
        n = readlink(path, to, sizeof to - 1);
        to[n > 0 ? n : 0] = '\0';
        found |= strcmp(to, want) == 0;
    }
    closedir(fds);
    return found;
}

/* Ports of 127.0.0.1 at which this process listens: that of the gateway for
 * its ranks, and that for other gateways, who know what to do with strangers.
 */
static int
doors_find(int *port)
{
    enum { LISTENS = 0x0a };
    FILE         *f = fopen("/proc/self/net/tcp", "r");
    char          line[300];
    unsigned      at, to, state;
    unsigned long inode;
    int           n = 0;

    while (fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, " %*d: %x:%x %*x:%*x %x %*s %*s %*s %*s %*s %lu", &at,
                   &to, &state, &inode) == 4 &&
            state == LISTENS && at == htonl(INADDR_LOOPBACK) && n < DOORS &&
            is_own(inode))
            port[n++] = (int)to;
    fclose(f);
    return n;
}

/* One to each door of this process. */
static int
strangers_come(int *fd)
{
    int port[DOORS], n = doors_find(port);

    for (int i = 0; i < n; i++)
        fd[i] = visitor_or_none(port[i]);
    return n;
}

static void
strangers_go(const int *fd, int n)
{
    for (int i = 0; i < n; i++)
        close(fd[i]);
}

/* ---- threads ---- */

struct waiting {
    pthread_t thread[MANY];
    int       n;
};

static void *
flag_wait(void *flag)
{
    hearth_flag_wait((int)(intptr_t)flag);
    return NULL;
}

static void
waiting_begin(struct waiting *w, int n)
{
    w->n = threads_allowed() ? n : 0;
    for (int t = 0; t < w->n; t++)
        pthread_create(&w->thread[t], NULL, flag_wait, (void *)(intptr_t)me);
}

/* Each of them has asked by now, or will find the flag set. */
static void
waiting_end(struct waiting *w)
{
    sleep_ms(200);
    barrier();
    hearth_flag_set((me + 1) % ranks);
    for (int t = 0; t < w->n; t++)
        pthread_join(w->thread[t], NULL);
    barrier();
    hearth_flag_reset(me);
    barrier();
}

/* ---- tests ---- */

/* A thread that waits has a connection to the gateway; so has who sets what
 * all of them wait for. */
START_TEST(many_threads_of_a_rank_wait_at_once)
{
    struct waiting w;

    fixture_start();
    waiting_begin(&w, MANY);
    waiting_end(&w);
    all_expected();
    fixture_stop();
}
END_TEST

/* A child has what was open, and keeps it open when the gateway has closed
 * it: nothing that comes there is the gateway's any more. */
START_TEST(a_child_that_stays_keeps_no_connection_alive)
{
    static const char garbage[200] = "GET / HTTP/1.0\r\n\r\n";
    int               fd[DOORS], n;
    pid_t             child;

    fixture_start();
    n = strangers_come(fd);
    barrier(); /* it has taken them in */
    child = fork();
    if (child == 0) {
        strangers_go(fd, n); /* that side only */
        alarm(60);
        pause();
        _exit(0);
    }
    for (int i = 0; i < n; i++)
        send(fd[i], garbage, sizeof garbage, MSG_NOSIGNAL);
    barrier();
    strangers_go(fd, n);
    for (int i = 0; i < 10; i++)
        barrier();
    all_expected();
    fixture_stop();
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}
END_TEST

void
worlds_listener_tests(TCase *tc)
{
    tcase_add_test(tc, many_threads_of_a_rank_wait_at_once);
    tcase_add_test(tc, a_child_that_stays_keeps_no_connection_alive);
}
