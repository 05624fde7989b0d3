/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The home's part of the slots for pages and diffs, which the service thread
 * does.  They come several at a time, in any order, so nothing is kept to
 * answer a repetition with:
 *   - Of the 64 numbers of each slot up to the largest so far it is known
 * which were done, and by which turn; a client keeps within half of that, so
 * what is older was done and answered.  A turn that is not above the last one
 * of its number came before, and is not answered again (server.c).
 *   - A page is read again when it is asked for again; that does no harm
 *     (udp_page.c).  But its sharer flag is set the first time only: a
 *     straggler might set it after the page was freed, and the co-homes, which
 *     then have seen it, would not see it set for the next page in that frame.
 *
 * What this needs belongs to the service thread alone, so that a long answer
 * keeps no rank from a lock.
 */
#include "config.h"

#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "base/option.h"
#include "base/stat.h"
#include "cluster.h"
#include "datagram_rx.h"
#include "flow_control.h"
#include "server.h"
#include "socket.h"
#include "space/heap.h"
#include "space/segment.h"
#include "transport/atomic_op.h"
#include "transport/patch.h"
#include "transport/word_split.h"
#include "udp.h"
#include "udp_job.h"
#include "wire.h"

enum { WINDOW = 64 };

struct window {
    uint64_t top;          /* the largest number so far */
    uint32_t turn[WINDOW]; /* the last, and 1; 0: it has not come */
};

static struct {
    int            fd;     /* the server's socket */
    uint8_t       *page;   /* fragments on their way out */
    struct window *window; /* of each rank and slot */
} h;

static size_t
windows_bytes(void)
{
    return (size_t)hearthi_cluster.size * HEARTHI_UDP_BULK * sizeof *h.window;
}

void
hearthi_udp_home_open(int fd)
{
    h.fd = fd;
    h.page = hearthi_sparse(HEARTHI_UDP_CALL);
    h.window = hearthi_sparse(windows_bytes());
}

void
hearthi_udp_home_close(void)
{
    hearthi_sparse_free(h.window, windows_bytes());
    hearthi_sparse_free(h.page, HEARTHI_UDP_CALL);
}

/* ---- numbers ---- */

enum number { NEW, SEEN, OLD };

/* Make a number the largest: those that it leaves out have not come. */
static void
window_move(struct window *w, uint64_t seq)
{
    HEARTHI_ASSERT(seq > w->top);
    if (seq - w->top >= WINDOW)
        memset(w->turn, 0, sizeof w->turn);
    else
        while (w->top < seq)
            w->turn[++w->top % WINDOW] = 0;
    w->top = seq;
}

/* A new number counts as done from now on. */
static enum number
number_note(const struct hearthi_udp_message *m)
{
    struct window *w = &h.window[m->from * HEARTHI_UDP_BULK + m->slot];
    uint32_t      *turn = &w->turn[m->seq % WINDOW], before;

    if (m->turn == UINT32_MAX ||
        (m->seq < w->top && w->top - m->seq >= WINDOW))
        return OLD;
    if (m->seq > w->top)
        window_move(w, m->seq);
    HEARTHI_ASSERT(m->seq <= w->top && w->top - m->seq < WINDOW);
    before = *turn;
    if (m->turn < before)
        return OLD;
    *turn = m->turn + 1;
    return before == 0 ? NEW : SEEN;
}

/* ---- pages ---- */

/* One by one, since scans of this node's ranks read them meanwhile.  No order
 * is needed here: the ranks that scan are told of them by a word that the
 * reader stores later, with this answer before it (coherence/sharer_flags.c).
 */
static void
bytes_set(char *at, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        __atomic_store_n(at + i, 1, __ATOMIC_RELAXED);
}

/* The flags of the frames that the bytes lie in, and the summary's. */
static void
flags_set(uint64_t at, uint32_t len)
{
    unsigned shift = hearthi_heap.shift;
    uint64_t first = (at - hearthi_segments.frames_at) >> shift;
    uint64_t last = (at + len - 1 - hearthi_segments.frames_at) >> shift;
    char    *summary = hearthi_udp_segment() + hearthi_segments.summary_at;

    HEARTHI_ASSERT(first <= last && last < hearthi_segments.frames);
    bytes_set(hearthi_udp_segment() + first, last - first + 1);
    first /= HEARTHI_SUMMARY;
    last /= HEARTHI_SUMMARY;
    bytes_set(summary + first, last - first + 1);
}

static struct hearthi_udp_message
grant_of(const struct hearthi_udp_message *ask)
{
    struct hearthi_udp_message grant =
        hearthi_udp_answer_to(ask, HEARTHI_UDP_GETPGRANT);

    grant.reliable = hearthi_udp_acked(HEARTHI_UDP_GETPGRANT);
    return grant;
}

/* The i-th of n fragments. */
static void
fragment_set(struct hearthi_udp_message       *grant,
             const struct hearthi_udp_message *ask, unsigned i, unsigned n)
{
    grant->at = (uint64_t)i * ask->pos;
    grant->pos = ask->pos;
    grant->len = i + 1 < n ? ask->pos : ask->len - (uint32_t)grant->at;
    HEARTHI_ASSERT(i < n && grant->len > 0 && grant->len <= ask->pos);
    grant->body_len = grant->len;
    grant->body = (const uint8_t *)hearthi_udp_segment() + ask->at + grant->at;
}

/* Other bytes of a page may be written right now, without a race, and the
 * MAC must be of the bytes that are sent: so a fragment is copied first.  (A
 * long run that is sent as it lies, and what was torn sent again, saves no
 * more than 9 % of a fetch over loopback, and costs a second fetch of what a
 * program writes to meanwhile.) */
