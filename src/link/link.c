/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "link.h"

#include <errno.h>
#include <openssl/rand.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/format.h"
#include "link_state.h"

enum { EVENTS = 64 };

struct hearthi_link_options
hearthi_link_defaults(void)
{
    return (struct hearthi_link_options){ .giveup = 60,
                                          .silence = 3,
                                          .handshake = 5,
                                          .linger = 1,
                                          .conns = 1,
                                          .guests = 32,
                                          .agree = "",
                                          .tell = "",
                                          .version = "" };
}

void
hearthi_link_warn(struct hearthi_link *k, const char *fmt, ...)
{
    struct hearthi_link_error line;
    va_list                   ap;

    va_start(ap, fmt);
    hearthi_format(line.text, sizeof line.text, fmt, ap);
    va_end(ap);
    if (k->calls.warn != NULL)
        k->calls.warn(k->arg, line.text);
}

/* ---- opening and closing ---- */

static char *
agree_text(const struct hearthi_link *k)
{
    enum { ROOM = HEARTHI_CLUSTERS_MAX * (HEARTHI_CLUSTER_NAME + 16) + 512 };
    const uint16_t one = 1;
    size_t         room = ROOM + strlen(k->options.agree);
    char          *text = malloc(room), *clusters = malloc(ROOM);

    if (text != NULL && clusters != NULL) {
        hearthi_conf_text(k->conf, clusters, ROOM);
        snprintf(
            text, room, "link=1\nhearth=%.64s\nbyte-order=%s\nclusters=%s\n%s",
            k->options.version, *(const char *)&one == 1 ? "little" : "big",
            clusters, k->options.agree);
    }
    free(clusters);
    return text;
}

static bool
gateways_find(struct hearthi_link *k, struct hearthi_link_error *wrong)
{
    for (int c = 0; c <= k->me; c++)
        if (!hearthi_gateway_find(&k->remote[c].at, &k->conf->cluster[c],
                                  wrong))
            return false;
    return true;
}

static bool
link_prepare(struct hearthi_link *k, struct hearthi_link_error *wrong)
{
    uint64_t now = hearthi_clock_kernel();

    for (int c = 0; c < k->conf->n; c++)
        k->remote[c].alone = now;
    k->agree = agree_text(k);
    k->epoll = hearthi_descriptor(epoll_create1(EPOLL_CLOEXEC));
    if (k->agree == NULL || k->epoll < 0 ||
        RAND_bytes((unsigned char *)&k->job, sizeof k->job) != 1)
        return hearthi_link_error(wrong, "the link: %s", strerror(errno));
    return hearthi_tls_open(&k->tls, k->conf->key, wrong) &&
           gateways_find(k, wrong) && hearthi_acceptor_open(k, wrong);
}

struct hearthi_link *
hearthi_link_open(const struct hearthi_conf *conf, int me,
                  const struct hearthi_link_options *options,
                  const struct hearthi_link_calls *calls, void *arg,
                  struct hearthi_link_error *wrong)
{
    struct hearthi_link *k =
        calloc(1, sizeof *k + (size_t)conf->n * sizeof k->remote[0]);

    if (k == NULL) {
        hearthi_link_error(wrong, "no memory for the link");
        return NULL;
    }
    k->conf = conf;
    k->me = me;
    k->options = *options;
    k->calls = *calls;
    k->arg = arg;
    k->epoll = k->listener = -1;
    if (link_prepare(k, wrong))
        return k;
    hearthi_link_close(k);
    return NULL;
}

void
hearthi_link_bury(struct hearthi_link *k, struct hearthi_connection *l)
{
    l->state = HEARTHI_CONNECTION_NONE;
    k->counts.raw_in += l->bytes_in;
    k->counts.raw_out += l->bytes_out;
    epoll_ctl(k->epoll, EPOLL_CTL_DEL, l->fd, NULL);
    l->next = k->dead;
    k->dead = l;
}

static void
dead_free(struct hearthi_link *k)
{
    struct hearthi_connection *l;

    while ((l = k->dead) != NULL) {
        k->dead = l->next;
        hearthi_connection_free(l);
    }
}

void
hearthi_link_close(struct hearthi_link *k)
{
    while (k->guests != NULL) {
        struct hearthi_connection *l = k->guests;

        hearthi_acceptor_leave(k, l);
        hearthi_link_bury(k, l);
    }
    for (int c = 0; c < k->conf->n; c++) {
        struct hearthi_remote_gateway *m = &k->remote[c];

        for (int i = 0; i < HEARTHI_CONNECTIONS_MAX; i++) {
            if (m->conn[i] == NULL)
                continue;
            hearthi_reliable_queue_lane_lost(&m->post, i,
                                             m->conn[i]->out.queued);
            hearthi_link_bury(k, m->conn[i]);
        }
        hearthi_reliable_queue_clear(&m->post);
        hearthi_gateway_forget(&m->at);
    }
    dead_free(k);
    if (k->listener >= 0)
        close(k->listener);
    if (k->epoll >= 0)
        close(k->epoll);
    hearthi_tls_close(&k->tls);
    free(k->agree);
    free(k);
}

static void
list_forked(const struct hearthi_connection *l)
{
    for (; l != NULL; l = l->next)
        close(l->fd);
}

