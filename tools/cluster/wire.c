/* SPDX-License-Identifier: BSD-2-Clause
 *
 * hearth-wire BITS DELAY CUT EVERY NAMESPACE... -- the link between the
 * gateways of hearth-cluster's clusters.
 *
 * Each namespace, of those in /run/netns, gets a TAP device "wan", and these
 * are the ends of lines that meet at a switch: a line carries BITS a second in
 * each direction (0: any number), and from one end of a line to that of
 * another it takes DELAY seconds.  Not a queueing discipline, because kernels
 * without netem have none that delays.  The link is cut in the last CUT of
 * EVERY seconds, unless CUT is 0: what is under way then is lost, and the
 * devices do not tell.
 *
 * It says "up" when the devices are there, and ends, with them, at the end of
 * its input: so it does not outlive who started it. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { PORTS = 64, FRAME = 2048, ADDRESS = 6 };

/* What Ethernet adds to what a TAP device gives: preamble, checksum and gap.
 */
enum { ADDED = 8 + 4 + 12 };

static const uint64_t SECOND = 1000000000;

/* A frame is taken from the device, whose queue is that of the line's end,
 * this long before the line is free for it, so that the line does not wait for
 * us; and then all that the line has room for until then. */
static const uint64_t AHEAD = 1000000;

/* A line that is so far behind with what several others send to it at once
 * loses the next frame, as a switch does. */
static const uint64_t LATENCY = 50000000;

/* Frames that are taken from a device before the others get their turn. */
enum { TURN = 64 };

struct frame {
    struct frame *next;
    uint64_t      due;
    size_t        len;
    uint8_t       bytes[];
};

/* A gateway's end.  Times are those of CLOCK_MONOTONIC, in nanoseconds. */
struct port {
    int            tap;
    uint64_t       sent;     /* the line to the switch is free from then on */
    uint64_t       received; /* and that from the switch */
    struct frame  *first;    /* on their way to this end, by time */
    struct frame **last;
};

static struct port port[PORTS];
static int         ports;
static double      byte_time; /* on a line */
static uint64_t    delay, cut, every, began;

static uint64_t
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static uint64_t
later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void
fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

/* An end's address says which it is: the switch need not learn it. */
static void
address_of(uint8_t *address, int i)
{
    const uint8_t all[ADDRESS] = { 2, 'h', 'e', 'a', 'r', (uint8_t)i };

    memcpy(address, all, ADDRESS);
}

/* A device is made in the network namespace that its maker is in. */
static int
tap_make(const char *namespace, int i)
{
    char         path[256];
    struct ifreq r = { .ifr_name = "wan", .ifr_flags = IFF_TAP | IFF_NO_PI };
    int          there, tap;

    snprintf(path, sizeof path, "/run/netns/%s", namespace);
    there = open(path, O_RDONLY | O_CLOEXEC);
    if (there < 0 || setns(there, CLONE_NEWNET) != 0)
        fail(path);
    close(there);
    tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (tap < 0 || ioctl(tap, TUNSETIFF, &r) != 0)
        fail("/dev/net/tun");
    r.ifr_hwaddr.sa_family = ARPHRD_ETHER;
    address_of((uint8_t *)r.ifr_hwaddr.sa_data, i);
    if (ioctl(tap, SIOCSIFHWADDR, &r) != 0)
        fail("the address of a TAP device");
    return tap;
}

/* All devices.  Then back from their namespaces: whoever ends what is left
 * there of a job does not mean us. */
static void
ports_make(char **namespace)
{
    int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

    for (int i = 0; i < ports; i++) {
        port[i].tap = tap_make(namespace[i], i);
        port[i].last = &port[i].first;
    }
    if (here < 0 || setns(here, CLONE_NEWNET) != 0)
        fail("/proc/self/ns/net");
    close(here);
}

static bool
is_cut(uint64_t t)
{
    return cut > 0 && (t - began) % every >= every - cut;
}

/* The switch has all of a frame at t, and has sent it on all the while. */
static void
frame_carry(struct port *to, const uint8_t *bytes, size_t len, uint64_t t)
{
    uint64_t      takes = (uint64_t)((double)(len + ADDED) * byte_time);
    uint64_t      free_at = later(to->received, t - takes);
    struct frame *f;

    if (free_at - (t - takes) > LATENCY)
        return;
    f = malloc(sizeof *f + len);
    if (f == NULL)
        fail("a frame");
    to->received = free_at + takes;
    f->next = NULL;
    f->due = to->received;
    f->len = len;
    memcpy(f->bytes, bytes, len);
    *to->last = f;
    to->last = &f->next;
}

