/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The service thread: it sleeps in the kernel until a request comes, and does
 * it.  It works on this rank's segment and on what servers keep; it never
 * touches the heap's application view nor the lock of the page table, whose
 * holder may be waiting for this very thread.
 *
 * Nothing is done twice.  Diffs and requests for pages have slots and rules of
 * their own (udp_home.c).  All else goes one at a time for each slot, with
 * numbers in a row: the number of the last request is a repetition, which the
 * answer kept for it answers; anything else is a straggler or nonsense.
 *
 * And no datagram is answered twice, whichever host sends it again: each
 * sending of a request has a number of its own (seq, then turn), and only one
 * above the largest so far is taken.  So a datagram that was overheard brings
 * nothing, from nowhere.  Numbers do not wrap: 2^64 requests take 10^5 years
 * at 5 million a second, and one request is sent again at most a thousand
 * times a second, at twenty after the first few tries: 2^32 take six years.
 * (A session ends with its job; the next has other keys.)
 *
 * An answer goes to where the newest sending came from, if that is a host from
 * which the rank has said hello, as each does before its first request.  All
 * hellos of a rank have numbers in a rising row, and only one above all that
 * came is a new one: one that was overheard makes its sender no host of the
 * rank's, and is not answered.  A host that wants an answer sent elsewhere
 * must be such a one, or overtake the datagram that it has overheard, and gets
 * one answer at most for each that the rank itself has asked for.
 */
#include "config.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/min.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/thread.h"
#include "cluster.h"
#include "datagram_rx.h"
#include "node/event.h"
#include "server.h"
#include "shm_message.h"
#include "socket.h"
#include "space/heap.h"
#include "space/segment.h"
#include "timer.h"
#include "udp_hello.h"
#include "udp_job.h"
#include "wire.h"

pthread_mutex_t hearthi_udp_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct {
    struct hearthi_udp_rx              in;
    struct hearthi_udp_served         *peer; /* of each rank and slot */
    pthread_t                          thread;
    const struct hearthi_udp_services *services;
    struct hearthi_event               own; /* an own thread has its answer */
    atomic_bool                        stop, ended;
} s;

static size_t
peers_bytes(void)
{
    return (size_t)hearthi_cluster.size * HEARTHI_UDP_SLOTS * sizeof *s.peer;
}

char *
hearthi_udp_segment(void)
{
    return hearthi_segments.base[hearthi_cluster.node_rank];
}

struct hearthi_udp_served *
hearthi_udp_served(uint32_t number)
{
    return &s.peer[number];
}

uint32_t
hearthi_udp_served_of(const struct hearthi_udp_message *m)
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
                                         .turn = m->turn,
                                         .seq = m->seq };
}

/* Whichever thread sends it, it leaves from the server's socket: a firewall
 * may admit no other port.  So an acknowledgement comes to that socket, too,
 * and no thread waits for it: a client that misses the answer asks again. */
void
hearthi_udp_answer_send(struct hearthi_udp_message *m,
                        const struct sockaddr_in *to, uint8_t *head)
{
    m->reliable = hearthi_udp_acked(m->op);
    hearthi_udp_send(s.in.fd, to, m, head);
}

void
hearthi_udp_answer(uint32_t number, struct hearthi_udp_message *m)
{
    struct hearthi_udp_served *p = &s.peer[number];

    m->from = (uint32_t)hearthi_cluster.rank;
    m->to = number / HEARTHI_UDP_SLOTS;
    m->slot = (uint16_t)(number % HEARTHI_UDP_SLOTS);
    m->seq = p->seq;
    m->turn = p->turn;
    if (hearthi_udp_is_local((int)m->to)) {
        hearthi_udp_shm_channel_grant(m);
        return;
    }
    if (m->body_len > 0)
        memcpy(p->answer + HEARTHI_UDP_HEAD, m->body, m->body_len);
    p->len = HEARTHI_UDP_HEAD + m->body_len;
    p->answered = true;
    if (m->to != m->from) {
        p->when = hearthi_now();
        hearthi_udp_answer_send(m, &p->address, p->answer);
        return;
    }
    hearthi_udp_encode(m, p->answer);
    hearthi_event_raise(&s.own);
}

