/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What must hold of a datagram that the decoder calls good: that whoever acts
 * on it stays inside its memory.  For the property test and the fuzzer.
 */
#ifndef HEARTH_TEST_WIRE_H
#define HEARTH_TEST_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include <string.h>

#include "transport/atomic_op.h"
#include "transport/patch.h"
#include "transport/udp/wire.h"

static const struct hearthi_udp_limits wire_limits = {
    .rank = 1,
    .size = 3,
    .locks = 64,
    .rws = 76,
    .more_locks = 80,
    .objects = 90,
    .log = 168,
    .told_at = 4096,
    .names_at = 6144,
    .frames_at = 8192,
    .bytes = 8192 + (64 << 12),
};

static inline bool
wire_inside(uint64_t at, uint64_t len, uint64_t from)
{
    return at >= from && at <= wire_limits.bytes &&
           len <= wire_limits.bytes - at;
}

/* What its receiver reads. */
static inline size_t
wire_run_bytes(const struct hearthi_udp_diff *run)
{
    return run->patch ? hearthi_patch_bytes(run->bits, run->shift) : run->len;
}

/* And where it stores to. */
static inline bool
wire_run_inside(const struct hearthi_udp_diff *run)
{
    if (run->patch && run->shift != 0 && run->shift != 2 && run->shift != 3)
        return false;
    if (run->offset < wire_limits.told_at) { /* flags: they are set */
        for (size_t i = 0; i < run->len; i++)
            if (run->patch || run->bytes[i] != 1)
                return false;
        return run->offset + run->len <= wire_limits.told_at;
    }
    return wire_inside(run->offset, run->patch ? 64u << run->shift : run->len,
                       wire_limits.told_at);
}

static inline bool
wire_runs_hold(const struct hearthi_udp_message *m)
{
    struct hearthi_udp_diff run;
    size_t                  at = 0;

    for (uint32_t i = 0; i < m->pos; i++) {
        if (!hearthi_udp_diff_next(m, &at, &run) || !wire_run_inside(&run) ||
            run.bytes < m->body ||
            run.bytes + wire_run_bytes(&run) > m->body + m->body_len)
            return false;
    }
    return at == m->body_len;
}

static inline bool
wire_adds_hold(const struct hearthi_udp_message *m)
{
    struct hearthi_add a;
    size_t             at = 0;

    for (; m->body_len - at >= sizeof a; at += sizeof a) {
        memcpy(&a, m->body + at, sizeof a);
        if (a.at >> 62 == 3 ||
            hearthi_add_offset(&a) % hearthi_add_bytes(&a) ||
            !wire_inside(hearthi_add_offset(&a), hearthi_add_bytes(&a),
                         wire_limits.names_at))
            return false;
    }
    return at > 0 && at == m->body_len;
}

static inline bool
wire_diff_holds(const struct hearthi_udp_message *m)
{
    if (m->kind == 0)
        return wire_runs_hold(m);
    if (m->kind == HEARTHI_UDP_ADDS)
        return wire_adds_hold(m);
    return (m->len == 4 || m->len == 8) &&
           wire_inside(m->at, m->len, wire_limits.names_at) &&
           m->at % m->len == 0 && m->body_len == 16;
}

static inline bool
wire_holds(const struct hearthi_udp_message *m, const uint8_t *data,
           size_t len)
{
    size_t notices = m->body_len / HEARTHI_UDP_NOTICE;

    if (m->to != wire_limits.rank || m->from >= wire_limits.size ||
        m->slot >= HEARTHI_UDP_SLOTS || m->body < data ||
        m->body + m->body_len != data + len ||
        hearthi_udp_index(m->op) >= HEARTHI_UDP_OPS)
        return false;
    switch (m->op) {
    case HEARTHI_UDP_GETP:
        return wire_inside(m->at, m->len, wire_limits.frames_at) &&
               m->len > 0 && m->pos > 0 &&
               (m->len - 1) / m->pos < HEARTHI_UDP_FRAGMENTS &&
               m->body_len == sizeof(struct hearthi_udp_set);
    case HEARTHI_UDP_GETPGRANT:
        return m->pos > 0 && m->len == m->body_len &&
               m->at / m->pos < HEARTHI_UDP_FRAGMENTS;
    case HEARTHI_UDP_DIFF: return wire_diff_holds(m);
    case HEARTHI_UDP_ACQ:
        return m->len < wire_limits.locks ||
               (m->len >= wire_limits.rws && m->len < wire_limits.objects);
    case HEARTHI_UDP_WAIT:
        return m->len >= wire_limits.locks && m->len < wire_limits.rws;
    case HEARTHI_UDP_REL:
        return m->len < wire_limits.objects &&
               (m->pos > wire_limits.log || m->pos == notices);
    case HEARTHI_UDP_WTNT:
        return m->kind == HEARTHI_UDP_NEWS ||
               (m->len < wire_limits.objects && notices <= wire_limits.log);
    case HEARTHI_UDP_INV:
        return m->kind != HEARTHI_UDP_LOG || m->len < wire_limits.objects;
    default: return true;
    }
}

#endif