static void
body_copy(struct hearthi_udp_message *grant, size_t *used)
{
    if (!hearthi_udp.auth)
        return;
    memcpy(h.page + *used, grant->body, grant->len);
    grant->body = h.page + *used;
    *used += grant->len;
}

/* Up to a batch of small fragments in one call; gives where the next begins.
 */
static unsigned
fragments_send(const struct hearthi_udp_message *ask,
               const struct hearthi_udp_set *set, unsigned i, unsigned n,
               const struct sockaddr_in *to)
{
    struct hearthi_udp_message grant = grant_of(ask);
    uint8_t                    head[HEARTHI_UDP_BATCH][HEARTHI_UDP_HEAD];
    struct iovec               part[2 * HEARTHI_UDP_BATCH];
    size_t   each = HEARTHI_UDP_HEAD + ask->pos, used = 0, bytes = 0;
    unsigned k = 0;

    for (;
         i < n && k < HEARTHI_UDP_BATCH && (k + 1) * each <= HEARTHI_UDP_CALL;
         i++) {
        if (!hearthi_udp_has(set, i))
            continue;
        fragment_set(&grant, ask, i, n);
        body_copy(&grant, &used);
        hearthi_udp_head(&grant, head[k]);
        part[2 * k] = (struct iovec){ head[k], HEARTHI_UDP_HEAD };
        part[2 * k + 1] = (struct iovec){ (void *)grant.body, grant.len };
        bytes += HEARTHI_UDP_HEAD + grant.len;
        k++;
    }
    if (k > 0)
        hearthi_udp_send_together(h.fd, to, part, k, each);
    hearthi_udp_count_sent(grant.op, k, bytes);
    return i;
}

/* The fence pairs with that of hearthi_sharer_flags_scan(): flags, and words
 * that diff_serve() has stored, come before the loads of pages. */
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
    for (unsigned i = 0; i < n;)
        i = fragments_send(m, &set, i, n, to);
}

/* ---- diffs ---- */

static void
run_apply(const struct hearthi_udp_diff *run)
{
    char *to = hearthi_udp_segment() + run->offset;

    if (run->patch)
        hearthi_patch_store(to, run->bytes, run->bits, run->shift);
    else
        hearthi_run_store(to, (const char *)run->bytes, run->len);
}

/* The fences: what is stored comes behind the message, and before the answer
 * to it. */
static void
diff_serve(const struct hearthi_udp_message *m, bool first,
           const struct sockaddr_in *to)
{
    struct hearthi_udp_message grant =
        hearthi_udp_answer_to(m, HEARTHI_UDP_DIFFGRANT);
    struct hearthi_udp_diff run;
    size_t                  at = 0;

    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; first && i < m->pos; i++)
        if (hearthi_udp_diff_next(m, &at, &run))
            run_apply(&run);
    atomic_thread_fence(memory_order_seq_cst);
    grant.len = hearthi_udp_flow_share(m->from);
    hearthi_udp_answer_send(&grant, to, NULL);
}

/* ---- atomics ---- */

static void
adds_do(uint32_t peer, const struct hearthi_udp_message *m)
{
    struct hearthi_udp_message grant = { .op = HEARTHI_UDP_DIFFGRANT,
                                         .kind = HEARTHI_UDP_ADDS };
    struct hearthi_add         a;

    for (size_t i = 0; i < m->body_len; i += sizeof a) {
        memcpy(&a, m->body + i, sizeof a);
        hearthi_add_here(hearthi_udp_segment(), &a);
    }
    hearthi_udp_answer(peer, &grant);
}

/* By the home's processor, whichever rank asks: a thread of its node
 * (sync.c), the service thread for others. */
void
hearthi_udp_home_step(uint32_t peer, const struct hearthi_udp_message *m)
{
    static const enum hearthi_atomic_op_kind steps[] = {
        [HEARTHI_UDP_ADD] = HEARTHI_ADD, [HEARTHI_UDP_SWAP] = HEARTHI_SWAP,
        [HEARTHI_UDP_CAS] = HEARTHI_CAS, [HEARTHI_UDP_AND] = HEARTHI_AND,
        [HEARTHI_UDP_OR] = HEARTHI_OR,   [HEARTHI_UDP_XOR] = HEARTHI_XOR,
        [HEARTHI_UDP_SUM] = HEARTHI_SUM,
    };
    struct hearthi_udp_message grant = { .op = HEARTHI_UDP_DIFFGRANT,
                                         .kind = m->kind };
    struct hearthi_atomic_op   step = { .narrow = m->len == sizeof(uint32_t) };
    uint64_t                   old;

    if (m->kind == HEARTHI_UDP_ADDS) {
        adds_do(peer, m);
        return;
    }
    step.kind = steps[m->kind];
    memcpy(&step.value, m->body, sizeof step.value);
    memcpy(&step.expected, m->body + sizeof step.value, sizeof step.expected);
    old = hearthi_atomic_op_here(hearthi_udp_segment() + m->at, &step);
    grant.body = (const uint8_t *)&old;
    grant.body_len = sizeof old;
    hearthi_udp_answer(peer, &grant);
}

/* ---- all of these slots ---- */

void
hearthi_udp_home_serve(const struct hearthi_udp_message *m,
                       const struct sockaddr_in         *from)
{
    enum number number = number_note(m);

    if (number == OLD) {
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_SEQUENCE);
        return;
    }
    if (number == SEEN)
        hearthi_count(repeats, 1);
    hearthi_udp_acknowledge(h.fd, m, from);
    if (m->op == HEARTHI_UDP_GETP)
        page_serve(m, number == NEW, from);
    else
        diff_serve(m, number == NEW, from);
}
