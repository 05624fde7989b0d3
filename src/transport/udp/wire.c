/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "wire.h"

#include <string.h>

#include "wire_diff.h"

typedef struct hearthi_udp_message       message;
typedef const struct hearthi_udp_message const_message;
typedef const struct hearthi_udp_limits  const_limits;
typedef enum hearthi_udp_reason          reason;

/* ---- the head ---- */

struct head {
    uint64_t mac;
    uint8_t  op, kind;
    uint16_t slot;
    uint32_t from, to, turn;
    uint64_t seq, at;
    uint32_t len, pos;
};

_Static_assert(sizeof(struct head) == HEARTHI_UDP_HEAD, "no padding");

void
hearthi_udp_encode(const_message *m, uint8_t *head)
{
    struct head h = {
        .mac = m->mac,
        .op = (uint8_t)(m->op | (m->reliable ? HEARTHI_UDP_RELIABLE : 0)),
        .kind = m->kind,
        .slot = m->slot,
        .from = m->from,
        .to = m->to,
        .turn = m->turn,
        .seq = m->seq,
        .at = m->at,
        .len = m->len,
        .pos = m->pos,
    };

    memcpy(head, &h, sizeof h);
}

void
hearthi_udp_head_read(const void *data, message *m)
{
    struct head h;

    memcpy(&h, data, sizeof h);
    *m = (message){
        .mac = h.mac,
        .op = h.op & (HEARTHI_UDP_RELIABLE - 1),
        .reliable = (h.op & HEARTHI_UDP_RELIABLE) != 0,
        .kind = h.kind,
        .slot = h.slot,
        .from = h.from,
        .to = h.to,
        .turn = h.turn,
        .seq = h.seq,
        .at = h.at,
        .len = h.len,
        .pos = h.pos,
    };
}

/* ---- what each operation may say ---- */

static reason
notices_check(const_message *m, uint64_t most)
{
    size_t n = m->body_len / HEARTHI_UDP_NOTICE;

    return m->body_len % HEARTHI_UDP_NOTICE == 0 && n <= most
               ? HEARTHI_UDP_GOOD
               : HEARTHI_UDP_BAD_LENGTH;
}

static reason
empty_check(const_message *m)
{
    return m->body_len == 0 ? HEARTHI_UDP_GOOD : HEARTHI_UDP_BAD_LENGTH;
}

static reason
getp_check(const_message *m, const_limits *l)
{
    if (m->body_len != sizeof(struct hearthi_udp_set))
        return HEARTHI_UDP_BAD_LENGTH;
    if (m->at < l->frames_at || m->at > l->bytes || m->len == 0 ||
        m->len > l->bytes - m->at)
        return HEARTHI_UDP_BAD_PLACE;
    if (m->pos < HEARTHI_UDP_FRAGMENT_MIN ||
        m->pos > HEARTHI_UDP_DATAGRAM - HEARTHI_UDP_HEAD ||
        (m->len - 1) / m->pos >= HEARTHI_UDP_FRAGMENTS)
        return HEARTHI_UDP_BAD_LENGTH;
    return HEARTHI_UDP_GOOD;
}

/* The client compares the fragment with what it has asked for. */
static reason
getpgrant_check(const_message *m, const_limits *l)
{
    (void)l;
    return m->len == m->body_len && m->len <= m->pos && m->len > 0 &&
                   m->pos >= HEARTHI_UDP_FRAGMENT_MIN && m->at % m->pos == 0 &&
                   m->at / m->pos < HEARTHI_UDP_FRAGMENTS
               ? HEARTHI_UDP_GOOD
               : HEARTHI_UDP_BAD_LENGTH;
}

static reason
barr_check(const_message *m, const_limits *l)
{
    (void)l;
    return notices_check(m, SIZE_MAX);
}

static reason
grant_check(const_message *m, const_limits *l)
{
    (void)l;
    return notices_check(m, m->len);
}

static bool
is_rw(const_message *m, const_limits *l)
{
    return m->len >= l->rws && m->len < l->more_locks;
}

static bool
is_lock(const_message *m, const_limits *l)
{
    return m->len < l->locks ||
           (m->len >= l->more_locks && m->len < l->objects);
}

static reason
lock_check(const_message *m, const_limits *l)
{
    if (!is_lock(m, l))
        return HEARTHI_UDP_BAD_PLACE;
    return empty_check(m);
}

static reason
acq_check(const_message *m, const_limits *l)
{
    if (is_rw(m, l))
        return empty_check(m);
    if (m->kind > HEARTHI_UDP_TRY)
        return HEARTHI_UDP_BAD_OPERATION;
    return lock_check(m, l);
}

static reason
wait_check(const_message *m, const_limits *l)
{
    if (m->len < l->locks || m->len >= l->rws)
        return HEARTHI_UDP_BAD_PLACE;
    return empty_check(m);
}

static reason
inv_check(const_message *m, const_limits *l)
{
    if (hearthi_udp_is_recall(m)) {
        if (m->kind != HEARTHI_UDP_RECALL && m->kind != HEARTHI_UDP_BUSY)
            return HEARTHI_UDP_BAD_OPERATION;
        return lock_check(m, l);
    }
    if (m->kind & HEARTHI_UDP_REPLY)
        return notices_check(m, SIZE_MAX);
    if (m->kind & HEARTHI_UDP_LOST)
        return HEARTHI_UDP_BAD_OPERATION;
    if (m->kind == HEARTHI_UDP_LOG && m->len >= l->objects)
        return HEARTHI_UDP_BAD_PLACE;
    return empty_check(m);
}

