/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "hear.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/report.h"
#include "base/thread.h"
#include "gateway_channel.h"
#include "gateway_server.h"
#include "gateway_thread.h"
#include "life/collective_watch.h"
#include "life/deadlock.h"
#include "life/life.h"
#include "life/liveness_line.h"
#include "life/report_election.h"
#include "life/stalled.h"
#include "message_stream.h"
#include "rank_connection.h"
#include "space/segment.h"
#include "world.h"

/* DOUBT: nanoseconds that a call which fails waits for another rank's word.
 * MUCH: bytes that the gateway does not take; a question more is lost. */
enum { DOUBT = 500000000, MUCH = 64 << 10 };

static struct {
    struct hearthi_poller          thread;
    struct hearthi_rank_connection c;
    bool                           lost; /* c was reset, and is called anew */
    uint64_t                       beat;
    bool                           open;
    atomic_bool                    told;  /* why the job ends, by another */
    uint64_t                       since; /* ... and when that was heard */
    struct hearthi_message_stream  in;
} h = { .c = { .fd = -1 } };

/* ---- who ends the job ---- */

/* The other clusters' lines have it, too. */
static bool
ending(const char *call, const char *text)
{
    char line[HEARTHI_ENDING_MAX];

    if (strcmp(call, "gateway") == 0)
        snprintf(line, sizeof line, "%s", text);
    else
        snprintf(line, sizeof line, "rank %d: %s: %s", hearthi_world.rank,
                 call, text);
    return hearthi_gateway_thread_is_self()
               ? hearthi_gateway_ending(line)
               : hearthi_gateway_channel_ending(line);
}

/* The handler's thread lives on where another one speaks. */
static void
ended(void)
{
    if (hearthi_gateway_thread_is_self())
        hearthi_gateway_server_ended();
}

void
hearthi_endings_open(void)
{
    hearthi_ending_hook = ending;
    hearthi_ended_hook = ended;
}

void
hearthi_endings_close(void)
{
    hearthi_ending_hook = NULL;
    hearthi_ended_hook = NULL;
}

/* Something has failed: because another rank has ended the job? */
static bool
doubt(void)
{
    const struct timespec nap = { .tv_nsec = 5000000 };
    uint64_t              end = hearthi_now() + DOUBT;

    while (!h.told && hearthi_now() < end)
        nanosleep(&nap, NULL);
    return h.told;
}

/* ---- what comes and goes ---- */

static void
next_tell(const struct hearthi_record *r)
{
    struct hearthi_wan_message head = { .op = HEARTHI_WAN_TELL,
                                        .len = sizeof *r,
                                        .slot = HEARTHI_WAN_HEARS };

    if (hearthi_replay_left(&h.c.replay) > MUCH)
        return;
    head.rank = (uint32_t)hearthi_world.rank;
    head.to = (uint32_t)((hearthi_world.rank + 1) % hearthi_world.size);
    hearthi_replay_add(&h.c.replay, &head, sizeof head);
    hearthi_replay_add(&h.c.replay, r, sizeof *r);
}

/* Of a rank of another cluster, perhaps: a text has an end. */
static void
where_heard(struct hearthi_record *r)
{
    struct hearthi_asked_where *where = &r->ask;

    where->where.call[sizeof where->where.call - 1] = '\0';
    where->found.call[sizeof where->found.call - 1] = '\0';
    hearthi_collective_watch_heard(r);
}

static void
record_take(struct hearthi_record *r)
{
    if (r->said == HEARTHI_SAID_WHERE)
        where_heard(r);
    if (r->said == HEARTHI_SAID_STALLED)
        hearthi_stalled_heard(r);
    if (r->said == HEARTHI_SAID_DEADLOCK)
        hearthi_deadlock_heard(r);
    if (r->said == HEARTHI_SAID_WAITS)
        hearthi_deadlock_told(r);
    if (r->said == HEARTHI_SAID_ENDING && !h.told) {
        h.since = hearthi_now();
        h.told = true;
    }
}

