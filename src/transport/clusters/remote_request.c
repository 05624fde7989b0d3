/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A fetch whose pages are all in the cache is answered at once.  A fetch of
 * which some pages are there or on their way waits for these, and the gateway
 * fetches the others for itself; it is looked at again when a fetch has come,
 * or what was on its way is not to be kept.  If something has dropped pages
 * meanwhile it goes on as a whole, and so do all others: whatever happens to
 * them then, their answer goes to the ranks that asked.  Pages are kept when
 * they have come, unless something has dropped them meanwhile
 * (gateway_cache.h).
 *
 * What a rank that follows a sequence will probably ask next the gateway
 * fetches for itself, too, so that the rank does not wait for a round trip of
 * the link each time.  The rank says so with what it asks (data_ops.h), and
 * waits for the answer; so the pages are what it says, as long as none is
 * freed (gateway_cache.h), and what they hold is what a second fetch would
 * find.
 */
#include "config.h"

#include "remote_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/min.h"
#include "base/report.h"
#include "base/stat.h"
#include "gateway_cache.h"
#include "gateway_server.h"
#include "notice/notice.h"
#include "space/heap.h"
#include "world.h"

/* A fetch that waits, or that is on its way. */
struct fetch {
    struct fetch *next;
    uint64_t      number;           /* its own, or the last one it waits for */
    struct hearthi_wan_message msg; /* its body, of runs, behind it */
};

/* Bytes of a page or pages that the gateway fetches for itself at a time; and
 * which part of the cache is for what one rank may want next. */
enum { PIECE = 256 << 10, BEHIND = 8 };

static struct {
    struct fetch *waiting, *going;
    uint64_t      number;
    bool          look; /* again at those that wait */
} f;

static void
list_free(struct fetch **first)
{
    while (*first != NULL) {
        struct fetch *one = *first;

        *first = one->next;
        free(one);
    }
}

void
hearthi_remote_request_close(void)
{
    list_free(&f.waiting);
    list_free(&f.going);
    hearthi_gateway_cache_close();
}

static struct fetch *
fetch_of(const struct hearthi_wan_message *msg)
{
    struct fetch *one = malloc(sizeof *one + msg->len);

    if (one == NULL)
        hearthi_fatal("gateway", "no memory for a fetch");
    one->next = NULL;
    one->number = 0;
    memcpy(&one->msg, msg, sizeof *msg + msg->len);
    return one;
}

static const struct hearthi_wan_run *
runs_of(const struct hearthi_wan_message *msg, size_t *n)
{
    *n = msg->len / sizeof(struct hearthi_wan_run);
    return hearthi_wan_message_body(msg);
}

struct known {
    uint64_t here, coming, unknown;
};

static struct known
fetch_look(const struct hearthi_wan_run *run, size_t n, uint64_t latest)
{
    struct known k = { 0, 0, 0 };

    for (size_t i = 0; i < n; i++)
        for (uint32_t p = 0; p < run[i].count; p++)
            switch (hearthi_gateway_cache_look(run[i].page + p, latest)) {
            case HEARTHI_GATEWAY_CACHED: k.here++; break;
            case HEARTHI_GATEWAY_IN_FLIGHT: k.coming++; break;
            case HEARTHI_GATEWAY_UNKNOWN: k.unknown++; break;
            }
    return k;
}

static void
fetch_from_cache(const struct hearthi_wan_message *msg)
{
    size_t                        n, page = hearthi_heap.page, bytes = 0;
    const struct hearthi_wan_run *run = runs_of(msg, &n);
    char                         *to;

    for (size_t i = 0; i < n; i++)
        bytes += run[i].count * page;
    to = hearthi_gateway_body(bytes);
    for (size_t i = 0; i < n; i++)
        for (uint32_t p = 0; p < run[i].count; p++, to += page)
            memcpy(to, hearthi_gateway_cache_page(run[i].page + p), page);
    hearthi_count(far_kept, bytes / page);
    hearthi_gateway_answer_body(*msg, bytes);
}

