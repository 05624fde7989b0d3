/* SPDX-License-Identifier: BSD-2-Clause
 *
 * libFuzzer's way to what a gateway keeps in mind of its ranks' requests
 * (fuzz.sh).  The input is a row of steps: a rank asks for pages, stores or
 * hears of writes; another cluster writes, answers one of the requests that it
 * has, or says something else.  Each rank that asked is answered once, by
 * pages that are as new as the last write it could know of when it asked
 * (gateway_cache.h has the argument).
 */
#include <string.h>
#include <sys/mman.h>

#include "base/report.h"
#include "base/stat.h"
#include "fuzz.h"
#include "notice/notice.h"
#include "space/heap.h"
#include "space/segment.h"
#include "transport/clusters/gateway_cache.h"
#include "transport/clusters/gateway_server.h"
#include "transport/clusters/remote_request.h"
#include "world.h"

/* Pages of two homes, in a cluster each, for ranks of the cluster between. */
enum {
    PAGES = 64,
    HALF = PAGES / 2,
    SHIFT = 6,
    PAGE = 1 << SHIFT,
    KEPT = 24,
    FIRST = 1,
    RANKS = 3,
    HOME_LOW = 0,
    HOME_HIGH = FIRST + RANKS,
    MOST = 256, /* requests under way, */
    STEP = 32   /* of which one step makes so many */
};

struct step {
    uint8_t what, rank, page, count, other, behind;
};

struct message {
    struct hearthi_wan_message head;
    struct hearthi_wan_run     run[2];
    size_t                     runs;
    bool                       used;
    uint32_t version[PAGES]; /* asked: what it must have; sent: what it gets */
};

struct hearthi_gateway_server hearthi_gateway_server;
struct hearthi_heap           hearthi_heap = { .page = PAGE, .shift = SHIFT };
struct hearthi_segments       hearthi_segments = { .frames_at = 0 };
struct hearthi_world          hearthi_world;
struct hearthi_tally          hearthi_tally;

static uint32_t       version[PAGES], heard[PAGES];
static struct message asked[RANKS]; /* by each rank */
static struct message sent[MOST];   /* to other clusters */
static char           body[PAGES * 8 * PAGE];

/* ---- in place of the gateway ---- */

_Noreturn void
hearthi_fatal(const char *call, const char *fmt, ...)
{
    (void)call, (void)fmt;
    abort();
}

void *
hearthi_sparse(size_t bytes)
{
    return calloc(1, bytes);
}

void
hearthi_sparse_free(void *p, size_t bytes)
{
    (void)bytes;
    free(p);
}

int
hearthi_cluster_of(int rank)
{
    return rank < FIRST ? 0 : rank < HOME_HIGH ? 1 : 2;
}

char *
hearthi_gateway_body(size_t len)
{
    must(len <= sizeof body);
    return body;
}

void
hearthi_gateway_hand(const struct hearthi_wan_message *head, const void *pages)
{
    struct message *a;
    const char     *at = pages;

    if (head->op != HEARTHI_WAN_FETCH)
        return;
    must(head->rank >= FIRST && head->rank < HOME_HIGH);
    a = &asked[head->rank - FIRST];
    must(a->used && head->slot == a->head.slot && head->n == a->head.n);
    for (size_t i = 0; i < a->runs; i++)
        for (uint32_t p = 0; p < a->run[i].count; p++, at += PAGE) {
            uint32_t is[2];

            memcpy(is, at, sizeof is);
            must(is[0] == a->run[i].page + p && is[1] >= a->version[is[0]]);
        }
    must(at == (const char *)pages + head->len);
    a->used = false;
}

void
hearthi_gateway_answer_body(struct hearthi_wan_message head, size_t len)
{
    head.answer = 1;
    head.len = (uint32_t)len;
    hearthi_remote_request_hand(&head, body);
}