void
hearthi_udp_server_tell(int rank, struct in_addr host,
                        struct hearthi_udp_message *m)
{
    struct sockaddr_in to = hearthi_udp.server[rank];

    to.sin_addr = host;
    m->from = (uint32_t)hearthi_cluster.rank;
    m->to = (uint32_t)rank;
    m->slot = HEARTHI_UDP_BULK;
    hearthi_udp_send(s.in.fd, &to, m, NULL);
}

/* An acknowledgement, which no thread waits for. */
void
hearthi_udp_server_nudge(void)
{
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_NULL,
                                     .kind = HEARTHI_UDP_ACK };

    hearthi_udp_server_tell(hearthi_cluster.rank,
                            hearthi_udp.server[hearthi_cluster.rank].sin_addr,
                            &m);
}

/* Less than a round trip ago it was answered: the client could not have that
 * answer yet, so nothing says that it was lost.  On a link where answers queue
 * each one more would keep those behind it longer.  If it was lost, after all,
 * the next repetition comes later. */
static bool
answer_is_under_way(const struct hearthi_udp_served  *p,
                    const struct hearthi_udp_message *m)
{
    const uint64_t most = 1000000000;

    return p->answered &&
           hearthi_now() - p->when <
               hearthi_min(hearthi_udp_takes((int)m->from), most);
}

/* A repeated request: the answer again, to this try, or that it must wait. */
static void
answer_again(struct hearthi_udp_served *p, const struct hearthi_udp_message *m)
{
    struct hearthi_udp_message again =
        hearthi_udp_answer_to(m, HEARTHI_UDP_NULL);

    hearthi_count(repeats, 1);
    again.kind = HEARTHI_UDP_WAITS;
    if (answer_is_under_way(p, m))
        return;
    if (p->answered) {
        hearthi_udp_head_read(p->answer, &again);
        again.turn = m->turn;
        again.body = p->answer + HEARTHI_UDP_HEAD;
        again.body_len = p->len - HEARTHI_UDP_HEAD;
        hearthi_udp_count_resent(again.op);
        p->when = hearthi_now();
    }
    hearthi_udp_send(s.in.fd, &p->address, &again, NULL);
}

/* ---- requests that go one at a time ---- */

static void
request_do(uint32_t peer, const struct hearthi_udp_message *m)
{
    switch (m->op) {
    case HEARTHI_UDP_DIFF: s.services->step(peer, m); break;
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

/* A new request, or the last one, sent once more. */
static void
request_serve(const struct hearthi_udp_message *m,
              const struct sockaddr_in         *from)
{
    uint32_t                   number = hearthi_udp_served_of(m);
    struct hearthi_udp_served *p = &s.peer[number];
    bool                       again = m->seq == p->seq && m->turn > p->turn;

    if (!again && m->seq != p->seq + 1) {
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_SEQUENCE);
        return;
    }
    p->seq = m->seq;
    p->turn = m->turn;
    p->address = *from;
    if (again || (m->op != HEARTHI_UDP_WTNT && m->op != HEARTHI_UDP_REL))
        hearthi_udp_acknowledge(s.in.fd, m, from);
    if (again) {
        answer_again(p, m);
        return;
    }
    p->answered = false;
    request_do(number, m);
}

/* The same in this rank's own thread, which nothing can be lost to. */
void
hearthi_udp_serve_own(const struct hearthi_udp_message *ask,
                      struct hearthi_udp_message       *answer)
{
    uint32_t                   number = hearthi_udp_served_of(ask);
    struct hearthi_udp_served *p = &s.peer[number];

    hearthi_mutex_lock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
    p->seq = ask->seq;
    p->answered = false;
    request_do(number, ask);
    while (!p->answered) {
        uint32_t seen = hearthi_event_value(&s.own);

        hearthi_mutex_unlock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
        hearthi_event_wait(&s.own, seen, true);
        hearthi_mutex_lock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
    }
    hearthi_udp_decode_parts(p->answer, p->answer + HEARTHI_UDP_HEAD, p->len,
                             &hearthi_udp.limits, answer);
    hearthi_mutex_unlock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
}

/* From another rank of the node, nothing can be lost either. */
void
hearthi_udp_serve_local(const struct hearthi_udp_message *ask)
{
    uint32_t number = hearthi_udp_served_of(ask);

    hearthi_mutex_lock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
    s.peer[number].seq = ask->seq;
    request_do(number, ask);
    hearthi_mutex_unlock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
}

/* ---- what comes ---- */

/* The answer is not longer than the question. */
static void
hello_serve(const struct hearthi_udp_message *m,
            const struct sockaddr_in         *from)
{
    struct hearthi_udp_message answer =
        hearthi_udp_answer_to(m, HEARTHI_UDP_NULL);

    if (!hearthi_udp_acl_hello(m, from)) {
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_SEQUENCE);
        return;
    }
    answer.at = m->at;
    hearthi_udp_send(s.in.fd, from, &answer, NULL);
}

