/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The end of a link: with a word for the others, early or in time.
 */
#include "config.h"

#include <poll.h>
#include <stdarg.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/format.h"
#include "link_state.h"

/* Wait until the other side has closed, too, or a time. */
static void
over_wait(struct hearthi_connection *l, uint64_t until)
{
    struct pollfd p = { .fd = l->fd, .events = POLLIN };

    while (!hearthi_connection_over(l)) {
        uint64_t now = hearthi_clock_kernel();

        if (now >= until ||
            poll(&p, 1, (int)((until - now) / 1000000) + 1) < 0)
            return;
    }
}

/* To each connection in turn, those whose cluster is known and those that wait
 * to be told why they are refused; in so many seconds in all. */
static void
conns_each(struct hearthi_link *k,
           void (*act)(struct hearthi_connection *l, const char *text,
                       uint64_t until),
           const char *text, double seconds)
{
    uint64_t until = hearthi_clock_kernel() + hearthi_seconds(seconds);

    for (int c = 0; c < k->conf->n; c++)
        for (int i = 0; i < HEARTHI_CONNECTIONS_MAX; i++)
            if (k->remote[c].conn[i] != NULL && k->remote[c].conn[i]->greeted)
                act(k->remote[c].conn[i], text, until);
    for (struct hearthi_connection *l = k->guests; l != NULL; l = l->next)
        if (l->greeted)
            act(l, text, until);
}

static void
farewell_say(struct hearthi_connection *l, const char *text, uint64_t until)
{
    uint64_t now = hearthi_clock_kernel();

    hearthi_connection_farewell(l, HEARTHI_FRAME_END, text,
                                until > now ? (int)((until - now) / 1000000)
                                            : 0);
}

static void
farewell_wait(struct hearthi_connection *l, const char *text, uint64_t until)
{
    (void)text;
    over_wait(l, until);
}

void
hearthi_link_end(struct hearthi_link *k, const char *line)
{
    if (k->over)
        return;
    k->over = true;
    conns_each(k, farewell_say, line, k->options.linger);
}

void
hearthi_link_linger(struct hearthi_link *k, double seconds)
{
    conns_each(k, farewell_wait, NULL, seconds);
}

bool
hearthi_link_fail(struct hearthi_link *k, int cluster, const char *fmt, ...)
{
    struct hearthi_link_error line;
    va_list                   ap;

    if (k->over)
        return false;
    va_start(ap, fmt);
    hearthi_format(line.text, sizeof line.text, fmt, ap);
    va_end(ap);
    hearthi_link_end(k, line.text);
    if (k->calls.failed != NULL)
        k->calls.failed(k->arg, cluster, line.text);
    hearthi_link_linger(k, k->options.linger);
    return false;
}

/* ---- in time ----
 *
 * Which side leaves first?  Each side says BYE, its last message, which is
 * kept and sent again like any other.  A side has "all said" when it has the
 * other's BYE, and the other has acknowledged all of its own: only then
 * nothing is missing on either side.  But the ack that tells one of them so
 * may be lost with the connection, and a side that has left cannot repeat it.
 * So the two have different parts:
 *
 * The one that listens leaves as soon as it has all said, and says LEFT, on
 * every connection that is made while it is still there.  The one that
 * connects does so again until it hears LEFT, or finds that nothing listens
 * there any more (which BYE announced), and so has no need of an ack; if
 * neither comes for as long as a cluster may be gone, and it has all said, it
 * leaves without.  Therefore the listener, which has to have its acks, waits
 * for no cluster that may have left: a connector leaves only after the
 * listener has.
 *
 * tests/transport/link/link_finish.c has the connection cut, spoilt and silent
 * at each piece of this.
 */

static bool
all_done(const struct hearthi_link *k)
{
    for (int c = 0; c < k->conf->n; c++)
        if (c != k->me && !hearthi_remote_gateway_done(k, c))
            return false;
    return true;
}

static bool
all_said(const struct hearthi_link *k)
{
    for (int c = 0; c < k->conf->n; c++)
        if (c != k->me && !hearthi_remote_gateway_done(k, c) &&
            !hearthi_remote_gateway_all_said(&k->remote[c]))
            return false;
    return true;
}

/* Of what comes now only the end is needed; and the other side, perhaps, that
 * its last message has come. */
static void
half_close(struct hearthi_connection *l, const char *text, uint64_t until)
{
    (void)text, (void)until;
    l->out.beat = true;
    hearthi_connection_push(l);
    shutdown(l->fd, SHUT_WR);
}

/* It lives, and goes on. */
static bool
late_tell(struct hearthi_link *k)
{
    const struct hearthi_member *m = k->conf->cluster;
    int                          c = 0;
    char                         gateway[HEARTHI_GATEWAY_NAME];

    while (c == k->me || hearthi_remote_gateway_done(k, c) ||
           hearthi_remote_gateway_all_said(&k->remote[c]))
        c++;
    return hearthi_link_fail(k, c,
                             "cluster %s (gateway %s) has not ended with this "
                             "one, which waited for %g s",
                             m[c].name, hearthi_conf_gateway(&m[c], gateway),
                             k->options.giveup);
}

bool
hearthi_link_finish(struct hearthi_link *k)
{
    uint64_t until =
        hearthi_clock_kernel() + hearthi_seconds(k->options.giveup);

    for (int c = 0; c < k->conf->n; c++) {
        struct hearthi_queued_message *bye;

        if (c == k->me || k->remote[c].bye_sent)
            continue;
        bye = hearthi_queued_message_copy(HEARTHI_FRAME_BYE, NULL, 0);
        if (bye == NULL)
            return false;
        hearthi_reliable_queue_give(&k->remote[c].post, bye);
        k->remote[c].bye_sent = true;
    }
    while (!k->over && !all_done(k) && hearthi_clock_kernel() < until)
        hearthi_link_turn(k, 100);
    if (k->over)
        return false;
    if (!all_said(k))
        return late_tell(k);
    k->over = true;
    conns_each(k, half_close, NULL, k->options.linger);
    hearthi_link_linger(k, k->options.linger);
    return true;
}
