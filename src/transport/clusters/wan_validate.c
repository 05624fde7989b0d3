/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "wan_validate.h"

#include <string.h>

#include "life/liveness_line.h"
#include "notice/notice.h"
#include "transport/atomic_op.h"
#include "transport/log.h"

static uint32_t
ranks_of(const struct hearthi_bounds *b)
{
    return (uint32_t)b->first[b->clusters];
}

static bool
is_of(const struct hearthi_bounds *b, int cluster, uint32_t rank)
{
    return rank >= (uint32_t)b->first[cluster] &&
           rank < (uint32_t)b->first[cluster + 1];
}

/* The cluster of a rank, or -1. */
static int
cluster_of(const struct hearthi_bounds *b, uint32_t rank)
{
    for (int c = 0; c < b->clusters; c++)
        if (is_of(b, c, rank))
            return c;
    return -1;
}

/* Of this cluster, or its handler. */
static bool
is_here(const struct hearthi_bounds *b, uint32_t rank)
{
    return is_of(b, b->me, rank) || rank == ranks_of(b) + (uint32_t)b->me;
}

/* Without overflow: [at, at + n) is in [0, all). */
static bool
is_within(uint64_t at, uint64_t n, uint64_t all)
{
    return n <= all && at <= all - n;
}

/* ---- bodies ---- */

static bool
notices_good(const char *body, size_t len, const struct hearthi_bounds *b)
{
    struct hearthi_notice n;

    for (size_t at = 0; at < len; at += sizeof n) {
        if (len - at < sizeof n)
            return false;
        memcpy(&n, body + at, sizeof n);
        if (n.writer >= ranks_of(b) || (n.count != HEARTHI_INVALIDATE_ALL &&
                                        !is_within(n.page, n.count, b->pages)))
            return false;
    }
    return true;
}

/* Pages of homes of one cluster, whose answer is a message. */
static bool
pages_good(const char *body, size_t len, int cluster,
           const struct hearthi_bounds *b)
{
    struct hearthi_wan_run r;
    uint64_t               bytes = 0;

    for (size_t at = 0; at < len; at += sizeof r) {
        if (len - at < sizeof r)
            return false;
        memcpy(&r, body + at, sizeof r);
        bytes += (uint64_t)r.count << b->shift;
        if (!is_of(b, cluster, r.home) || r.count == 0 ||
            !is_within(r.page, r.count, b->pages) ||
            !is_within(r.frame, r.count, b->frames) || bytes > b->longest)
            return false;
    }
    return true;
}

/* The head of a piece, behind which there are so many bytes. */
static bool
head_good(const struct hearthi_wan_bytes *r, size_t left, bool store,
          int cluster, const struct hearthi_bounds *b)
{
    if (!is_of(b, cluster, r->home) || !is_within(r->at, r->len, b->segment))
        return false;
    return store ? hearthi_wan_round(r->len) <= left
                 : r->len > 0 && r->at >= b->frames_at;
}

/* Heads alone (READ), of which each is in the frames; or with their bytes. */
static bool
bytes_good(const char *body, size_t len, bool store, int cluster,
           const struct hearthi_bounds *b)
{
    struct hearthi_wan_bytes r;
    uint64_t                 bytes = 0;

    for (size_t at = 0; at < len; bytes += hearthi_wan_round(r.len)) {
        if (len - at < sizeof r)
            return false;
        memcpy(&r, body + at, sizeof r);
        at += sizeof r;
        if (!head_good(&r, len - at, store, cluster, b))
            return false;
        at += store ? hearthi_wan_round(r.len) : 0;
    }
    return bytes <= b->longest;
}

static bool
word_good(const struct hearthi_wan_message *a, const struct hearthi_bounds *b)
{
    unsigned bytes = a->narrow ? sizeof(uint32_t) : sizeof(uint64_t);

    return a->len == 0 && a->narrow <= 1 && a->kind <= HEARTHI_CAS &&
           a->at % bytes == 0 && is_within(a->at, bytes, b->segment);
}

/* ---- asks ---- */

static const char *
home_fault(const struct hearthi_wan_message *a, const char *body, bool far,
           const struct hearthi_bounds *b)
{
    int  cluster = cluster_of(b, a->to);
    bool good;

    if (cluster < 0 || (far && cluster != b->me))
        return "an ask for memory of no rank here";
    switch ((enum hearthi_wan_op)a->op) {
    case HEARTHI_WAN_FETCH:
    case HEARTHI_WAN_KEEP: good = pages_good(body, a->len, cluster, b); break;
    case HEARTHI_WAN_ATOMIC: good = word_good(a, b); break;
    default:
        good =
            bytes_good(body, a->len, a->op == HEARTHI_WAN_STORE, cluster, b);
    }
    return good ? NULL : "an ask for memory that there is not";
}

