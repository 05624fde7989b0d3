/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A connection that has not said all of its hello takes one of a few places.
 * When none is left, the oldest of the host with most goes, and a host whose
 * strangers come too often gets none (base/crowd.h).  Both may hit a rank: so
 * it calls again if its hello is not answered (gateway_channel.c), and wants
 * no place for a hello that is there whole at first.
 */
#include "config.h"

#include <string.h>

#include "base/clock.h"
#include "base/crowd.h"
#include "gateway_thread.h"

enum { PLACES = 128 };

static struct {
    struct hearthi_stranger *place[PLACES];
    struct hearthi_crowd     crowd;
} s;

void
hearthi_strangers_open(void)
{
    memset(s.place, 0, sizeof s.place);
    hearthi_crowd_open(&s.crowd);
}

struct hearthi_stranger
hearthi_stranger_of(const struct sockaddr *from)
{
    return (struct hearthi_stranger){
        .since = hearthi_clock_kernel(),
        .host = hearthi_crowd_host(&s.crowd, from),
    };
}

bool
hearthi_stranger_may(const struct hearthi_stranger *g)
{
    return hearthi_crowd_may(&s.crowd, g->host, hearthi_clock_kernel());
}

static unsigned
here(const struct hearthi_stranger *g)
{
    return s.crowd.host[g->host].here;
}

/* A place that is free, or that of the oldest one of the host with most. */
static struct hearthi_stranger **
place_find(void)
{
    struct hearthi_stranger **found = s.place;

    for (struct hearthi_stranger **at = s.place; at < s.place + PLACES; at++) {
        if (*at == NULL)
            return at;
        if (here(*at) > here(*found) ||
            (here(*at) == here(*found) && (*at)->since < (*found)->since))
            found = at;
    }
    return found;
}

struct hearthi_stranger *
hearthi_strangers_last(void)
{
    return *place_find();
}

void
hearthi_stranger_enter(struct hearthi_stranger *g)
{
    g->place = place_find();
    *g->place = g;
    s.crowd.host[g->host].here++;
}

void
hearthi_stranger_leave(struct hearthi_stranger *g)
{
    if (g->place == NULL)
        return;
    *g->place = NULL;
    g->place = NULL;
    s.crowd.host[g->host].here--;
}

void
hearthi_stranger_count(const struct hearthi_stranger *g)
{
    hearthi_crowd_stranger(&s.crowd, g->host, hearthi_clock_kernel());
}

struct hearthi_stranger *
hearthi_strangers_any(void)
{
    for (int i = 0; i < PLACES; i++)
        if (s.place[i] != NULL)
            return s.place[i];
    return NULL;
}
