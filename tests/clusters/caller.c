/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who is at a gateway's port, and should not be; for clusters.tap.
 *
 * caller keep PORT -- have the port, until ended.
 *
 * caller strangers PORT -- call there as long as somebody listens: with what
 * is no TLS, and with connections that say nothing and stay.  Says how often.
 *
 * caller flood PORT -- connect there and reset it at once, as often as one
 * core can, as long as somebody listens.  Says how often, and how many in a
 * second.
 *
 * caller version FILE NAME -- be that cluster of the file, in another version
 * of Hearth.  Says the line with which that ends.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/clock.h"
#include "base/network.h"
#include "link/link.h"
#include "visitor.h"

enum { BAD = 2, MUTE = 40, PAUSE = 10000, PATIENCE = 10, FULL_MS = 5 };

static void
fail(const char *what)
{
    perror(what);
    exit(BAD);
}

static int
keep(int port)
{
    struct sockaddr_in a = visited(port);
    int                fd = socket(AF_INET, SOCK_STREAM, 0);

    if (bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, 5) != 0)
        fail("caller: keep");
    puts("kept");
    fflush(stdout);
    pause();
    return 0;
}

/* Until the other side has closed. */
static void
noise(int fd)
{
    static const char    text[] = "GET / HTTP/1.0\r\n\r\n";
    const struct timeval patience = { .tv_sec = PATIENCE };
    char                 in[64];

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (send(fd, text, sizeof text, MSG_NOSIGNAL) > 0)
        while (recv(fd, in, sizeof in, 0) > 0)
            ;
    close(fd);
}

static int
strangers(int port)
{
    int mute[MUTE] = { 0 }, n = 0, nobody = 0, fd;

    while (nobody * PAUSE < (n == 0 ? PATIENCE * 1000000 : 200000)) {
        fd = visitor_or_none(port);
        nobody = fd < 0 ? nobody + 1 : 0;
        if (fd >= 0 && n++ % 2 == 0) {
            noise(fd);
        } else if (fd >= 0) {
            if (mute[n / 2 % MUTE] > 0)
                close(mute[n / 2 % MUTE]);
            mute[n / 2 % MUTE] = fd;
        }
        usleep(PAUSE);
    }
    printf("%d strangers\n", n);
    return 0;
}

/* 0, or an errno: EINPROGRESS where the listener's queue is full.  A reset
 * leaves no port behind that cannot be had for a minute. */
static int
connect_and_reset(int port)
{
    const struct linger at_once = { .l_onoff = 1 };
    struct sockaddr_in  a = visited(port);
    int           fd = hearthi_connect_begin((struct sockaddr *)&a, sizeof a);
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    int           code = EINPROGRESS;
    socklen_t     room = sizeof code;

    if (fd < 0)
        return errno;
    if (poll(&p, 1, FULL_MS) > 0)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &room);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
    return code;
}

static int
flood(int port)
{
    const uint64_t second = 1000000000;
    uint64_t       begin = hearthi_clock_kernel(), last = begin;
    long           n = 0;

    while (hearthi_clock_kernel() - last <
           (n == 0 ? 6 * PATIENCE * second : second / 5)) {
        int code = connect_and_reset(port);

        if (code != 0 && code != EINPROGRESS) {
            usleep(PAUSE);
            continue;
        }
        last = hearthi_clock_kernel();
        if (n == 0)
            begin = last;
        n += code == 0;
    }
    printf("%ld connections, %.0f in a second\n", n,
           (double)n * 1e9 / (double)(last - begin + 1));
    return 0;
}

static void
message(void *arg, int cluster, const void *body, size_t len)
{
    (void)arg, (void)cluster, (void)body, (void)len;
}

static void
failed(void *arg, int cluster, const char *line)
{
    (void)arg, (void)cluster;
    puts(line);
}

static int
version(const char *path, const char *name)
{
    const struct hearthi_link_calls calls = { .message = message,
                                              .failed = failed };
    struct hearthi_link_options     options = hearthi_link_defaults();
    struct hearthi_link_error       wrong;
    struct hearthi_conf            *conf = hearthi_conf_read(path, &wrong);
    struct hearthi_link            *k = NULL;
    int me = conf != NULL ? hearthi_conf_find(conf, name, &wrong) : -1;

    options.version = "0.0";
    options.giveup = PATIENCE;
    if (me >= 0)
        k = hearthi_link_open(conf, me, &options, &calls, NULL, &wrong);
    if (k == NULL) {
        fprintf(stderr, "caller: %s\n", wrong.text);
        return BAD;
    }
    while (hearthi_link_turn(k, -1))
        ;
    hearthi_link_close(k);
    free(conf);
    return EXIT_FAILURE;
}

int
main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";

    if (strcmp(what, "keep") == 0)
        return keep(atoi(argv[2]));
    if (strcmp(what, "strangers") == 0)
        return strangers(atoi(argv[2]));
    if (strcmp(what, "flood") == 0)
        return flood(atoi(argv[2]));
    if (strcmp(what, "version") == 0 && argc == 4)
        return version(argv[2], argv[3]);
    fputs("caller keep|strangers|flood PORT | caller version FILE NAME\n",
          stderr);
    return BAD;
}
