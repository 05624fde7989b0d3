/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "gateway_channel.h"

#include <stdio.h>

#include "base/mutex.h"
#include "base/report.h"
#include "rank_connection.h"
#include "world.h"

struct hearthi_gateway_channel {
    struct hearthi_rank_connection c;
    bool                           used;
};

static struct {
    struct hearthi_gateway_channel all[HEARTHI_WAN_THREADS];
    unsigned                       n;
    pthread_mutex_t                mutex;
} ch = { .mutex = PTHREAD_MUTEX_INITIALIZER };

void
hearthi_gateway_channels_open(const struct hearthi_listener *listener)
{
    hearthi_gateway_connect_at(listener);
    hearthi_rank_connections_of(listener->gateway);
    ch.n = 0;
}

void
hearthi_gateway_channels_progress(void (*progress)(void))
{
    hearthi_rank_connections_progress(progress);
}

void
hearthi_gateway_channels_close(void)
{
    for (unsigned i = 0; i < ch.n; i++)
        hearthi_rank_connection_close(&ch.all[i].c);
    ch.n = 0;
}

/* ---- connections ---- */

static void
channel_make(struct hearthi_gateway_channel *c, unsigned slot)
{
    c->used = true;
    hearthi_rank_connection_open(&c->c, slot);
}

/* To wait for one would be for ever where all others wait for what this thread
 * is about to say. */
static struct hearthi_gateway_channel *
channel_more(void)
{
    struct hearthi_gateway_channel *c = &ch.all[ch.n];

    if (ch.n == HEARTHI_WAN_THREADS)
        hearthi_fatal("gateway",
                      "more than %d threads of this rank wait for pages, "
                      "locks, flags or barriers",
                      HEARTHI_WAN_THREADS);
    channel_make(c, ch.n);
    ch.n++;
    return c;
}

struct hearthi_gateway_channel *
hearthi_gateway_channel_take(void)
{
    struct hearthi_gateway_channel *c = NULL;

    hearthi_mutex_lock(&ch.mutex, HEARTHI_MUTEX_CHANNELS);
    for (unsigned i = 0; i < ch.n && c == NULL; i++)
        if (!ch.all[i].used)
            c = &ch.all[i];
    if (c == NULL)
        c = channel_more();
    c->used = true;
    hearthi_mutex_unlock(&ch.mutex, HEARTHI_MUTEX_CHANNELS);
    return c;
}

void
hearthi_gateway_channel_give(struct hearthi_gateway_channel *c)
{
    hearthi_mutex_lock(&ch.mutex, HEARTHI_MUTEX_CHANNELS);
    HEARTHI_ASSERT(c->used);
    c->used = false;
    hearthi_mutex_unlock(&ch.mutex, HEARTHI_MUTEX_CHANNELS);
}

/* ---- asks ---- */

void
hearthi_gateway_channel_send(struct hearthi_gateway_channel *c,
                             struct hearthi_wan_message      msg,
                             const struct iovec *body, int n)
{
    enum { MOST = 192 };
    static const char zeros[8];
    struct iovec      part[MOST + 2];
    size_t            len = 0;

    for (int i = 0; i < n; i++) {
        part[1 + i] = body[i];
        len += body[i].iov_len;
    }
    msg.len = (uint32_t)len;
    msg.rank = (uint32_t)hearthi_world.rank;
    msg.slot = c->c.slot;
    part[0] = (struct iovec){ &msg, sizeof msg };
    part[1 + n] =
        (struct iovec){ (void *)zeros, hearthi_wan_round(len) - len };
    hearthi_rank_connection_send(&c->c, part, n + 2);
}

struct hearthi_wan_message
hearthi_gateway_channel_hear(struct hearthi_gateway_channel *c,
                             const char                     *what)
{
    struct hearthi_wan_message answer;

    hearthi_rank_connection_tell(&c->c);
    for (;;) {
        hearthi_rank_connection_read(&c->c, &answer, sizeof answer, what);
        if (answer.op != HEARTHI_WAN_HEARD)
            return answer;
        hearthi_rank_connection_taken(&c->c, answer.at);
    }
}

void
hearthi_gateway_channel_read(struct hearthi_gateway_channel *c, void *to,
                             size_t len)
{
    hearthi_rank_connection_read(&c->c, to, len, "gateway");
}

struct hearthi_wan_message
hearthi_gateway_channel_ask(struct hearthi_gateway_channel *c,
                            struct hearthi_wan_message msg, const void *body,
                            size_t len, const char *what)
{
    hearthi_gateway_channel_send(c, msg, &(struct iovec){ (void *)body, len },
                                 1);
    return hearthi_gateway_channel_hear(c, what);
}

struct hearthi_wan_message
hearthi_gateway_channel_call(struct hearthi_wan_message msg, const void *body,
                             size_t len, const char *what)
{
    struct hearthi_gateway_channel *c = hearthi_gateway_channel_take();
    struct hearthi_wan_message      answer =
        hearthi_gateway_channel_ask(c, msg, body, len, what);

    hearthi_gateway_channel_give(c);
    return answer;
}

/* On a connection of its own, since others may be in the midst of something:
 * the gateway need not know which rank it is.  One that is gone, too, has told
 * the others itself, and this rank has still to say its line: so nothing here
 * ends the job.  A new connection has room for all of it. */
bool
hearthi_gateway_channel_ending(const char *line)
{
    enum { SECOND = 1000 };
    char                       body[HEARTHI_ENDING_MAX] = "";
    struct hearthi_wan_message msg = { .op = HEARTHI_WAN_ENDING,
                                       .len = sizeof body,
                                       .rank = (uint32_t)hearthi_world.rank,
                                       .slot = HEARTHI_WAN_ENDS };
    struct iovec part[] = { { &msg, sizeof msg }, { body, sizeof body } };
    struct hearthi_wan_message answer = { .kind = HEARTHI_WAN_TAKEN };

    snprintf(body, sizeof body, "%s", line);
    hearthi_gateway_connect_and_say(HEARTHI_WAN_ENDS, part, 2, &answer,
                                    SECOND);
    return (answer.kind & HEARTHI_WAN_TAKEN) != 0;
}
