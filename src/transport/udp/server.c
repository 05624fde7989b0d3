/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The service thread: it sleeps in the kernel until a request comes, and does
 * it.  It works on this rank's segment and on what servers keep; it never
 * touches the heap's application view nor the lock of the page table, whose
 * holder may be waiting for this very thread.
 *
 * Nothing is done twice.  Diffs and requests for pages have slot 0 and rules
 * of their own (home.c).  All else goes one at a time for each slot, with
 * numbers in a row: the number of the last request is a repetition, which the
 * answer kept for it answers; one less is a straggler; anything else is
 * nonsense.
 */
#include "config.h"

#include <stdatomic.h>
#include <string.h>

#include "ack.h"
#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "count.h"
#include "inbox.h"
#include "job.h"
#include "local.h"
#include "server.h"
#include "socket.h"
#include "space/heap.h"
#include "space/segment.h"
#include "thread.h"
#include "transport/event.h"
#include "wire.h"
#include "world.h"

pthread_mutex_t hearthi_udp_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct {
    struct hearthi_udp_inbox in;
    struct hearthi_udp_inbox acks; /* of what we send, under the mutex */
    struct hearthi_udp_peer *peer; /* of each rank and slot */
    pthread_t                thread;
    const struct hearthi_udp_services *services;
    struct hearthi_event               own; /* an own thread has its answer */
    atomic_bool                        stop, ended;
} s;

static size_t
peers_bytes(void)
{
    return (size_t)hearthi_world.size * HEARTHI_UDP_SLOTS * sizeof *s.peer;
}

char *
hearthi_udp_segment(void)
{
    return hearthi_segments.base[hearthi_world.node_rank];
}

struct hearthi_udp_peer *
hearthi_udp_peer(uint32_t number)
{
    return &s.peer[number];
}

uint32_t
hearthi_udp_peer_of(const struct hearthi_udp_message *m)
{
    return m->from * HEARTHI_UDP_SLOTS + m->slot;
}

/* ---- answers ---- */

struct hearthi_udp_message
hearthi_udp_answer_to(const struct hearthi_udp_message *m, unsigned op)
{
    return (struct hearthi_udp_message){ .op = (uint8_t)op,
                                         .slot = m->slot,
                                         .from = m->to,
                                         .to = m->from,
                                         .seq = m->seq };
}

/* Send, and wait until it is acknowledged if that is the mode.  After a few
 * tries the client is left alone, which is told: it may have got the answer
 * and gone on, and if it has not, it will repeat its request. */
bool
hearthi_udp_answer_send(struct hearthi_udp_inbox   *acks,
                        struct hearthi_udp_message *m,
                        const struct sockaddr_in *to, uint8_t *head)
{
    struct hearthi_udp_message ack;
    struct sockaddr_in         from;
    enum { TRIES = 3 };
    const uint64_t wait = 1000000;

    m->reliable = hearthi_udp_acked(m->op);
    if (!m->reliable) {
        hearthi_udp_send(s.in.fd, to, m, head);
        return true;
    }
    for (int i = 0; i < TRIES; i++) {
        uint64_t end = hearthi_now() + wait;

        hearthi_udp_send(acks->fd, to, m, head);
        if (i > 0)
            hearthi_udp_count_resent(m->op);
        while (hearthi_udp_receive(acks, end, &ack, &from))
            if (ack.op == HEARTHI_UDP_NULL && ack.from == m->to &&
                ack.slot == m->slot && ack.seq == m->seq && ack.at == m->at)
                return true;
    }
    return false;
}

void
hearthi_udp_answer(uint32_t number, struct hearthi_udp_message *m)
{
    struct hearthi_udp_peer *p = &s.peer[number];

    m->from = (uint32_t)hearthi_world.rank;
    m->to = number / HEARTHI_UDP_SLOTS;
    m->slot = (uint16_t)(number % HEARTHI_UDP_SLOTS);
    m->seq = p->seq;
    if (hearthi_udp_is_local((int)m->to)) {
        hearthi_udp_local_grant(m);
        return;
    }
    if (m->body_len > 0)
        memcpy(p->answer + HEARTHI_UDP_HEAD, m->body, m->body_len);
    p->len = HEARTHI_UDP_HEAD + m->body_len;
    p->answered = true;
    if (m->to != m->from) {
        hearthi_udp_answer_send(&s.acks, m, &p->address, p->answer);
        return;
    }
    hearthi_udp_encode(m, p->answer);
    hearthi_event_raise(&s.own);
}

/* A repeated request: the answer again, as it was, or that it must wait. */
static void
answer_again(const struct hearthi_udp_peer    *p,
             const struct hearthi_udp_message *m,
             const struct sockaddr_in         *from)
{
    struct hearthi_udp_message wait =
        hearthi_udp_answer_to(m, HEARTHI_UDP_NULL);

    hearthi_count(repeats, 1);
    wait.kind = HEARTHI_UDP_WAITS;
    if (p->answered)
        hearthi_udp_send_again(s.acks.fd, from, p->answer, p->len);
    else
        hearthi_udp_send(s.in.fd, from, &wait, NULL);
}

/* ---- requests that go one at a time ---- */

static void
atomic_serve(uint32_t peer, const struct hearthi_udp_message *m)
{
    struct hearthi_udp_message grant = { .op = HEARTHI_UDP_DIFFGRANT,
                                         .kind = m->kind };
    int64_t *word = (int64_t *)(void *)(hearthi_udp_segment() + m->at);
    int64_t  value, old;

    memcpy(&value, m->body, sizeof value);
    old = m->kind == HEARTHI_UDP_ADD
              ? __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST)
              : __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
    grant.body = (const uint8_t *)&old;
    grant.body_len = sizeof old;
    hearthi_udp_answer(peer, &grant);
}

