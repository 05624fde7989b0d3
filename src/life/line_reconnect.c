/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A forged segment ends the line at one end only; the other end learns of it
 * with the next beat that it sends, which the system answers by a reset.  So
 * both ends call: that of the rank before makes the line, as at the start, and
 * that of the rank after is a question, which is not confirmed (ring_setup.c).
 *
 * The system takes calls for a process that ends as long as it has not come to
 * its listener, and ends them then: so a call that ends unanswered is made
 * once more.
 */
#include "config.h"

#include "line_reconnect.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "ring_setup.h"

/* Nanoseconds.  PATIENCE: for an answer.  PAUSE: between calls that ended
 * without, after the first SOON. */
enum { PATIENCE = 2000000000, PAUSE = 1000000, SOON = 3 };

static struct reconnect {
    bool                         on;
    unsigned                     calls;
    uint64_t                     end, next;
    struct hearthi_liveness_line call;
} reconnect[HEARTHI_LINES];

static struct reconnect *
reconnect_of(const struct hearthi_liveness_line *line)
{
    return &reconnect[line - hearthi_liveness_line];
}

static enum hearthi_heard
call_begin(struct reconnect *a, const struct hearthi_liveness_line *line)
{
    union hearthi_address to = hearthi_ring_setup_address(line);
    int fd = hearthi_connect_begin(&to.any, hearthi_address_size(&to));

    a->calls++;
    a->call = (struct hearthi_liveness_line){ .fd = fd };
    if (fd >= 0)
        return HEARTHI_HEARD_NOTHING;
    return errno == ECONNREFUSED ? HEARTHI_HEARD_END : HEARTHI_HEARD_LOST;
}

/* It ended unanswered. */
static enum hearthi_heard
call_repeat(struct reconnect *a)
{
    hearthi_liveness_line_close(&a->call);
    a->next = hearthi_now() + (a->calls < SOON ? 0 : PAUSE);
    return HEARTHI_HEARD_NOTHING;
}

static enum hearthi_heard
call_connected(struct reconnect *a, const struct hearthi_liveness_line *line)
{
    struct pollfd p = { .fd = a->call.fd, .events = POLLOUT };
    int           code = 0;
    socklen_t     room = sizeof code;

    if (poll(&p, 1, 0) != 1)
        return HEARTHI_HEARD_NOTHING;
    if (getsockopt(a->call.fd, SOL_SOCKET, SO_ERROR, &code, &room) != 0)
        code = errno;
    if (code == ECONNRESET)
        return call_repeat(a);
    if (code != 0)
        return code == ECONNREFUSED ? HEARTHI_HEARD_END : HEARTHI_HEARD_LOST;
    hearthi_hello_send(a->call.fd, line->rank);
    a->call.greeted = true;
    return HEARTHI_HEARD_NOTHING;
}

static enum hearthi_heard
call_go_on(struct reconnect *a, const struct hearthi_liveness_line *line)
{
    struct hearthi_record r;

    if (!a->call.greeted)
        return call_connected(a, line);
    switch (hearthi_liveness_line_take(&a->call, &r)) {
    case HEARTHI_HEARD_NOTHING: return HEARTHI_HEARD_NOTHING;
    case HEARTHI_HEARD_RECORD:
        if (hearthi_is_hello(&r, line->rank))
            return HEARTHI_HEARD_RECORD;
        return call_repeat(a);
    default: return call_repeat(a);
    }
}

void
hearthi_line_reconnect_begin(struct hearthi_liveness_line *line)
{
    struct reconnect *a = reconnect_of(line);

    if (a->on)
        return;
    *a = (struct reconnect){ .on = true,
                             .end = hearthi_now() + PATIENCE,
                             .call = { .fd = -1 } };
}

void
hearthi_line_reconnect_end(struct hearthi_liveness_line *line)
{
    struct reconnect *a = reconnect_of(line);

    if (a->on)
        hearthi_liveness_line_close(&a->call);
    a->on = false;
}

void
hearthi_line_reconnect_wait_for(struct pollfd *p)
{
    for (int i = 0; i < HEARTHI_LINES; i++)
        p[i] =
            (struct pollfd){ .fd = reconnect[i].on ? reconnect[i].call.fd : -1,
                             .events = reconnect[i].call.greeted ? POLLIN
                                                                 : POLLOUT };
}

uint64_t
hearthi_line_reconnect_due(void)
{
    uint64_t due = UINT64_MAX;

    for (int i = 0; i < HEARTHI_LINES; i++) {
        const struct reconnect *a = &reconnect[i];
        uint64_t                one = a->call.fd < 0 ? a->next : a->end;

        if (a->on && one < due)
            due = one;
    }
    return due;
}

/* This rank made it at first, so it makes it now. */
static void
line_take_over(struct hearthi_liveness_line *line, struct reconnect *a)
{
    if (line != &hearthi_liveness_line[HEARTHI_LINE_NEXT])
        return;
    hearthi_liveness_line_renew(line, a->call.fd);
    a->call.fd = -1;
    hearthi_liveness_line_beat(line);
}

enum hearthi_heard
hearthi_line_reconnect_look(struct hearthi_liveness_line *line)
{
    struct reconnect  *a = reconnect_of(line);
    enum hearthi_heard heard = HEARTHI_HEARD_NOTHING;

    if (!a->on)
        return HEARTHI_HEARD_NOTHING;
    if (a->call.fd < 0 && hearthi_now() >= a->next)
        heard = call_begin(a, line);
    if (heard == HEARTHI_HEARD_NOTHING && a->call.fd >= 0)
        heard = call_go_on(a, line);
    if (heard == HEARTHI_HEARD_NOTHING && hearthi_now() >= a->end)
        heard = HEARTHI_HEARD_LOST;
    if (heard == HEARTHI_HEARD_RECORD)
        line_take_over(line, a);
    if (heard != HEARTHI_HEARD_NOTHING)
        hearthi_line_reconnect_end(line);
    return heard;
}
