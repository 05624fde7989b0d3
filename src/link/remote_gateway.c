/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Another cluster: its connections, and their times.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "link_state.h"

enum {
    PAUSE = 50000000,       /* ns before the second try to connect */
    PAUSE_MAX = 1000000000, /* later */
    BEATS = 4,              /* in the time of silence */
    CONNECT_PARTS = 3,      /* of the handshake's time, for TCP */
    STUCK = 3,              /* connections lost with the same message */
};

bool
hearthi_remote_gateway_all_said(const struct hearthi_remote_gateway *m)
{
    return m->bye_sent && m->bye_came && m->post.first == NULL;
}

bool
hearthi_remote_gateway_done(const struct hearthi_link *k, int cluster)
{
    const struct hearthi_remote_gateway *m = &k->remote[cluster];

    return hearthi_remote_gateway_connects(k, cluster)
               ? m->left
               : hearthi_remote_gateway_all_said(m);
}

/* ---- connections ---- */

bool
hearthi_remote_gateway_is_up(const struct hearthi_remote_gateway *m)
{
    for (int i = 0; i < HEARTHI_CONNECTIONS_MAX; i++)
        if (m->conn[i] != NULL && m->conn[i]->state == HEARTHI_CONNECTION_UP)
            return true;
    return false;
}

static void
pause_set(struct hearthi_remote_gateway *m, int i, bool was_up)
{
    uint64_t *pause = &m->pause[i];

    if (was_up)
        *pause = 0;
    else
        *pause = *pause == 0          ? PAUSE
                 : *pause < PAUSE_MAX ? 2 * *pause
                                      : PAUSE_MAX;
    m->next_try[i] = hearthi_clock_kernel() + *pause;
}

/* What it died of is not to be mended by another connection. */
static bool
hopeless(struct hearthi_link *k, const struct hearthi_connection *l)
{
    const struct hearthi_member *c = &k->conf->cluster[l->cluster];
    char                         gateway[HEARTHI_GATEWAY_NAME];

    if (l->end == HEARTHI_CONNECTION_BROKEN)
        return !hearthi_link_fail(k, l->cluster,
                                  "cluster %s (%s): it has the key, and its "
                                  "messages make no sense: %s",
                                  c->name, l->from, l->why);
    if (l->end == HEARTHI_CONNECTION_FOREIGN && !k->remote[l->cluster].known)
        return !hearthi_link_fail(k, l->cluster,
                                  "gateway %s of cluster %s does not know our "
                                  "key %s, or is none (%s): give both the "
                                  "same key, and the right address and port",
                                  hearthi_conf_gateway(c, gateway), c->name,
                                  k->conf->key, l->why);
    return false;
}

/* Where packets of full size are lost, connections are made, a hello passes,
 * and they die of the first long message, for ever. */
static void
stuck_note(struct hearthi_remote_gateway   *m,
           const struct hearthi_connection *l)
{
    const struct hearthi_queued_message *first = m->post.first;

    if (first == NULL || first->conn != l->index)
        return;
    if (m->stuck.number != first->head.number) {
        m->stuck.number = first->head.number;
        m->stuck.since = hearthi_clock_kernel();
        m->stuck.times = 0;
    }
    m->stuck.times++;
}

static bool
is_stuck(const struct hearthi_remote_gateway *m)
{
    return m->post.first != NULL &&
           m->post.first->head.number == m->stuck.number &&
           m->stuck.times >= STUCK;
}

/* Said when a connection stands that has not died yet. */
static bool
stuck_give_up(struct hearthi_link *k, const struct hearthi_connection *l)
{
    struct hearthi_remote_gateway *m = &k->remote[l->cluster];

    if (!is_stuck(m) || hearthi_clock_kernel() - m->stuck.since <
                            hearthi_seconds(k->options.giveup))
        return false;
    return !hearthi_link_fail(
        k, l->cluster,
        "cluster %s (%s): %d connections, for %g s, broke (%s) with the "
        "same message of %u bytes: do packets of full size pass between the "
        "gateways (ping -M do -s 1472)?",
        k->conf->cluster[l->cluster].name, l->from, m->stuck.times,
        k->options.giveup, m->why, m->post.first->head.len);
}

/* An address that has answered is called again; one that has not, last. */
static void
address_next(struct hearthi_remote_gateway *m, int at)
{
    if (m->at.next == at)
        m->at.next = (at + 1) % m->at.n;
}

/* A job listens until its end.  One that has said its last message, and is at
 * none of its addresses, has left: it had ours, or has no use for them. */
