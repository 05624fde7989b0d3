/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the connections to another cluster carry: its messages and ours, and
 * what each side has.
 */
#include "config.h"

#include <stdlib.h>

#include "link_state.h"

enum { ACK_BYTES = 256 << 10 }; /* come, and the other side shall know */

void
hearthi_remote_gateway_push(struct hearthi_link *k, int cluster)
{
    struct hearthi_remote_gateway *m = &k->remote[cluster];

    for (int i = 0; i < HEARTHI_CONNECTIONS_MAX && !k->over; i++) {
        struct hearthi_connection *l = m->conn[i];

        if (l == NULL || l->state != HEARTHI_CONNECTION_UP)
            continue;
        if (!l->left_said && !hearthi_remote_gateway_connects(k, cluster) &&
            hearthi_remote_gateway_all_said(m))
            l->left_said = l->out.left = true;
        if (m->unacked >= ACK_BYTES)
            l->out.beat = true;
        if (!hearthi_connection_push(l))
            hearthi_remote_gateway_lane_end(k, l);
    }
}

static struct hearthi_queued_message *
next(struct hearthi_connection *l)
{
    struct hearthi_link *k = l->owner;

    return hearthi_reliable_queue_next(&k->remote[l->cluster].post, l->index);
}

static uint64_t
ack(struct hearthi_connection *l)
{
    struct hearthi_link           *k = l->owner;
    struct hearthi_remote_gateway *m = &k->remote[l->cluster];

    m->unacked = 0;
    return m->post.got;
}

static void
message_pass(struct hearthi_link *k, int cluster,
             const struct hearthi_frame *head, const void *body)
{
    if (head->kind == HEARTHI_FRAME_BYE) {
        k->remote[cluster].bye_came = true;
        return;
    }
    k->counts.messages_in++;
    k->counts.bytes_in += head->len;
    k->calls.message(k->arg, cluster, body, head->len);
}

static bool
message_take(struct hearthi_link *k, struct hearthi_connection *l,
             const struct hearthi_frame *head, const void *body)
{
    struct hearthi_reliable_queue *p = &k->remote[l->cluster].post;
    struct hearthi_early          *e;
    enum hearthi_turn turn = hearthi_reliable_queue_came(p, head->number);

    if (turn == HEARTHI_FRAME_EARLY &&
        !hearthi_reliable_queue_keep(p, head, body))
        return hearthi_connection_fail(l, HEARTHI_CONNECTION_BROKEN,
                                       "no memory for a message of %u bytes",
                                       head->len);
    if (turn != HEARTHI_FRAME_IN_ORDER)
        return true;
    message_pass(k, l->cluster, head, body);
    while (!k->over && (e = hearthi_reliable_queue_follows(p)) != NULL) {
        message_pass(k, l->cluster, &e->head, e->body);
        free(e);
    }
    return !k->over;
}

static bool
frame(struct hearthi_connection *l, const struct hearthi_frame *head,
      const void *body)
{
    struct hearthi_link           *k = l->owner;
    struct hearthi_remote_gateway *m = &k->remote[l->cluster];

    if (head->ack > m->post.given)
        return hearthi_connection_fail(l, HEARTHI_CONNECTION_BROKEN,
                                       "it has what was not sent");
    hearthi_reliable_queue_acked(&m->post, head->ack);
    switch (head->kind) {
    case HEARTHI_FRAME_BEAT: return true;
    case HEARTHI_FRAME_LEFT: m->left = true; return true;
    case HEARTHI_FRAME_END:
        return hearthi_link_fail(k, l->cluster, "cluster %s has ended: %.*s",
                                 k->conf->cluster[l->cluster].name,
                                 (int)head->len, (const char *)body);
    case HEARTHI_FRAME_REFUSED:
        return hearthi_link_fail(k, l->cluster,
                                 "cluster %s runs already, and refuses this "
                                 "job: %.*s",
                                 k->conf->cluster[l->cluster].name,
                                 (int)head->len, (const char *)body);
    case HEARTHI_FRAME_MESSAGE:
    case HEARTHI_FRAME_BYE:
        m->unacked += head->len;
        return message_take(k, l, head, body);
    default:
        return hearthi_connection_fail(l, HEARTHI_CONNECTION_BROKEN,
                                       "a message of kind %u", head->kind);
    }
}

const struct hearthi_connection_calls hearthi_remote_gateway_calls = {
    .shaken = hearthi_handshake_shaken,
    .hello = hearthi_handshake_hello,
    .next = next,
    .ack = ack,
    .frame = frame,
};
