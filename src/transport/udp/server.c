/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The service thread: it sleeps in the kernel until a request comes, and does
 * it.  It works on this rank's segment and on what servers keep; it never
 * touches the heap's application view nor the lock of the page table, whose
 * holder may be waiting for this very thread.
 *
 * Nothing is done twice:
 *   - Diffs and requests for pages come several at a time, in any order.
 *     `seen` tells which of the 64 numbers up to the largest so far were done;
 *     a client keeps within half of that, so what is older was done and
 *     answered.
 *   - A page is read again when it is asked for again; that does no harm
 *     (page.c).  But its shared flag is set the first time only: a straggler
 *     might set it after the page was freed, and the co-homes, who then have
 *     seen it, would not see it set for the next page in that frame.
 *   - All else goes one at a time for each slot, with numbers in a row: the
 *     number of the last request is a repetition, which the answer kept for it
 *     answers; one less is a straggler; anything else is nonsense.
 */
#include "config.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "space/heap.h"
#include "space/segment.h"
#include "udp.h"
#include "world.h"

pthread_mutex_t hearthi_udp_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct {
    struct hearthi_udp_inbox in;
    struct hearthi_udp_inbox acks; /* for what we send and want answered */
    struct hearthi_udp_peer *peer; /* of each rank and slot */
    uint8_t                 *page; /* a fragment on its way out */
    pthread_t                thread;
    struct hearthi_event      own; /* an own thread has its answer */
    atomic_bool              stop, ended;
} s;

static size_t
peers_bytes(void)
{
    return (size_t)hearthi_world.size * HEARTHI_UDP_SLOTS * sizeof *s.peer;
}

static char *
segment(void)
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

/* What answers m, to be filled. */
static struct hearthi_udp_message
answer_to(const struct hearthi_udp_message *m, unsigned op)
{
    return (struct hearthi_udp_message){ .op = (uint8_t)op,
                                         .slot = m->slot,
                                         .from = m->to,
                                         .to = m->from,
                                         .seq = m->seq };
}

/* Send, and wait until it is acknowledged if that is the mode.  After a few
 * tries the client is left alone: it may have got the answer and gone on, and
 * if it has not, it will repeat its request. */
static void
answer_send(struct hearthi_udp_message *m, const struct sockaddr_in *to,
            uint8_t *head)
{
    struct hearthi_udp_message     ack;
    struct sockaddr_in             from;
    enum { TRIES = 3 };
    const uint64_t wait = 1000000;

    m->reliable = hearthi_udp_acked(m->op);
    if (!m->reliable) {
        hearthi_udp_send(s.in.fd, to, m, head);
        return;
    }
    for (int i = 0; i < TRIES; i++) {
        uint64_t end = hearthi_now() + wait;

        hearthi_udp_send(s.acks.fd, to, m, head);
        if (i > 0)
            hearthi_udp_count_resent(m->op);
        while (hearthi_udp_receive(&s.acks, end, NULL, &ack, &from))
            if (ack.op == HEARTHI_UDP_NULL && ack.from == m->to &&
                ack.slot == m->slot && ack.seq == m->seq && ack.at == m->at)
                return;
    }
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
        answer_send(m, &p->address, p->answer);
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
    struct hearthi_udp_message wait = answer_to(m, HEARTHI_UDP_NULL);

    hearthi_count(repeats, 1);
    wait.kind = HEARTHI_UDP_WAITS;
    if (p->answered)
        hearthi_udp_send_again(s.acks.fd, from, p->answer, p->len);
    else
        hearthi_udp_send(s.in.fd, from, &wait, NULL);
}

/* ---- numbers of slot 0 ---- */

enum number { NEW, SEEN, OLD };

/* A new number counts as done from now on. */
static enum number
number_note(const struct hearthi_udp_message *m)
{
    struct hearthi_udp_peer *p = &s.peer[hearthi_udp_peer_of(m)];
    int32_t                  step = (int32_t)(m->seq - p->seq);
    uint64_t                 bit;

    if (step > 0) {
        p->seen = step < 64 ? p->seen << step | 1 : 1;
        p->seq = m->seq;
        return NEW;
    }
    if (step <= -64)
        return OLD;
    bit = UINT64_C(1) << -step;
    if (p->seen & bit)
        return SEEN;
    p->seen |= bit;
    return NEW;
}

/* ---- pages ---- */

/* The flags of the frames that the bytes lie in, and the summary's. */
static void
flags_set(uint64_t at, uint32_t len)
{
    unsigned shift = hearthi_heap.shift;
    uint64_t first = (at - hearthi_segments.frames_at) >> shift;
    uint64_t last = (at + len - 1 - hearthi_segments.frames_at) >> shift;
    char    *summary = segment() + hearthi_segments.summary_at;

    memset(segment() + first, 1, last - first + 1);
    first /= HEARTHI_SUMMARY;
    last /= HEARTHI_SUMMARY;
    memset(summary + first, 1, last - first + 1);
}