static void
missed_note(const struct hearthi_link *k, struct hearthi_remote_gateway *m,
            const struct hearthi_connection *l)
{
    m->missed = l->end == HEARTHI_CONNECTION_MISSED ? m->missed + 1 : 0;
    if (m->bye_sent && m->bye_came && m->missed >= m->at.n * k->options.conns)
        m->left = true;
}

void
hearthi_remote_gateway_lane_end(struct hearthi_link       *k,
                                struct hearthi_connection *l)
{
    struct hearthi_remote_gateway *m = &k->remote[l->cluster];
    bool                           was_up = l->state == HEARTHI_CONNECTION_UP;

    if (hopeless(k, l))
        return;
    if (hearthi_remote_gateway_connects(k, l->cluster))
        missed_note(k, m, l);
    if (hearthi_remote_gateway_connects(k, l->cluster) && !was_up)
        address_next(m, l->at);
    m->conn[l->index] = NULL;
    stuck_note(m, l);
    hearthi_reliable_queue_lane_lost(&m->post, l->index, l->out.queued);
    l->out.queued = NULL;
    snprintf(m->why, sizeof m->why, "%s", l->why);
    pause_set(m, l->index, was_up && !is_stuck(m));
    hearthi_link_bury(k, l);
    if (m->alone == 0 && !hearthi_remote_gateway_is_up(m))
        m->alone = hearthi_clock_kernel();
}

bool
hearthi_remote_gateway_lane_up(struct hearthi_link       *k,
                               struct hearthi_connection *l, uint64_t got)
{
    struct hearthi_remote_gateway *m = &k->remote[l->cluster];

    m->conn[l->index] = l;
    k->counts.reconnects += m->was_up[l->index];
    m->was_up[l->index] = true;
    m->alone = 0;
    m->missed = 0;
    hearthi_reliable_queue_acked(&m->post, got);
    if (!is_stuck(m))
        m->pause[l->index] = 0;
    return !stuck_give_up(k, l);
}

static void
conn_connect(struct hearthi_link *k, int cluster, int i)
{
    struct hearthi_remote_gateway *m = &k->remote[cluster];
    int                            at = m->at.next;
    const struct sockaddr         *to = (struct sockaddr *)&m->at.at[at].to;
    struct hearthi_connection     *l =
        hearthi_connection_connect(&k->tls, k->epoll, to, m->at.at[at].len);

    if (l == NULL) {
        snprintf(m->why, sizeof m->why, "%s", strerror(errno));
        pause_set(m, i, false);
        address_next(m, at);
    } else {
        hearthi_gateway_text(to, m->at.at[at].len, l->from);
        l->at = at;
        l->calls = &hearthi_remote_gateway_calls;
        l->owner = k;
        l->cluster = cluster;
        l->index = i;
        if (k->options.rekey > 0)
            l->out.rekey = k->options.rekey;
        m->conn[i] = l;
    }
}

/* ---- times ---- */

/* When the connection is dead unless something happens. */
static uint64_t
conn_dead(const struct hearthi_link *k, const struct hearthi_connection *l)
{
    const struct hearthi_link_options *o = &k->options;

    if (l->state == HEARTHI_CONNECTION_UP)
        return l->heard + hearthi_seconds(o->silence);
    if (l->state == HEARTHI_CONNECTION_CONNECTING)
        return l->since + hearthi_seconds(o->handshake / CONNECT_PARTS);
    return l->since + hearthi_seconds(o->handshake);
}

/* Not while something waits for room: it says enough when there is some. */
static uint64_t
conn_beat(const struct hearthi_link *k, const struct hearthi_connection *l)
{
    if (l->state != HEARTHI_CONNECTION_UP || l->out.beat ||
        hearthi_tls_waiting(l->ssl) > 0)
        return UINT64_MAX;
    return l->said + hearthi_seconds(k->options.silence / BEATS);
}

static void
conn_tend(struct hearthi_link *k, struct hearthi_connection *l, uint64_t now)
{
    if (now >= conn_dead(k, l)) {
        hearthi_connection_fail(l, HEARTHI_CONNECTION_GONE,
                                "no answer for %.1f s",
                                (double)(now - l->heard) / 1e9);
        hearthi_remote_gateway_lane_end(k, l);
    } else if (now >= conn_beat(k, l)) {
        l->out.beat = true;
    }
}

/* It was there: whether it is gone, or nothing passes, cannot be known here.
 */