static void
request_do(uint32_t peer, const struct hearthi_udp_message *m)
{
    switch (m->op) {
    case HEARTHI_UDP_DIFF: atomic_serve(peer, m); break;
    case HEARTHI_UDP_BARR: s.services->barrier(peer, m); break;
    case HEARTHI_UDP_INV:
    case HEARTHI_UDP_WTNT:
        if (m->kind & HEARTHI_UDP_NEWS)
            s.services->barrier(peer, m);
        else
            s.services->manager(peer, m);
        break;
    default: s.services->manager(peer, m); break;
    }
}

static void
request_serve(const struct hearthi_udp_message *m,
              const struct sockaddr_in         *from)
{
    uint32_t                 number = hearthi_udp_peer_of(m);
    struct hearthi_udp_peer *p = &s.peer[number];
    uint32_t                 step = m->seq - p->seq;

    if (step == 0) {
        hearthi_udp_acknowledge(s.in.fd, m, from);
        answer_again(p, m, from);
    } else if (step != 1) {
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_SEQUENCE);
    } else {
        p->seq = m->seq;
        p->answered = false;
        p->address = *from;
        if (m->op != HEARTHI_UDP_WTNT && m->op != HEARTHI_UDP_REL)
            hearthi_udp_acknowledge(s.in.fd, m, from);
        request_do(number, m);
    }
}

/* The same in this rank's own thread, which nothing can be lost to. */
void
hearthi_udp_serve_own(const struct hearthi_udp_message *ask,
                      struct hearthi_udp_message       *answer)
{
    uint32_t                 number = hearthi_udp_peer_of(ask);
    struct hearthi_udp_peer *p = &s.peer[number];

    pthread_mutex_lock(&hearthi_udp_mutex);
    p->seq = ask->seq;
    p->answered = false;
    request_do(number, ask);
    while (!p->answered) {
        uint32_t seen = hearthi_event_value(&s.own);

        pthread_mutex_unlock(&hearthi_udp_mutex);
        hearthi_event_wait(&s.own, seen, true);
        pthread_mutex_lock(&hearthi_udp_mutex);
    }
    hearthi_udp_decode_parts(p->answer, p->answer + HEARTHI_UDP_HEAD, p->len,
                             &hearthi_udp.limits, answer);
    pthread_mutex_unlock(&hearthi_udp_mutex);
}

/* From another rank of the node, nothing can be lost either. */
void
hearthi_udp_serve_local(const struct hearthi_udp_message *ask)
{
    uint32_t number = hearthi_udp_peer_of(ask);

    pthread_mutex_lock(&hearthi_udp_mutex);
    s.peer[number].seq = ask->seq;
    request_do(number, ask);
    pthread_mutex_unlock(&hearthi_udp_mutex);
}

static void
hello_serve(const struct hearthi_udp_message *m,
            const struct sockaddr_in         *from)
{
    struct hearthi_udp_message answer =
        hearthi_udp_answer_to(m, HEARTHI_UDP_NULL);

    answer.at = m->at;
    hearthi_udp_send(s.in.fd, from, &answer, NULL);
}

/* Slot 0 and the others have different numbers, so neither may do what the
 * other is for. */
static bool
slot_fits(const struct hearthi_udp_message *m)
{
    if (m->op == HEARTHI_UDP_EXIT || m->op == HEARTHI_UDP_BCAST)
        return true;
    return (m->slot == 0) == (m->op == HEARTHI_UDP_GETP ||
                              (m->op == HEARTHI_UDP_DIFF && m->kind == 0));
}

static void
message_serve(const struct hearthi_udp_message *m,
              const struct sockaddr_in         *from)
{
    if (!hearthi_udp_is_request(m) || !slot_fits(m)) {
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_OPERATION);
        return;
    }
    if (m->op == HEARTHI_UDP_BCAST) {
        hello_serve(m, from);
        return;
    }
    if (m->op == HEARTHI_UDP_EXIT)
        return;
    if (m->slot == 0) {
        s.services->bulk(m, from);
        return;
    }
    pthread_mutex_lock(&hearthi_udp_mutex);
    request_serve(m, from);
    pthread_mutex_unlock(&hearthi_udp_mutex);
}

/* ---- the thread ---- */

static void *
serve(void *none)
{
    struct hearthi_udp_message m;
    struct sockaddr_in         from;

    (void)none;
    while (!s.stop) {
        hearthi_udp_receive(&s.in, UINT64_MAX, &m, &from);
        message_serve(&m, &from);
    }
    s.ended = true;
    return NULL;
}

void
hearthi_udp_server_open(int fd, const struct hearthi_udp_services *services)
{
    memset(&s, 0, sizeof s);
    s.services = services;
    hearthi_udp_inbox_open(&s.in, fd, true);
    hearthi_udp_inbox_open(&s.acks, hearthi_udp_socket(0), false);
    s.peer = hearthi_sparse(peers_bytes());
    hearthi_udp_thread_start(&s.thread, serve);
}

void
hearthi_udp_server_close(void)
{
    s.stop = true;
    hearthi_udp_thread_end(s.thread, &s.ended, s.acks.fd,
                           &hearthi_udp.server[hearthi_world.rank]);
    hearthi_udp_inbox_close(&s.in);
    hearthi_udp_inbox_close(&s.acks);
    hearthi_sparse_free(s.peer, peers_bytes());
}