void
hearthi_link_forked(struct hearthi_link *k)
{
    for (int c = 0; c < k->conf->n; c++)
        for (int i = 0; i < HEARTHI_CONNECTIONS_MAX; i++)
            if (k->remote[c].conn[i] != NULL)
                close(k->remote[c].conn[i]->fd);
    list_forked(k->guests);
    list_forked(k->dead);
    close(k->listener);
    close(k->epoll);
}

/* ---- messages ---- */

static bool
queued_send(struct hearthi_link *k, int cluster,
            struct hearthi_queued_message *m)
{
    if (m == NULL)
        return false;
    k->counts.messages_out++;
    k->counts.bytes_out += m->head.len;
    hearthi_reliable_queue_give(&k->remote[cluster].post, m);
    return true;
}

bool
hearthi_link_send(struct hearthi_link *k, int cluster,
                  const struct iovec *part, int n)
{
    size_t len = 0;

    for (int i = 0; i < n; i++)
        len += part[i].iov_len;
    return len <= HEARTHI_CONNECTION_LONGEST &&
           queued_send(
               k, cluster,
               hearthi_queued_message_copy(HEARTHI_FRAME_MESSAGE, part, n));
}

bool
hearthi_link_give(struct hearthi_link *k, int cluster, void *body, size_t len,
                  void (*release)(void *))
{
    return len <= HEARTHI_CONNECTION_LONGEST &&
           queued_send(k, cluster,
                       hearthi_queued_message_take(HEARTHI_FRAME_MESSAGE, body,
                                                   len, release));
}

size_t
hearthi_link_unsent(const struct hearthi_link *k, int cluster)
{
    return k->remote[cluster].post.bytes;
}

struct hearthi_link_counts
hearthi_link_counts(const struct hearthi_link *k)
{
    struct hearthi_link_counts n = k->counts;

    for (int c = 0; c < k->conf->n; c++) {
        const struct hearthi_remote_gateway *m = &k->remote[c];

        n.again += m->post.again;
        n.twice += m->post.twice;
        for (int i = 0; i < HEARTHI_CONNECTIONS_MAX; i++) {
            n.raw_in += m->conn[i] != NULL ? m->conn[i]->bytes_in : 0;
            n.raw_out += m->conn[i] != NULL ? m->conn[i]->bytes_out : 0;
        }
    }
    return n;
}

/* ---- turns ---- */

int
hearthi_link_descriptor(const struct hearthi_link *k)
{
    return k->epoll;
}

/* Is there something that was read from the network, and not looked at? */
static bool
more(const struct hearthi_link *k)
{
    for (int c = 0; c < k->conf->n; c++)
        for (int i = 0; i < HEARTHI_CONNECTIONS_MAX; i++)
            if (k->remote[c].conn[i] != NULL && k->remote[c].conn[i]->more)
                return true;
    return false;
}

int
hearthi_link_due(const struct hearthi_link *k)
{
    uint64_t now = hearthi_clock_kernel(), due = hearthi_acceptor_due(k), one;

    if (more(k))
        return 0;
    for (int c = 0; c < k->conf->n; c++)
        if (c != k->me && (one = hearthi_remote_gateway_due(k, c)) < due)
            due = one;
    if (due <= now)
        return 0;
    due = (due - now) / 1000000 + 1;
    return due < INT32_MAX ? (int)due : INT32_MAX;
}

static void
conn_work(struct hearthi_link *k, struct hearthi_connection *l)
{
    if (l->state == HEARTHI_CONNECTION_NONE || hearthi_connection_work(l) ||
        k->over)
        return;
    if (l->cluster >= 0)
        hearthi_remote_gateway_lane_end(k, l);
    else
        hearthi_acceptor_connection_end(k, l);
}

static void
events_take(struct hearthi_link *k, int ms)
{
    struct epoll_event e[EVENTS];
    int                n = epoll_wait(k->epoll, e, EVENTS, ms);

    for (int i = 0; i < n && !k->over; i++) {
        if (e[i].data.ptr == NULL)
            hearthi_acceptor_answer(k);
        else
            conn_work(k, e[i].data.ptr);
    }
    for (int c = 0; c < k->conf->n; c++)
        for (int i = 0; i < HEARTHI_CONNECTIONS_MAX && !k->over; i++)
            if (k->remote[c].conn[i] != NULL && k->remote[c].conn[i]->more)
                conn_work(k, k->remote[c].conn[i]);
}

/* What came is looked at before a cluster is called silent: it may be this
 * side that was away. */
static void
all_tend(struct hearthi_link *k)
{
    uint64_t now = hearthi_clock_kernel();

    hearthi_acceptor_tend(k, now);
    for (int c = 0; c < k->conf->n && !k->over; c++) {
        if (c == k->me)
            continue;
        hearthi_remote_gateway_tend(k, c, now);
        if (!k->over)
            hearthi_remote_gateway_push(k, c);
    }
}

static void
all_push(struct hearthi_link *k)
{
    for (int c = 0; c < k->conf->n && !k->over; c++)
        if (c != k->me)
            hearthi_remote_gateway_push(k, c);
}

bool
hearthi_link_turn(struct hearthi_link *k, int ms)
{
    int due;

    if (k->over)
        return false;
    all_push(k);
    due = hearthi_link_due(k);
    events_take(k, ms >= 0 && ms < due ? ms : due);
    if (!k->over)
        all_tend(k);
    dead_free(k);
    return !k->over;
}