static void
give_up_known(struct hearthi_link *k, int cluster)
{
    static const char rest[] =
        "its job or its host has ended, or the network between the two "
        "gateways is down; HEARTH_GATEWAY_GIVEUP is how long to wait";
    const struct hearthi_member *c = &k->conf->cluster[cluster];
    const struct hearthi_member *me = &k->conf->cluster[k->me];
    char                         gateway[HEARTHI_GATEWAY_NAME];

    if (hearthi_remote_gateway_connects(k, cluster))
        hearthi_link_fail(k, cluster,
                          "cluster %s: its gateway %s does not answer any "
                          "more, tried for %g s (%s): %s",
                          c->name, hearthi_conf_gateway(c, gateway),
                          k->options.giveup, k->remote[cluster].why, rest);
    else
        hearthi_link_fail(k, cluster,
                          "cluster %s (gateway %s) has not come back to %s "
                          "for %g s (%s): %s",
                          c->name, c->host, hearthi_conf_gateway(me, gateway),
                          k->options.giveup, k->remote[cluster].why, rest);
}

/* It never came. */
static void
give_up_new(struct hearthi_link *k, int cluster)
{
    const struct hearthi_member *c = &k->conf->cluster[cluster];
    const struct hearthi_member *me = &k->conf->cluster[k->me];
    const char                  *why = k->remote[cluster].why;
    char                         gateway[HEARTHI_GATEWAY_NAME];
    char                         others[200] = "";

    if (hearthi_remote_gateway_connects(k, cluster)) {
        hearthi_link_fail(k, cluster,
                          "cluster %s: its gateway %s does not answer, tried "
                          "for %g s (%s): does its job run, and does its "
                          "firewall admit port %s?",
                          c->name, hearthi_conf_gateway(c, gateway),
                          k->options.giveup, why, c->port);
        return;
    }
    if (k->counts.strangers > 0)
        snprintf(others, sizeof others,
                 "; %llu connections without our key came, the last from %s",
                 (unsigned long long)k->counts.strangers, k->stranger);
    hearthi_link_fail(
        k, cluster,
        "cluster %s (gateway %s) has not come to %s for %g s%s%s%s%s: does "
        "its job run, with the same key, and does the firewall here admit "
        "port %s?",
        c->name, c->host, hearthi_conf_gateway(me, gateway), k->options.giveup,
        *why != '\0' ? " (" : "", why, *why != '\0' ? ")" : "", others,
        me->port);
}

static void
give_up(struct hearthi_link *k, int cluster)
{
    if (k->remote[cluster].known)
        give_up_known(k, cluster);
    else
        give_up_new(k, cluster);
}

/* To wait for word that the other has left, alone, is no failure
 * (link_close.c). */
static bool
may_be_given_up(const struct hearthi_link *k, int cluster)
{
    const struct hearthi_remote_gateway *m = &k->remote[cluster];

    return m->alone != 0 && !hearthi_remote_gateway_all_said(m) &&
           !hearthi_remote_gateway_done(k, cluster);
}

static bool
shall_connect(const struct hearthi_link *k, int cluster, int i)
{
    return i < k->options.conns &&
           hearthi_remote_gateway_connects(k, cluster) &&
           !hearthi_remote_gateway_done(k, cluster);
}

void
hearthi_remote_gateway_tend(struct hearthi_link *k, int cluster, uint64_t now)
{
    struct hearthi_remote_gateway *m = &k->remote[cluster];

    for (int i = 0; i < HEARTHI_CONNECTIONS_MAX && !k->over; i++) {
        if (m->conn[i] != NULL)
            conn_tend(k, m->conn[i], now);
        else if (shall_connect(k, cluster, i) && now >= m->next_try[i])
            conn_connect(k, cluster, i);
    }
    if (!k->over && may_be_given_up(k, cluster) &&
        now >= m->alone + hearthi_seconds(k->options.giveup))
        give_up(k, cluster);
}

static uint64_t
least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t
hearthi_remote_gateway_due(const struct hearthi_link *k, int cluster)
{
    const struct hearthi_remote_gateway *m = &k->remote[cluster];
    uint64_t                             due = UINT64_MAX;

    if (may_be_given_up(k, cluster))
        due = m->alone + hearthi_seconds(k->options.giveup);
    for (int i = 0; i < HEARTHI_CONNECTIONS_MAX; i++) {
        const struct hearthi_connection *l = m->conn[i];

        if (l != NULL)
            due = least(due, least(conn_dead(k, l), conn_beat(k, l)));
        else if (shall_connect(k, cluster, i))
            due = least(due, m->next_try[i]);
    }
    return due;
}