static reason
wtnt_check(const_message *m, const_limits *l)
{
    if (m->kind == HEARTHI_UDP_NEWS)
        return notices_check(m, SIZE_MAX);
    if (m->len >= l->objects)
        return HEARTHI_UDP_BAD_PLACE;
    return notices_check(m, l->log);
}

static reason
rel_check(const_message *m, const_limits *l)
{
    bool unlock = m->kind == HEARTHI_UDP_UNLOCK;
    bool lock = unlock || m->kind == HEARTHI_UDP_KEEP;

    if (is_rw(m, l) ? !unlock : m->len >= l->objects || lock != is_lock(m, l))
        return HEARTHI_UDP_BAD_PLACE;
    if (m->pos > l->log)
        return empty_check(m);
    return m->body_len == (size_t)m->pos * HEARTHI_UDP_NOTICE
               ? HEARTHI_UDP_GOOD
               : HEARTHI_UDP_BAD_LENGTH;
}

static reason
plain_check(const_message *m, const_limits *l)
{
    (void)l;
    return empty_check(m);
}

/* No thread looks at the body. */
static reason
any_check(const_message *m, const_limits *l)
{
    (void)m, (void)l;
    return HEARTHI_UDP_GOOD;
}

/* ---- the table ---- */

enum direction { REQUEST = 1, REPLY = 2 };

static const struct operation {
    const char *name;
    reason (*check)(const_message *m, const_limits *l);
    uint8_t direction, kinds; /* kinds: the largest */
} table[HEARTHI_UDP_OPS] = {
    { "NULL", plain_check, REPLY, 2 },
    { "EXIT", plain_check, REQUEST, 0 },
    { "GETP", getp_check, REQUEST, 1 },
    { "GETPGRANT", getpgrant_check, REPLY, 0 },
    { "DIFF", hearthi_udp_diff_check, REQUEST, HEARTHI_UDP_SUM },
    { "DIFFGRANT", hearthi_udp_diffgrant_check, REPLY, HEARTHI_UDP_SUM },
    { "BARR", barr_check, REQUEST,
      HEARTHI_UDP_ASKS | HEARTHI_UDP_INVALIDATE_ALL },
    { "BARRGRANT", grant_check, REPLY,
      HEARTHI_UDP_ASKS | HEARTHI_UDP_INVALIDATE_ALL },
    { "ACQ", acq_check, REQUEST, 3 },
    { "ACQGRANT", grant_check, REPLY, 15 },
    { "WAIT", wait_check, REQUEST, 1 },
    { "WAITGRANT", grant_check, REPLY, 7 },
    { "INV", inv_check, REQUEST | REPLY, 16 },
    { "WTNT", wtnt_check, REQUEST, 1 },
    { "REL", rel_check, REQUEST, 5 },
    { "BCAST", any_check, REQUEST, 0 },
};

unsigned
hearthi_udp_index(unsigned op)
{
    return op < HEARTHI_UDP_GETP ? op - HEARTHI_UDP_NULL
                                 : op - HEARTHI_UDP_GETP + 2;
}

const char *
hearthi_udp_kind_name(unsigned i)
{
    return i < HEARTHI_UDP_OPS ? table[i].name : NULL;
}

static bool
op_exists(unsigned op)
{
    return op == HEARTHI_UDP_NULL || op == HEARTHI_UDP_EXIT ||
           (op >= HEARTHI_UDP_GETP && op <= HEARTHI_UDP_BCAST);
}

const char *
hearthi_udp_name(unsigned op)
{
    return op_exists(op) ? table[hearthi_udp_index(op)].name : "?";
}

bool
hearthi_udp_is_request(const_message *m)
{
    uint8_t direction = table[hearthi_udp_index(m->op)].direction;

    if (direction == (REQUEST | REPLY))
        return !(m->kind & HEARTHI_UDP_REPLY);
    return direction == REQUEST;
}

reason
hearthi_udp_decode_parts(const uint8_t *head, const uint8_t *body, size_t len,
                         const_limits *limits, message *m)
{
    const struct operation *op;

    if (len < HEARTHI_UDP_HEAD || len > HEARTHI_UDP_DATAGRAM)
        return HEARTHI_UDP_BAD_LENGTH;
    hearthi_udp_head_read(head, m);
    m->body = body;
    m->body_len = len - HEARTHI_UDP_HEAD;
    if (!op_exists(m->op))
        return HEARTHI_UDP_BAD_OPERATION;
    op = &table[hearthi_udp_index(m->op)];
    if (m->kind > op->kinds)
        return HEARTHI_UDP_BAD_OPERATION;
    if (m->to != limits->rank || m->from >= limits->size ||
        m->slot >= HEARTHI_UDP_SLOTS)
        return HEARTHI_UDP_BAD_RANK;
    return op->check(m, limits);
}

reason
hearthi_udp_decode(const void *data, size_t len, const_limits *limits,
                   message *m)
{
    const uint8_t *head = data;

    if (len < HEARTHI_UDP_HEAD)
        return HEARTHI_UDP_BAD_LENGTH;
    return hearthi_udp_decode_parts(head, head + HEARTHI_UDP_HEAD, len, limits,
                                    m);
}