/* What was asked goes to its home. */
static void
fetch_go(int cluster, const struct hearthi_wan_message *msg)
{
    size_t                        n;
    const struct hearthi_wan_run *run = runs_of(msg, &n);
    struct fetch                 *one = fetch_of(msg);

    one->number = ++f.number;
    one->next = f.going;
    f.going = one;
    for (size_t i = 0; i < n; i++) {
        hearthi_gateway_cache_expect(&run[i], one->number);
        hearthi_count(far_pages, run[i].count);
    }
    hearthi_gateway_pass(cluster, msg, run);
}

/* ---- for the gateway itself ---- */

/* No rank's connection has this slot. */
static void
keep_go(const struct hearthi_wan_run *run)
{
    const struct {
        struct hearthi_wan_message head;
        struct hearthi_wan_run     run;
    } keep = { { .len = sizeof *run,
                 .op = HEARTHI_WAN_KEEP,
                 .rank = (uint32_t)hearthi_gateway_server.first,
                 .slot = HEARTHI_WAN_SLOTS,
                 .to = run->home,
                 .n = (uint32_t)f.number },
               *run };

    fetch_go(hearthi_cluster_of((int)run->home), &keep.head);
}

/* Those of a run that are neither here nor on their way. */
static void
unknown_fetch(const struct hearthi_wan_run *run)
{
    uint32_t most =
        hearthi_heap.page < PIECE ? (uint32_t)(PIECE / hearthi_heap.page) : 1;

    for (uint32_t at = 0, n; at < run->count; at += n) {
        struct hearthi_wan_run part = *run;

        for (n = 0;
             n < most && at + n < run->count &&
             hearthi_gateway_cache_look(run->page + at + n, UINT64_MAX) ==
                 HEARTHI_GATEWAY_UNKNOWN;)
            n++;
        part.page += at;
        part.frame += at;
        part.count = n;
        if (n > 0)
            keep_go(&part);
        else
            n = 1;
    }
}

static void
behind_fetch(const struct hearthi_wan_message *msg)
{
    size_t n, room = hearthi_gateway_cache_room() / BEHIND;
    const struct hearthi_wan_run *run = runs_of(msg, &n);

    for (size_t i = 0; i < n; i++) {
        struct hearthi_wan_run behind = run[i];

        behind.page += run[i].count;
        behind.frame += run[i].count;
        behind.count = (uint32_t)hearthi_min(run[i].behind, room);
        behind.announce = run[i].announce_behind;
        unknown_fetch(&behind);
    }
}

/* ---- for ranks ---- */

static bool
fetch_try(const struct hearthi_wan_message *msg, bool again, uint64_t latest)
{
    size_t                        n;
    const struct hearthi_wan_run *run = runs_of(msg, &n);
    struct known                  k = fetch_look(run, n, latest);

    if (k.coming == 0 && k.unknown == 0) {
        fetch_from_cache(msg);
        return true;
    }
    if (k.coming == 0 && (again || k.here == 0)) {
        fetch_go(hearthi_cluster_of((int)msg->to), msg);
        return true;
    }
    for (size_t i = 0; i < n && !again; i++)
        unknown_fetch(&run[i]);
    return false;
}

/* It waits for what is on its way now, and for nothing that others ask for
 * later: pages that they drop and fetch again would be on their way whenever
 * those come that it waits for. */
static void
fetch_wait(const struct hearthi_wan_message *msg)
{
    struct fetch **last = &f.waiting;

    while (*last != NULL)
        last = &(*last)->next;
    *last = fetch_of(msg);
    (*last)->number = f.number;
}

static void
stores_drop(const struct hearthi_wan_message *msg)
{
    const char *at = hearthi_wan_message_body(msg), *end = at + msg->len;

    while (at < end) {
        struct hearthi_wan_bytes run;

        memcpy(&run, at, sizeof run);
        hearthi_gateway_cache_drop_at(run.home, run.at, run.len);
        at += sizeof run + hearthi_wan_round(run.len);
    }
    f.look = true;
}