static const char *
sync_fault(const struct hearthi_wan_message *a, const char *body, bool far,
           const struct hearthi_bounds *b)
{
    bool publishes = a->op == HEARTHI_WAN_RELEASE || a->op == HEARTHI_WAN_SET;
    size_t len = publishes && a->n <= HEARTHI_LOG
                     ? a->n * sizeof(struct hearthi_notice)
                     : 0;

    if (a->to >= b->syncs ||
        (far && hearthi_manager((int)a->to, b->clusters) != b->me))
        return "an ask for a lock or flag that is not managed here";
    if (a->len != len || !notices_good(body, len, b))
        return "notices that there cannot be";
    return NULL;
}

/* What one rank tells another. */
static const char *
tell_fault(const struct hearthi_wan_message *a, bool far,
           const struct hearthi_bounds *b)
{
    int cluster = cluster_of(b, a->to);

    return cluster >= 0 && (!far || cluster == b->me) &&
                   a->len == sizeof(struct hearthi_record)
               ? NULL
               : "what is to be told to no rank here";
}

static const char *
round_fault(const struct hearthi_wan_message *a, const char *body, bool far,
            const struct hearthi_bounds *b)
{
    int cluster = cluster_of(b, a->rank);

    if (far && (cluster < 0 || cluster == b->me ||
                a->rank != (uint32_t)b->first[cluster]))
        return "what ranks of no other cluster have brought";
    if (a->op == HEARTHI_WAN_BARRIER && !notices_good(body, a->len, b))
        return "notices that there cannot be";
    return NULL;
}

/* What a rank asks of its own gateway alone. */
static const char *
own_fault(const struct hearthi_wan_message *a, const char *body,
          const struct hearthi_bounds *b)
{
    bool good = a->len == 0;

    if (a->op == HEARTHI_WAN_FORGET)
        good = a->len == sizeof(struct hearthi_notice) &&
               notices_good(body, a->len, b);
    else if (a->op == HEARTHI_WAN_ENDING)
        good = a->len > 0 && body[a->len - 1] == '\0';
    return good && a->op > HEARTHI_WAN_HELLO && a->op < HEARTHI_WAN_OPS
               ? NULL
               : "an ask that there is not";
}

/* ---- answers ---- */

static bool
is_one_of(const struct hearthi_wan_message *a, enum hearthi_wan_op first,
          enum hearthi_wan_op last)
{
    return a->op >= first && a->op <= last;
}

/* Does a rank here, or for what it keeps the gateway, wait for an answer? */
static bool
may_be_awaited(const struct hearthi_wan_message *a, bool far,
               const struct hearthi_bounds *b)
{
    bool own = a->op == HEARTHI_WAN_KEEP;

    return far && is_here(b, a->rank) && own == (a->slot == HEARTHI_WAN_SLOTS);
}

/* Whether it is as long as what was asked wants, the rank that asked knows. */
static const char *
answer_fault(const struct hearthi_wan_message *a, const char *body, bool far,
             const struct hearthi_bounds *b)
{
    enum { MOST = HEARTHI_LOG * sizeof(struct hearthi_notice) };

    if (!may_be_awaited(a, far, b))
        return "an answer that no rank here waits for";
    switch ((enum hearthi_wan_op)a->op) {
    case HEARTHI_WAN_FETCH:
    case HEARTHI_WAN_KEEP:
    case HEARTHI_WAN_READ: return NULL;
    case HEARTHI_WAN_ACQUIRE:
    case HEARTHI_WAN_WAIT:
        return a->len <= MOST && notices_good(body, a->len, b)
                   ? NULL
                   : "notices that there cannot be";
    default:
        return a->len == 0 &&
                       is_one_of(a, HEARTHI_WAN_STORE, HEARTHI_WAN_WAKE)
                   ? NULL
                   : "an answer that there is not";
    }
}

static const char *
asked_fault(const struct hearthi_wan_message *a, const char *body, bool far,
            const struct hearthi_bounds *b)
{
    if (far == is_here(b, a->rank) || (!far && a->slot == HEARTHI_WAN_SLOTS))
        return "an ask of a rank that is not there";
    if (is_one_of(a, HEARTHI_WAN_FETCH, HEARTHI_WAN_ATOMIC))
        return home_fault(a, body, far, b);
    if (is_one_of(a, HEARTHI_WAN_ACQUIRE, HEARTHI_WAN_WAKE))
        return sync_fault(a, body, far, b);
    if (a->op == HEARTHI_WAN_GATHER || a->op == HEARTHI_WAN_BARRIER)
        return round_fault(a, body, far, b);
    if (a->op == HEARTHI_WAN_TELL)
        return tell_fault(a, far, b);
    return far ? "an ask that is for its own cluster alone"
               : own_fault(a, body, b);
}

const char *
hearthi_wan_message_fault(const struct hearthi_wan_message *msg, size_t there,
                          bool far, const struct hearthi_bounds *b)
{
    const char *body = (const char *)(msg + 1);

    if (there < sizeof *msg ||
        there - sizeof *msg < hearthi_wan_round(msg->len))
        return "it is shorter than it says";
    if (msg->slot > HEARTHI_WAN_SLOTS ||
        msg->rank >= ranks_of(b) + (uint32_t)b->clusters)
        return "it is of a rank that there is not";
    return msg->answer ? answer_fault(msg, body, far, b)
                       : asked_fault(msg, body, far, b);
}