void
hearthi_gateway_answer(struct hearthi_wan_message head, const void *at,
                       size_t len)
{
    head.answer = 1;
    head.len = (uint32_t)len;
    hearthi_remote_request_hand(&head, at);
}

/* The home will read its pages behind all that goes this way before. */
void
hearthi_gateway_pass(int cluster, const struct hearthi_wan_message *msg,
                     const void *runs)
{
    if (msg->op != HEARTHI_WAN_FETCH && msg->op != HEARTHI_WAN_KEEP)
        return;
    for (int i = 0; i < MOST; i++)
        if (!sent[i].used) {
            sent[i].head = *msg;
            sent[i].runs = msg->len / sizeof(struct hearthi_wan_run);
            must(sent[i].runs >= 1 && sent[i].runs <= 2);
            memcpy(sent[i].run, runs, msg->len);
            must(cluster == hearthi_cluster_of((int)sent[i].run[0].home));
            memcpy(sent[i].version, version, sizeof version);
            sent[i].used = true;
            return;
        }
    abort();
}

/* ---- steps ---- */

static struct hearthi_wan_run
run_of(unsigned page, unsigned count, unsigned behind)
{
    unsigned half = page % PAGES / HALF, at = page % HALF;

    count = 1 + count % 4;
    if (count > HALF - at)
        count = HALF - at;
    behind %= 8;
    if (behind > HALF - at - count)
        behind = HALF - at - count;
    return (struct hearthi_wan_run){ .page = half * HALF + at,
                                     .frame = half * HALF + at,
                                     .count = count,
                                     .home = half ? HOME_HIGH : HOME_LOW,
                                     .behind = behind };
}

static void
rank_asks(const struct step *s)
{
    static uint32_t n;
    struct message *a = &asked[s->rank % RANKS];
    struct {
        struct hearthi_wan_message head;
        struct hearthi_wan_run     run[2];
    } msg;

    if (a->used)
        return;
    a->run[0] = run_of(s->page, s->count, s->behind);
    a->run[1] = run_of(s->page % PAGES / HALF * HALF + s->other % HALF,
                       s->count >> 4, 0);
    a->runs = a->run[1].home == a->run[0].home &&
                      (a->run[1].page >= a->run[0].page + a->run[0].count ||
                       a->run[0].page >= a->run[1].page + a->run[1].count)
                  ? 2
                  : 1;
    a->head = (struct hearthi_wan_message){ .len = (uint32_t)(a->runs *
                                                              sizeof *a->run),
                                            .op = HEARTHI_WAN_FETCH,
                                            .rank = FIRST + s->rank % RANKS,
                                            .to = a->run[0].home,
                                            .n = n++ };
    memcpy(a->version, heard, sizeof heard);
    a->used = true;
    msg.head = a->head;
    memcpy(msg.run, a->run, sizeof a->run);
    hearthi_remote_request_pass(hearthi_cluster_of((int)a->head.to),
                                &msg.head);
}

/* A diff of a rank here goes by, or an atomic step. */
static void
rank_stores(const struct step *s)
{
    struct hearthi_wan_run r = run_of(s->page, 0, 0);
    struct {
        struct hearthi_wan_message head;
        struct hearthi_wan_bytes   at;
        uint64_t                   bytes;
    } store = { .head = { .len = sizeof store.at + sizeof store.bytes,
                          .op = HEARTHI_WAN_STORE,
                          .rank = FIRST,
                          .to = r.home,
                          .at = r.frame << SHIFT },
                .at = { .at = r.frame << SHIFT, .home = r.home, .len = 8 } };

    if (s->other % 2 == 1) {
        store.head.op = HEARTHI_WAN_ATOMIC;
        store.head.len = 0;
    }
    heard[r.page] = ++version[r.page];
    hearthi_remote_request_pass(hearthi_cluster_of((int)r.home), &store.head);
}