void
hearthi_remote_request_pass(int cluster, const struct hearthi_wan_message *msg)
{
    if (msg->op == HEARTHI_WAN_FETCH) {
        if (!fetch_try(msg, false, UINT64_MAX))
            fetch_wait(msg);
        behind_fetch(msg);
        return;
    }
    if (msg->op == HEARTHI_WAN_STORE)
        stores_drop(msg);
    if (msg->op == HEARTHI_WAN_ATOMIC) {
        hearthi_gateway_cache_drop_at(msg->to, msg->at, sizeof(uint64_t));
        f.look = true;
    }
    hearthi_gateway_pass(cluster, msg, hearthi_wan_message_body(msg));
}

/* ---- answers ---- */

static bool
is_same(const struct fetch *one, const struct hearthi_wan_message *head)
{
    return one->msg.rank == head->rank && one->msg.slot == head->slot &&
           one->msg.n == head->n;
}

bool
hearthi_remote_request_expects(const struct hearthi_wan_message *head)
{
    const struct fetch           *one = f.going;
    const struct hearthi_wan_run *run;
    size_t                        n, bytes = 0;

    if (head->op != HEARTHI_WAN_FETCH && head->op != HEARTHI_WAN_KEEP)
        return true;
    while (one != NULL && !is_same(one, head))
        one = one->next;
    if (one == NULL)
        return false;
    run = runs_of(&one->msg, &n);
    for (size_t i = 0; i < n; i++)
        bytes += (size_t)run[i].count << hearthi_heap.shift;
    return head->len == bytes;
}

static void
fetch_came(const struct hearthi_wan_message *head, const char *body)
{
    struct fetch                **at = &f.going, *one;
    const struct hearthi_wan_run *run;
    size_t                        n;

    while (*at != NULL && !is_same(*at, head))
        at = &(*at)->next;
    one = *at;
    if (one == NULL)
        return;
    *at = one->next;
    run = runs_of(&one->msg, &n);
    for (size_t i = 0; i < n; i++)
        body = hearthi_gateway_cache_fill(&run[i], one->number, body);
    free(one);
    f.look = true;
}

void
hearthi_remote_request_hand(const struct hearthi_wan_message *head,
                            const void                       *body)
{
    switch ((enum hearthi_wan_op)head->op) {
    case HEARTHI_WAN_FETCH: fetch_came(head, body); break;
    case HEARTHI_WAN_KEEP: fetch_came(head, body); return;
    case HEARTHI_WAN_ACQUIRE:
    case HEARTHI_WAN_WAIT:
        if (head->kind & HEARTHI_WAN_INVALIDATE_ALL)
            hearthi_gateway_cache_drop_all();
        else
            hearthi_gateway_cache_drop(
                body, head->len / sizeof(struct hearthi_notice));
        f.look = true;
        break;
    case HEARTHI_WAN_GATHER:
    case HEARTHI_WAN_BARRIER:
        f.look = true;
        break; /* global_collective.c has dropped */
    default: break;
    }
    hearthi_gateway_hand(head, body);
}

void
hearthi_remote_request_forget(const struct hearthi_wan_message *msg)
{
    hearthi_gateway_cache_drop(hearthi_wan_message_body(msg), 1);
    f.look = true;
    hearthi_gateway_answer(*msg, NULL, 0);
}

void
hearthi_remote_request_turn(void)
{
    while (f.look && f.waiting != NULL) {
        struct fetch **at = &f.waiting;

        f.look = false;
        while (*at != NULL) {
            struct fetch *one = *at;

            if (fetch_try(&one->msg, true, one->number)) {
                *at = one->next;
                free(one);
            } else {
                at = &one->next;
            }
        }
    }
    f.look = false;
}