static struct hearthi_udp_message
grant_of(const struct hearthi_udp_message *ask)
{
    struct hearthi_udp_message grant = answer_to(ask, HEARTHI_UDP_GETPGRANT);

    grant.kind = ask->kind & (uint8_t)~HEARTHI_UDP_ANNOUNCE;
    return grant;
}

/* The i-th of n fragments. */
static void
fragment_set(struct hearthi_udp_message *grant,
             const struct hearthi_udp_message *ask, unsigned i, unsigned n)
{
    grant->at = (uint64_t)i * ask->pos;
    grant->pos = ask->pos;
    grant->len = i + 1 < n ? ask->pos : ask->len - (uint32_t)grant->at;
    grant->body_len = grant->len;
    grant->body = (const uint8_t *)segment() + ask->at + grant->at;
}

/* Other bytes of a page may be written right now, without a race, and the
 * seal must be of the bytes that are sent.  So a fragment is copied first;
 * only those of a long run go as they are at the first try, since a copy would
 * take as long as all else, and those that were written meanwhile do not fit
 * their seals, are dropped, and asked for again. */
static void
body_copy(struct hearthi_udp_message *grant, size_t *used)
{
    memcpy(s.page + *used, grant->body, grant->len);
    grant->body = s.page + *used;
    *used += grant->len;
}

static bool
must_copy(const struct hearthi_udp_message *ask, bool first)
{
    enum { LONG = 32768 };

    return hearthi_udp.auth && (!first || ask->len < LONG);
}

/* Up to a batch of small fragments in one call; gives where the next begins.
 */
static unsigned
fragments_send(const struct hearthi_udp_message *ask,
               const struct hearthi_udp_set *set, unsigned i, unsigned n,
               bool copy, const struct sockaddr_in *to)
{
    struct hearthi_udp_message grant = grant_of(ask);
    uint8_t      head[HEARTHI_UDP_BATCH][HEARTHI_UDP_HEAD];
    struct iovec part[2 * HEARTHI_UDP_BATCH];
    size_t       each = HEARTHI_UDP_HEAD + ask->pos, used = 0, bytes = 0;
    unsigned     k = 0;

    for (; i < n && k < HEARTHI_UDP_BATCH &&
           (k + 1) * each <= HEARTHI_UDP_CALL;
         i++) {
        if (!hearthi_udp_has(set, i))
            continue;
        fragment_set(&grant, ask, i, n);
        if (copy)
            body_copy(&grant, &used);
        hearthi_udp_head(&grant, head[k]);
        part[2 * k] = (struct iovec){ head[k], HEARTHI_UDP_HEAD };
        part[2 * k + 1] = (struct iovec){ (void *)grant.body, grant.len };
        bytes += HEARTHI_UDP_HEAD + grant.len;
        k++;
    }
    if (k > 0)
        hearthi_udp_send_together(s.in.fd, to, part, k, each);
    hearthi_udp_count_sent(grant.op, k, bytes);
    return i;
}

/* The same with an acknowledgement for each. */
static void
fragments_send_acked(const struct hearthi_udp_message *ask,
                     const struct hearthi_udp_set *set, unsigned n,
                     const struct sockaddr_in *to)
{
    struct hearthi_udp_message grant = grant_of(ask);

    for (unsigned i = 0; i < n; i++) {
        size_t used = 0;

        if (!hearthi_udp_has(set, i))
            continue;
        fragment_set(&grant, ask, i, n);
        if (hearthi_udp.auth)
            body_copy(&grant, &used);
        answer_send(&grant, to, NULL);
    }
}

static void
page_serve(const struct hearthi_udp_message *m, bool first,
           const struct sockaddr_in *to)
{
    struct hearthi_udp_set set;
    unsigned               n = (m->len - 1) / m->pos + 1;

    memcpy(&set, m->body, sizeof set);
    if (first && (m->kind & HEARTHI_UDP_ANNOUNCE))
        flags_set(m->at, m->len);
    atomic_thread_fence(memory_order_seq_cst);
    if (hearthi_udp_acked(HEARTHI_UDP_GETPGRANT)) {
        fragments_send_acked(m, &set, n, to);
        return;
    }
    for (unsigned i = 0; i < n;)
        i = fragments_send(m, &set, i, n, must_copy(m, first), to);
}

/* ---- diffs ---- */

/* A word that tells of new flags is read by others at any time: one store. */
static void
run_apply(const struct hearthi_udp_diff *run)
{
    char    *to = segment() + run->offset;
    uint64_t word;

    if (run->len != sizeof word || run->offset % sizeof word != 0) {
        memcpy(to, run->bytes, run->len);
        return;
    }
    memcpy(&word, run->bytes, sizeof word);
    __atomic_store_n((uint64_t *)(void *)to, word, __ATOMIC_RELEASE);
}

