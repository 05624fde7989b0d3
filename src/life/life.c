/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A thread sleeps at the two lines of this rank, and passes on what is said
 * over one to the other.
 *
 * Why one rank speaks.  A claim goes round the ring, or along what is left of
 * it, before its maker's moment has passed; so all who claim within that
 * moment know of each other, and compare weights, which are different.  A
 * claim that comes later finds that somebody has spoken.  Both neighbours see
 * a rank die: the one before it has the lighter claim and the shorter moment,
 * the one after it speaks only if there is no one before.  Nobody waits for
 * ever: who has held its tongue for HOLD speaks all the same, or ends without
 * a word if another has spoken and no launcher has ended this rank.
 */
#include "config.h"

#include "life.h"

#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "base/thread.h"
#include "line.h"
#include "world.h"

/* Nanoseconds.  MOMENT_END: a claim takes some 0.1 ms to go round, and a
 * launcher that ends all ranks one after the other takes as long; MPICH's
 * takes three milliseconds to end the job after a rank.  MOMENT: ranks that
 * find another silent do so up to a beat apart.  DOUBT: what an MPI call that
 * fails waits for somebody who knows better. */
enum {
    MOMENT_END = 1000000,
    MOMENT = 250000000,
    DOUBT = 500000000,
    BEAT_LEAST = 10000000,
    BEAT_MOST = 1000000000
};
static const uint64_t hold = 5000000000;

struct claim {
    int      weight, about;
    uint64_t due; /* when to speak; 0: no claim */
    char     call[32], text[512];
};

static struct {
    struct hearthi_line line[HEARTHI_LINES];
    pthread_t           thread;
    pthread_mutex_t     mutex; /* of mine */
    struct claim        mine;
    int                 lightest; /* claim of others */
    uint64_t            beat;
    int                 wake; /* eventfd */
    atomic_bool         open, stop, settled;
    atomic_bool         known; /* somebody claims or has spoken */
    atomic_bool         ending;
    uint64_t            ended; /* since when, or 0 */
} l = { .mutex = PTHREAD_MUTEX_INITIALIZER };

/* ---- claims ---- */

static void
tell(int but, enum hearthi_said said, int by, int about, int weight)
{
    for (int i = 0; i < HEARTHI_LINES; i++)
        if (i != but)
            hearthi_line_send(&l.line[i], said, by, about, weight);
}

static void
thread_wake(void)
{
    uint64_t one = 1;

    (void)!write(l.wake, &one, sizeof one);
}

/* A rank has one claim, its first. */
__attribute__((format(printf, 5, 0))) static void
claim_make(int about, int weight, uint64_t moment, const char *call,
           const char *fmt, va_list ap)
{
    struct claim *c = &l.mine;

    pthread_mutex_lock(&l.mutex);
    if (c->due == 0) {
        c->about = about;
        c->weight = weight;
        snprintf(c->call, sizeof c->call, "%s", call);
        vsnprintf(c->text, sizeof c->text, fmt, ap);
        c->due = hearthi_now() + moment;
        l.known = true;
        tell(-1, HEARTHI_CLAIM, hearthi_world.rank, about, weight);
    }
    pthread_mutex_unlock(&l.mutex);
}

static bool
claim_is_lightest(const struct claim *c)
{
    return !l.ending && c->weight < l.lightest;
}

/* When this rank may speak next, or UINT64_MAX. */
static uint64_t
claim_due(void)
{
    const struct claim *c = &l.mine;
    uint64_t            due;

    pthread_mutex_lock(&l.mutex);
    due = l.ending               ? l.ended + hold
          : c->due == 0          ? UINT64_MAX
          : claim_is_lightest(c) ? c->due
                                 : c->due + hold;
    pthread_mutex_unlock(&l.mutex);
    return due;
}

static void
claim_judge(void)
{
    uint64_t now = hearthi_now();

    if (l.ending && now - l.ended > hold)
        hearthi_end_now();
    if (!l.ending && now >= claim_due())
        hearthi_fatal(l.mine.call, "%s", l.mine.text);
}