static void
frame_switch(int from, const uint8_t *bytes, size_t len, uint64_t t)
{
    uint8_t address[ADDRESS];

    for (int i = 0; i < ports; i++) {
        address_of(address, i);
        if (i != from &&
            ((bytes[0] & 1) != 0 || memcmp(bytes, address, ADDRESS) == 0))
            frame_carry(&port[i], bytes, len, t);
    }
}

/* Whether the line from this end would have to wait for us. */
static bool
port_is_ready(const struct port *p, uint64_t t, uint64_t ahead)
{
    return p->sent <= t + ahead;
}

static void
port_take(int from, uint64_t t)
{
    struct port *p = &port[from];
    uint8_t      bytes[FRAME];

    for (int i = 0; i < TURN && port_is_ready(p, t, AHEAD); i++) {
        ssize_t len = read(p->tap, bytes, sizeof bytes);

        if (len <= 0)
            return;
        t = now(); /* behind its coming: nothing is ever early */
        p->sent =
            later(p->sent, t) + (uint64_t)((double)(len + ADDED) * byte_time);
        if (!is_cut(t))
            frame_switch(from, bytes, (size_t)len, p->sent + delay);
    }
}

/* Hand over what is due; a device that is down or has no room loses it. */
static void
port_give(struct port *p, uint64_t t)
{
    struct frame *f;

    while ((f = p->first) != NULL && f->due <= t) {
        if (!is_cut(t) && write(p->tap, f->bytes, f->len) < 0 &&
            errno != EAGAIN && errno != EIO)
            fail("a TAP device");
        p->first = f->next;
        if (p->first == NULL)
            p->last = &p->first;
        free(f);
    }
}

/* When there is something to do, unless a frame comes. */
static uint64_t
next_turn(uint64_t t)
{
    uint64_t next = t + SECOND;

    for (int i = 0; i < ports; i++) {
        if (port[i].first != NULL && port[i].first->due < next)
            next = port[i].first->due;
        if (!port_is_ready(&port[i], t, AHEAD) &&
            port[i].sent - AHEAD / 2 < next)
            next = port[i].sent - AHEAD / 2;
    }
    return next;
}

static void
turn_wait(uint64_t t)
{
    struct pollfd   fd[PORTS + 1] = { { .fd = 0, .events = POLLIN } };
    uint64_t        next = next_turn(t);
    uint64_t        left = next > t ? next - t : 0;
    struct timespec wait = { (time_t)(left / SECOND), (long)(left % SECOND) };
    char            c;

    for (int i = 0; i < ports; i++) {
        bool ready = port_is_ready(&port[i], t, AHEAD);

        fd[i + 1] = (struct pollfd){ .fd = ready ? port[i].tap : -1,
                                     .events = POLLIN };
    }
    if (ppoll(fd, (nfds_t)ports + 1, &wait, NULL) < 0 && errno != EINTR)
        fail("ppoll");
    if (fd[0].revents != 0 && read(0, &c, 1) <= 0)
        exit(0);
}

/* A line waits for nobody: what is due is handed over before other processes
 * get on, if we may. */
static void
be_prompt(void)
{
    struct sched_param first = { .sched_priority = 1 };

    prctl(PR_SET_TIMERSLACK, 1L);
    sched_setscheduler(0, SCHED_FIFO, &first);
}

int
main(int argc, char **argv)
{
    if (argc < 7 || argc - 5 > PORTS) {
        fprintf(stderr, "hearth-wire BITS DELAY CUT EVERY NAMESPACE...\n");
        return 2;
    }
    byte_time = atof(argv[1]) > 0 ? 8 * (double)SECOND / atof(argv[1]) : 0;
    delay = (uint64_t)(atof(argv[2]) * (double)SECOND);
    cut = (uint64_t)(atof(argv[3]) * (double)SECOND);
    every = (uint64_t)(atof(argv[4]) * (double)SECOND);
    began = now();
    ports = argc - 5;
    ports_make(argv + 5);
    be_prompt();
    puts("up");
    fflush(stdout);
    for (;;) {
        uint64_t t = now();

        for (int i = 0; i < ports; i++)
            port_give(&port[i], t);
        for (int i = 0; i < ports; i++)
            port_take(i, t);
        turn_wait(now());
    }
}