/* Another cluster has written, and a grant or a notice says so. */
static void
others_write(const struct step *s)
{
    struct hearthi_notice      n = { .page = s->page % PAGES,
                                     .count = 1 + s->count % (unsigned)KEPT };
    struct hearthi_wan_message grant = {
        .op = HEARTHI_WAN_ACQUIRE, .answer = 1, .rank = FIRST, .len = sizeof n
    };

    if (n.page + n.count > PAGES)
        n.count = (uint32_t)(PAGES - n.page);
    if (s->other % 4 == 0)
        grant.kind = HEARTHI_WAN_INVALIDATE_ALL;
    for (uint32_t p = 0; p < PAGES; p++) {
        if (p >= n.page && p < n.page + n.count)
            version[p]++;
        if (grant.kind != 0 || (p >= n.page && p < n.page + n.count))
            heard[p] = version[p];
    }
    hearthi_remote_request_hand(&grant, &n);
}

static void
cluster_answers(const struct step *s)
{
    static char     pages[2 * 2 * HALF * PAGE];
    struct message *a = &sent[s->page % MOST];
    char           *at = pages;

    for (int i = 0; i < MOST && !a->used; i++)
        a = &sent[(s->page + i) % MOST];
    if (!a->used)
        return;
    for (size_t i = 0; i < a->runs; i++)
        for (uint32_t p = 0; p < a->run[i].count; p++, at += PAGE) {
            uint32_t is[2] = { (uint32_t)a->run[i].page + p, 0 };

            is[1] = a->version[is[0]];
            memcpy(at, is, sizeof is);
        }
    a->head.answer = 1;
    a->head.len = (uint32_t)(at - pages);
    must(hearthi_remote_request_expects(&a->head));
    a->used = false;
    hearthi_remote_request_hand(&a->head, pages);
}

/* What it would answer to nothing, or at another length. */
static void
cluster_errs(const struct step *s)
{
    struct message            *a = &sent[s->page % MOST];
    struct hearthi_wan_message head = a->head;
    size_t                     bytes = 0;

    for (size_t i = 0; i < a->runs; i++)
        bytes += a->run[i].count * PAGE;
    head.answer = 1;
    head.len = (uint32_t)bytes + 8 * (s->count % 8);
    head.op = s->other % 2 ? HEARTHI_WAN_FETCH : HEARTHI_WAN_KEEP;
    if (!a->used)
        head.n = UINT32_MAX, head.rank = 99;
    must(hearthi_remote_request_expects(&head) ==
         (a->used && s->count % 8 == 0));
}

static int
sent_count(void)
{
    int n = 0;

    for (int i = 0; i < MOST; i++)
        n += sent[i].used;
    return n;
}

static void
step(const struct step *s)
{
    if (sent_count() > MOST - STEP) {
        cluster_answers(s);
        hearthi_remote_request_turn();
        return;
    }
    switch (s->what % 6) {
    case 0:
    case 1: rank_asks(s); break;
    case 2: rank_stores(s); break;
    case 3: others_write(s); break;
    case 4: cluster_answers(s); break;
    case 5: cluster_errs(s); break;
    }
    hearthi_remote_request_turn();
}

static void
all_are_answered(void)
{
    const struct step answer = { .what = 4 };

    while (sent_count() > 0)
        step(&answer);
    for (int i = 0; i < RANKS; i++)
        must(!asked[i].used);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len == 0)
        return 0;
    memset(version, 0, sizeof version);
    memset(heard, 0, sizeof heard);
    memset(asked, 0, sizeof asked);
    memset(sent, 0, sizeof sent);
    hearthi_gateway_server.first = FIRST;
    hearthi_gateway_server.ranks = RANKS;
    hearthi_gateway_cache_open((data[0] % 3) * (KEPT / 2) * PAGE);
    for (size_t at = 1, n = 0; at + sizeof(struct step) <= len && n < MOST;
         at += sizeof(struct step), n++) {
        struct step s;

        memcpy(&s, data + at, sizeof s);
        step(&s);
    }
    all_are_answered();
    hearthi_remote_request_close();
    return 0;
}