/* ---- what is seen on a line ---- */

__attribute__((format(printf, 4, 5))) static void
line_claim(const struct hearthi_line *line, int weight, uint64_t moment,
           const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    claim_make(line->rank, weight, moment, "job", fmt, ap);
    va_end(ap);
}

static bool
is_next(const struct hearthi_line *line)
{
    return line == &l.line[HEARTHI_NEXT];
}

/* The rank after one that is gone weighs as much more as all others. */
static int
weight_of(const struct hearthi_line *line)
{
    return hearthi_world.rank + (is_next(line) ? 0 : hearthi_world.size);
}

static void
line_ended(struct hearthi_line *line)
{
    hearthi_line_close(line);
    if (line->bye || l.ending)
        return;
    line_claim(line, weight_of(line), is_next(line) ? MOMENT_END : MOMENT,
               "rank %d (process %d on %s) is gone: it was killed or left "
               "without hearth_finalize; the launcher or the system's log may "
               "know why",
               line->rank, line->pid, line->host);
}

/* Nothing from either side, of two: rather this host is cut off, and those who
 * can be heard shall speak first. */
static void
line_silent(struct hearthi_line *line)
{
    const struct hearthi_line *other =
        &l.line[is_next(line) ? HEARTHI_PREV : HEARTHI_NEXT];
    uint64_t most = hearthi_opt.udp_giveup;
    bool     cut = other->rank != line->rank && other->silent > most / 2;

    line_claim(line,
               cut ? 2 * hearthi_world.size + hearthi_world.rank
                   : weight_of(line),
               cut ? most / 2 + hold : MOMENT,
               "rank %d (process %d on %s) has been silent for %zu s: it was "
               "stopped, or its host or the network is down; "
               "HEARTH_UDP_GIVEUP is how long to wait",
               line->rank, line->pid, line->host,
               hearthi_opt.udp_giveup / 1000000000);
}

static void
record_heard(struct hearthi_line *line, const struct hearthi_record *r)
{
    int from = is_next(line) ? HEARTHI_NEXT : HEARTHI_PREV;

    if (r->said == HEARTHI_BYE)
        line->bye = true;
    if ((r->said != HEARTHI_CLAIM && r->said != HEARTHI_ENDING) ||
        r->by == hearthi_world.rank)
        return;
    tell(from, (enum hearthi_said)r->said, r->by, r->about, r->weight);
    l.known = true;
    if (r->said == HEARTHI_ENDING && !l.ending) {
        l.ended = hearthi_now();
        l.ending = true;
    } else if (r->weight < l.lightest)
        l.lightest = r->weight;
}

static void
line_read(struct hearthi_line *line)
{
    struct hearthi_record r;
    enum hearthi_heard    heard;

    while (line->fd >= 0) {
        heard = hearthi_line_take(line, &r);
        if (heard == HEARTHI_RECORD)
            record_heard(line, &r);
        else if (heard == HEARTHI_END)
            line_ended(line);
        else
            return;
    }
}

/* ---- the thread ---- */

/* A beat counts as one, however long it took: a rank that was itself stopped
 * has not listened. */
static void
beat(void)
{
    for (int i = 0; i < HEARTHI_LINES; i++) {
        struct hearthi_line *line = &l.line[i];

        if (line->fd < 0 || line->bye)
            continue;
        hearthi_line_send(line, HEARTHI_BEAT, hearthi_world.rank, 0, 0);
        line->silent = line->heard ? 0 : line->silent + l.beat;
        line->heard = false;
        if (line->silent > hearthi_opt.udp_giveup)
            line_silent(line);
    }
}