/* Slots for pages and diffs and the others have different numbers, so neither
 * may do what the other is for; and diffs go by slot 0 alone, or by the last
 * of them, a gateway's (udp_diff.c). */
static bool
slot_fits(const struct hearthi_udp_message *m)
{
    if (m->op == HEARTHI_UDP_BCAST)
        return true;
    if (m->op == HEARTHI_UDP_DIFF && m->kind == 0)
        return m->slot == 0 || m->slot == HEARTHI_UDP_BULK - 1;
    return (m->slot < HEARTHI_UDP_BULK) == (m->op == HEARTHI_UDP_GETP);
}

static void
request_take(const struct hearthi_udp_message *m,
             const struct sockaddr_in         *from)
{
    if (m->slot < HEARTHI_UDP_BULK) {
        s.services->bulk(m, from);
        return;
    }
    hearthi_mutex_lock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
    request_serve(m, from);
    hearthi_mutex_unlock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
}

/* From wherever its MAC is good: a server answers by the way that its host
 * chooses, and need not have met this rank.  One that a listener has overheard
 * and sends again does no more than one that is late (udp_delegation.c). */
static void
recall_take(const struct hearthi_udp_message *m)
{
    hearthi_mutex_lock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
    s.services->recall(m);
    hearthi_mutex_unlock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
}

static void
message_serve(const struct hearthi_udp_message *m,
              const struct sockaddr_in         *from)
{
    if (m->op == HEARTHI_UDP_EXIT ||
        (m->op == HEARTHI_UDP_NULL && m->kind == HEARTHI_UDP_ACK))
        return;
    if (hearthi_udp_is_recall(m)) {
        recall_take(m);
        return;
    }
    if (!hearthi_udp_is_request(m) || !slot_fits(m)) {
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_OPERATION);
        return;
    }
    if (m->op == HEARTHI_UDP_BCAST)
        hello_serve(m, from);
    else if (hearthi_udp_acl_has(m->from, from))
        request_take(m, from);
    else
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_ADDRESS);
}

/* ---- the thread ---- */

static void *
serve(void *none)
{
    struct hearthi_udp_message m;
    struct sockaddr_in         from;
    uint64_t                   due = UINT64_MAX;

    (void)none;
    while (!s.stop) {
        if (hearthi_udp_receive(&s.in, due, &m, &from))
            message_serve(&m, &from);
        due = s.services->again();
    }
    s.ended = true;
    return NULL;
}

void
hearthi_udp_server_open(int fd, const struct hearthi_udp_services *services)
{
    memset(&s, 0, sizeof s);
    s.services = services;
    hearthi_udp_rx_open(&s.in, fd, true);
    s.peer = hearthi_sparse(peers_bytes());
    hearthi_udp_acl_open();
    hearthi_thread_start(&s.thread, serve, "hearth_init", "service thread",
                         NULL);
}

void
hearthi_udp_server_close(void)
{
    s.stop = true;
    hearthi_udp_receiver_end(s.thread, &s.ended, s.in.fd,
                             &hearthi_udp.server[hearthi_cluster.rank]);
    hearthi_udp_rx_close(&s.in);
    hearthi_sparse_free(s.peer, peers_bytes());
    hearthi_udp_acl_close();
}
