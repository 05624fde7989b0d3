/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "reliable_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

/* ---- what goes out ---- */

struct hearthi_queued_message *
hearthi_queued_message_copy(uint32_t kind, const struct iovec *part, int n)
{
    struct hearthi_queued_message *m;
    size_t                         len = 0;
    char                          *at;

    for (int i = 0; i < n; i++)
        len += part[i].iov_len;
    m = malloc(sizeof *m + len);
    if (m == NULL)
        return NULL;
    *m = (struct hearthi_queued_message){ .head = { .len = (uint32_t)len,
                                                    .kind = kind },
                                          .body = m + 1,
                                          .conn = HEARTHI_NO_CONNECTION };
    at = (char *)(m + 1);
    for (int i = 0; i < n; at += part[i++].iov_len)
        if (part[i].iov_len > 0)
            memcpy(at, part[i].iov_base, part[i].iov_len);
    return m;
}

struct hearthi_queued_message *
hearthi_queued_message_take(uint32_t kind, void *body, size_t len,
                            void (*release)(void *))
{
    struct hearthi_queued_message *m =
        hearthi_queued_message_copy(kind, NULL, 0);

    if (m == NULL)
        return NULL;
    m->head.len = (uint32_t)len;
    m->body = body;
    m->release = release;
    return m;
}

static void
message_free(struct hearthi_queued_message *m)
{
    if (m->release != NULL)
        m->release((void *)(uintptr_t)m->body);
    free(m);
}

void
hearthi_reliable_queue_give(struct hearthi_reliable_queue *p,
                            struct hearthi_queued_message *m)
{
    HEARTHI_ASSERT(m->next == NULL && p->acked <= p->given);
    m->head.number = ++p->given;
    if (p->first == NULL)
        p->first = m;
    else
        p->last->next = m;
    p->last = m;
    if (p->waiting == NULL)
        p->waiting = m;
    p->bytes += m->head.len;
}

struct hearthi_queued_message *
hearthi_reliable_queue_next(struct hearthi_reliable_queue *p, int conn)
{
    struct hearthi_queued_message *m = p->waiting;

    while (m != NULL && m->conn != HEARTHI_NO_CONNECTION)
        m = m->next;
    p->waiting = m;
    if (m != NULL) {
        p->again += m->lost;
        HEARTHI_ASSERT(m->head.number > p->acked && !m->dropped);
        m->conn = conn;
        m->writing = true;
        p->waiting = m->next;
    }
    return m;
}

void
hearthi_reliable_queue_written(struct hearthi_queued_message *m)
{
    HEARTHI_ASSERT(m->writing);
    m->writing = false;
    if (m->dropped)
        message_free(m);
}

void
hearthi_reliable_queue_lane_lost(struct hearthi_reliable_queue *p, int conn,
                                 struct hearthi_queued_message *m)
{
    if (m != NULL)
        hearthi_reliable_queue_written(m);
    for (m = p->first; m != NULL; m = m->next) {
        if (m->conn != conn)
            continue;
        m->conn = HEARTHI_NO_CONNECTION;
        m->lost = true;
    }
    p->waiting = p->first;
}

/* One that another connection is writing again is its own until it is
 * written. */
static void
queued_drop(struct hearthi_queued_message *m)
{
    if (m->writing)
        m->dropped = true;
    else
        message_free(m);
}

void
hearthi_reliable_queue_acked(struct hearthi_reliable_queue *p, uint64_t ack)
{
    while (p->first != NULL && p->first->head.number <= ack) {
        struct hearthi_queued_message *m = p->first;

        p->first = m->next;
        if (p->waiting == m)
            p->waiting = m->next;
        HEARTHI_ASSERT(p->bytes >= m->head.len);
        HEARTHI_ASSERT(m->head.number == p->acked + 1);
        p->bytes -= m->head.len;
        p->acked = m->head.number;
        queued_drop(m);
    }
    if (p->first == NULL)
        p->last = NULL;
}

/* ---- what comes in ---- */

enum hearthi_turn
hearthi_reliable_queue_came(struct hearthi_reliable_queue *p, uint64_t number)
{
    if (number == p->got + 1) {
        p->got = number;
        return HEARTHI_FRAME_IN_ORDER;
    }
    if (number > p->got)
        return HEARTHI_FRAME_EARLY;
    p->twice++;
    return HEARTHI_FRAME_TWICE;
}

bool
hearthi_reliable_queue_keep(struct hearthi_reliable_queue *p,
                            const struct hearthi_frame *head, const void *body)
{
    struct hearthi_early **at = &p->early, *e;

    while (*at != NULL && (*at)->head.number < head->number)
        at = &(*at)->next;
    if (*at != NULL && (*at)->head.number == head->number) {
        p->twice++;
        return true;
    }
    e = malloc(sizeof *e + head->len);
    if (e == NULL)
        return false;
    e->head = *head;
    memcpy(e->body, body, head->len);
    e->next = *at;
    *at = e;
    return true;
}

struct hearthi_early *
hearthi_reliable_queue_follows(struct hearthi_reliable_queue *p)
{
    struct hearthi_early *e;

    /* It may have come in its turn, too, by another connection. */
    while ((e = p->early) != NULL && e->head.number <= p->got) {
        p->early = e->next;
        p->twice++;
        free(e);
    }
    if (e == NULL || e->head.number != p->got + 1)
        return NULL;
    HEARTHI_ASSERT(e->next == NULL || e->next->head.number > p->got + 1);
    p->got++;
    p->early = e->next;
    return e;
}

void
hearthi_reliable_queue_clear(struct hearthi_reliable_queue *p)
{
    struct hearthi_early *e;

    hearthi_reliable_queue_acked(p, p->given);
    while ((e = p->early) != NULL) {
        p->early = e->next;
        free(e);
    }
}