static void
message_take(const struct hearthi_wan_message *msg)
{
    struct hearthi_record r;

    if (msg->op == HEARTHI_WAN_HEARD)
        hearthi_rank_connection_taken(&h.c, msg->at);
    if (msg->op != HEARTHI_WAN_TELL || msg->len != sizeof r)
        return;
    memcpy(&r, hearthi_wan_message_body(msg), sizeof r);
    record_take(&r);
}

/* Who asks the gateway next finds out that it is gone. */
static void
connection_fail(int code)
{
    if (h.c.fd >= 0)
        close(h.c.fd);
    h.c.fd = -1;
    h.lost = hearthi_rank_connection_is_reset(code);
}

static void
connection_send(void)
{
    const struct hearthi_wan_message head = { .rank =
                                                  (uint32_t)hearthi_world.rank,
                                              .slot = HEARTHI_WAN_HEARS };

    if (hearthi_replay_due(&h.c.replay))
        hearthi_replay_tell(&h.c.replay, head);
    if (!hearthi_replay_send(&h.c.replay, h.c.fd))
        connection_fail(errno);
}

static void
records_take(void)
{
    const struct hearthi_wan_message *msg;
    const size_t left = hearthi_message_stream_left(&h.in);
    bool         open;
    int          code;

    errno = 0;
    open = hearthi_message_stream_read(&h.in, h.c.fd);
    code = errno;
    hearthi_replay_take(&h.c.replay,
                        hearthi_message_stream_left(&h.in) - left);
    while ((msg = hearthi_message_stream_next(&h.in)) != NULL)
        message_take(msg);
    if (open)
        connection_send();
    else
        connection_fail(code);
}

/* With each beat, as long as there may be an answer. */
static void
connection_renew(void)
{
    if (!h.lost)
        return;
    h.lost = false;
    if (hearthi_rank_connection_again(&h.c))
        connection_send();
    else
        h.lost = hearthi_rank_connection_may_pass(errno);
}

/* ---- the thread ---- */

static void
sleep_until(uint64_t due)
{
    struct pollfd p[2] = { { .fd = h.c.fd, .events = POLLIN } };

    if (hearthi_replay_left(&h.c.replay) > 0)
        p[0].events |= POLLOUT;
    hearthi_poller_wait(&h.thread, p, 2, due);
}

static void
beat(void)
{
    hearthi_segments_look();
    connection_renew();
    if (h.told) /* and no launcher ends this rank, which may compute */
        return;
    hearthi_collective_watch_look(h.beat);
    hearthi_stalled_look(h.beat);
    hearthi_deadlock_look();
}

static void *
run(void *none)
{
    uint64_t next = hearthi_now() + h.beat;

    while (!h.thread.stop) {
        sleep_until(next);
        if (hearthi_now() >= next) {
            beat();
            next = hearthi_now() + h.beat;
        }
        if (h.c.fd >= 0)
            records_take();
        if (h.told && hearthi_now() - h.since > HEARTHI_ELECTION_SILENCE)
            hearthi_end_now();
    }
    return none;
}

/* ---- begin and end ---- */

void
hearthi_hear_open(void)
{
    if (hearthi_world.gather == NULL)
        return;
    hearthi_rank_connection_open(&h.c, HEARTHI_WAN_HEARS);
    h.lost = false;
    h.beat = hearthi_life_beat();
    h.told = false;
    hearthi_next_hook = next_tell;
    hearthi_poller_start(&h.thread, run, "thread to hear others");
    h.open = true;
    hearthi_doubt_hook = doubt;
}

void
hearthi_hear_close(void)
{
    if (!h.open)
        return;
    hearthi_doubt_hook = NULL;
    h.open = false;
    hearthi_poller_end(&h.thread);
    hearthi_next_hook = NULL;
    hearthi_message_stream_free(&h.in);
}

void
hearthi_hear_end(void)
{
    hearthi_rank_connection_close(&h.c);
}

void
hearthi_hear_forked(void)
{
    hearthi_hear_end();
    if (h.open)
        hearthi_poller_forked(&h.thread);
    h.open = false;
    hearthi_next_hook = NULL;
}