/* Until something comes or is due. */
static void
sleep_until(uint64_t due)
{
    enum { LISTENER = HEARTHI_LINES, WAKE };
    uint64_t        now = hearthi_now(), left = due > now ? due - now : 0;
    struct timespec most = { .tv_sec = (time_t)(left / 1000000000),
                             .tv_nsec = (long)(left % 1000000000) };
    struct pollfd   p[] = {
          { .fd = l.line[HEARTHI_PREV].fd, .events = POLLIN },
          { .fd = l.line[HEARTHI_NEXT].fd, .events = POLLIN },
          { .fd = hearthi_lines_listen(), .events = POLLIN },
          { .fd = l.wake, .events = POLLIN },
    };
    uint64_t count;

    if (!l.settled) /* the thread that calls owns that line still */
        p[HEARTHI_NEXT].fd = -1;
    ppoll(p, sizeof p / sizeof *p, &most, NULL);
    if (p[LISTENER].revents & POLLIN)
        hearthi_line_answer(&l.line[HEARTHI_PREV]);
    if (p[WAKE].revents & POLLIN)
        (void)!read(l.wake, &count, sizeof count);
}

static void *
watch(void *none)
{
    uint64_t next = hearthi_now() + l.beat;

    while (!l.stop) {
        uint64_t due = claim_due();

        sleep_until(due < next ? due : next);
        if (!l.settled)
            continue;
        hearthi_lines_settle();
        for (int i = 0; i < HEARTHI_LINES; i++)
            line_read(&l.line[i]);
        if (hearthi_now() >= next) {
            beat();
            next = hearthi_now() + l.beat;
        }
        claim_judge();
    }
    return none;
}

/* ---- those who would speak ---- */

void
hearthi_life_gone(int rank, const char *call, const char *fmt, ...)
{
    char    text[sizeof l.mine.text];
    va_list ap;

    va_start(ap, fmt);
    if (l.open)
        claim_make(rank, hearthi_world.rank, MOMENT, call, fmt, ap);
    else
        vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!l.open)
        hearthi_fatal(call, "%s", text);
    thread_wake();
    hearthi_end_wait();
}

/* A call of MPI has failed: because a rank is gone, which others know better?
 */
static bool
doubt(void)
{
    const struct timespec nap = { .tv_nsec = 5000000 };
    uint64_t              end = hearthi_now() + DOUBT;

    while (l.open && !l.known && hearthi_now() < end)
        nanosleep(&nap, NULL);
    return l.known;
}

static void
ending(void)
{
    tell(-1, HEARTHI_ENDING, hearthi_world.rank, 0, 0);
}

/* ---- start and end ---- */

void
hearthi_life_open(void)
{
    uint64_t share = hearthi_opt.udp_giveup / 40;
    int      code;

    if (hearthi_world.size == 1)
        return;
    memset(&l.mine, 0, sizeof l.mine);
    l.beat = share < BEAT_LEAST  ? BEAT_LEAST
             : share < BEAT_MOST ? share
                                 : BEAT_MOST;
    l.lightest = INT32_MAX;
    l.stop = l.settled = l.known = l.ending = false;
    l.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l.wake < 0)
        hearthi_fatal("hearth_init", "no eventfd: %s", strerror(errno));
    hearthi_lines_prepare(l.line);
    code = hearthi_thread_start(&l.thread, watch);
    if (code != 0)
        hearthi_fatal("hearth_init", "no thread to watch others: %s",
                      strerror(code));
    hearthi_line_call(&l.line[HEARTHI_NEXT]);
    HEARTHI_MPI(MPI_Barrier(hearthi_world.comm));
    l.settled = true;
    l.open = true;
    thread_wake();
    hearthi_doubt_hook = doubt;
    hearthi_ending_hook = ending;
}

/* A line that ends after the goodbye has ended well, and all goodbyes are on
 * their way before the first line ends. */
void
hearthi_life_close(void)
{
    if (!l.open)
        return;
    tell(-1, HEARTHI_BYE, hearthi_world.rank, 0, 0);
    HEARTHI_MPI(MPI_Barrier(hearthi_world.comm));
    hearthi_doubt_hook = NULL;
    hearthi_ending_hook = NULL;
    l.open = false;
    l.stop = true;
    thread_wake();
    pthread_join(l.thread, NULL);
    for (int i = 0; i < HEARTHI_LINES; i++)
        hearthi_line_close(&l.line[i]);
    close(l.wake);
}