static void
diff_serve(const struct hearthi_udp_message *m, bool first,
           const struct sockaddr_in *to)
{
    struct hearthi_udp_message grant = answer_to(m, HEARTHI_UDP_DIFFGRANT);
    struct hearthi_udp_diff    run;
    size_t                     at = 0;

    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; first && i < m->pos; i++)
        if (hearthi_udp_diff_next(m, &at, &run))
            run_apply(&run);
    atomic_thread_fence(memory_order_seq_cst);
    grant.at = m->at;
    grant.len = hearthi_udp_pace_share(m->from);
    answer_send(&grant, to, NULL);
}

/* What this needs belongs to this thread alone, so that a long answer keeps
 * nobody from a lock; but for the socket that waits for acknowledgements. */
static void
bulk_serve(const struct hearthi_udp_message *m, const struct sockaddr_in *from)
{
    bool        acked = hearthi_udp_acked(HEARTHI_UDP_DIFFGRANT);
    enum number number = number_note(m);

    if (number == OLD) {
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_SEQUENCE);
        return;
    }
    if (number == SEEN)
        hearthi_count(repeats, 1);
    hearthi_udp_acknowledge(s.in.fd, m, from);
    if (acked)
        pthread_mutex_lock(&hearthi_udp_mutex);
    if (m->op == HEARTHI_UDP_GETP)
        page_serve(m, number == NEW, from);
    else
        diff_serve(m, number == NEW, from);
    if (acked)
        pthread_mutex_unlock(&hearthi_udp_mutex);
}

static void
atomic_serve(uint32_t peer, const struct hearthi_udp_message *m)
{
    struct hearthi_udp_message grant = { .op = HEARTHI_UDP_DIFFGRANT,
                                         .kind = m->kind };
    int64_t *word = (int64_t *)(void *)(segment() + m->at), value, old;

    memcpy(&value, m->body, sizeof value);
    old = m->kind == HEARTHI_UDP_ADD
              ? __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST)
              : __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
    grant.body = (const uint8_t *)&old;
    grant.body_len = sizeof old;
    hearthi_udp_answer(peer, &grant);
}

/* ---- requests that go one at a time ---- */

static void
request_do(uint32_t peer, const struct hearthi_udp_message *m)
{
    switch (m->op) {
    case HEARTHI_UDP_DIFF: atomic_serve(peer, m); break;
    case HEARTHI_UDP_BARR: hearthi_udp_barrier_serve(peer, m); break;
    case HEARTHI_UDP_INV:
    case HEARTHI_UDP_WTNT:
        if (m->kind & HEARTHI_UDP_NEWS)
            hearthi_udp_barrier_serve(peer, m);
        else
            hearthi_udp_manage(peer, m);
        break;
    default: hearthi_udp_manage(peer, m); break;
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
    struct hearthi_udp_message answer = answer_to(m, HEARTHI_UDP_NULL);

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
    return (m->slot == 0) ==
           (m->op == HEARTHI_UDP_GETP ||
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
        bulk_serve(m, from);
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
    struct hearthi_udp_message     m;
    struct sockaddr_in             from;

    (void)none;
    while (!s.stop) {
        hearthi_udp_receive(&s.in, UINT64_MAX, NULL, &m, &from);
        message_serve(&m, &from);
    }
    s.ended = true;
    return NULL;
}

void
hearthi_udp_thread_start(pthread_t *thread, void *(*body)(void *))
{
    sigset_t all, before;
    int      code;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(thread, NULL, body, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0)
        hearthi_fatal("hearth_init", "no service thread: %s", strerror(code));
}

void
hearthi_udp_server_open(int fd)
{
    memset(&s, 0, sizeof s);
    hearthi_udp_inbox_open(&s.in, fd, true);
    hearthi_udp_inbox_open(&s.acks, hearthi_udp_socket(0), false);
    s.peer = hearthi_sparse(peers_bytes());
    s.page = hearthi_sparse(HEARTHI_UDP_CALL);
    hearthi_udp_thread_start(&s.thread, serve);
}

/* The word to stop may get lost, too. */
void
hearthi_udp_server_close(void)
{
    const struct timespec      nap = { .tv_nsec = 200000 };
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_EXIT,
                                     .from = (uint32_t)hearthi_world.rank,
                                     .to = (uint32_t)hearthi_world.rank };

    s.stop = true;
    while (!s.ended) {
        hearthi_udp_send(s.acks.fd, &hearthi_udp.server[hearthi_world.rank],
                         &m, NULL);
        nanosleep(&nap, NULL);
    }
    pthread_join(s.thread, NULL);
    hearthi_udp_inbox_close(&s.in);
    hearthi_udp_inbox_close(&s.acks);
    hearthi_sparse_free(s.peer, peers_bytes());
    hearthi_sparse_free(s.page, HEARTHI_UDP_CALL);
}
