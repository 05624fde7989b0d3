/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "wire_diff.h"

#include <string.h>

#include "transport/atomic_op.h"
#include "transport/patch.h"

typedef const struct hearthi_udp_message const_message;
typedef const struct hearthi_udp_limits  const_limits;
typedef enum hearthi_udp_reason          reason;

/* Behind the word of bits are `left` bytes.  How many are the patch's?  More
 * than these if it is none. */
static size_t
patch_read(const uint8_t *head, size_t left, struct hearthi_udp_diff *run)
{
    run->patch = true;
    run->shift = run->len & ~HEARTHI_UDP_IS_PATCH;
    if (run->shift > HEARTHI_PATCH_SHIFT_MOST || run->shift == 1)
        return left + 1;
    memcpy(&run->bits, head + HEARTHI_UDP_RUN, sizeof run->bits);
    run->len = HEARTHI_PATCH_UNITS << run->shift;
    return hearthi_patch_bytes(run->bits, run->shift);
}

bool
hearthi_udp_diff_next(const_message *m, size_t *at,
                      struct hearthi_udp_diff *run)
{
    const uint8_t *head = m->body + *at;
    size_t         left = m->body_len - *at, before = HEARTHI_UDP_RUN, bytes;

    if (left < HEARTHI_UDP_RUN)
        return false;
    memcpy(&run->offset, head, sizeof run->offset);
    memcpy(&run->len, head + sizeof run->offset, sizeof run->len);
    bytes = run->len;
    run->patch = false;
    if (run->len >= HEARTHI_UDP_IS_PATCH) {
        before = HEARTHI_UDP_PATCH;
        if (left < before)
            return false;
        bytes = patch_read(head, left - before, run);
    }
    if (bytes > left - before)
        return false;
    run->bytes = head + before;
    *at += before + bytes;
    return true;
}

/* Sharer flags and their summary, which come before told_at, may be set by who
 * will have copies (page/read_mostly.c).  One that is set in vain costs its
 * home a notice; one that were cleared would leave a copy stale, so no diff
 * clears any. */
static bool
sets_flags(const struct hearthi_udp_diff *run, const_limits *l)
{
    if (run->patch || run->len > l->told_at ||
        run->offset > l->told_at - run->len)
        return false;
    for (size_t i = 0; i < run->len; i++)
        if (run->bytes[i] != 1)
            return false;
    return true;
}

static bool
is_in_place(const struct hearthi_udp_diff *run, const_limits *l)
{
    if (run->offset < l->told_at)
        return sets_flags(run, l);
    return run->offset <= l->bytes && run->len <= l->bytes - run->offset;
}

static reason
runs_check(const_message *m, const_limits *l)
{
    struct hearthi_udp_diff run;
    size_t                  at = 0;

    for (uint32_t i = 0; i < m->pos; i++) {
        if (!hearthi_udp_diff_next(m, &at, &run))
            return HEARTHI_UDP_BAD_LENGTH;
        if (!is_in_place(&run, l))
            return HEARTHI_UDP_BAD_PLACE;
    }
    return at == m->body_len ? HEARTHI_UDP_GOOD : HEARTHI_UDP_BAD_LENGTH;
}

static bool
is_word(uint64_t at, size_t bytes, const_limits *l)
{
    return at >= l->names_at && at < l->bytes && at % bytes == 0 &&
           l->bytes - at >= bytes;
}

static reason
adds_check(const_message *m, const_limits *l)
{
    struct hearthi_add a;

    if (m->body_len == 0 || m->body_len % sizeof a != 0 ||
        m->body_len / sizeof a > HEARTHI_UDP_ADDS_MOST)
        return HEARTHI_UDP_BAD_LENGTH;
    for (size_t i = 0; i < m->body_len; i += sizeof a) {
        memcpy(&a, m->body + i, sizeof a);
        if (hearthi_add_kind_of(&a) > HEARTHI_ADD_REAL ||
            !is_word(hearthi_add_offset(&a), hearthi_add_bytes(&a), l))
            return HEARTHI_UDP_BAD_PLACE;
    }
    return HEARTHI_UDP_GOOD;
}

reason
hearthi_udp_diff_check(const_message *m, const_limits *l)
{
    if (m->kind == 0)
        return runs_check(m, l);
    if (m->kind == HEARTHI_UDP_ADDS)
        return adds_check(m, l);
    if (m->body_len != 2 * sizeof(uint64_t) ||
        (m->len != sizeof(uint64_t) &&
         (m->len != sizeof(uint32_t) || m->kind == HEARTHI_UDP_SUM)))
        return HEARTHI_UDP_BAD_LENGTH;
    return is_word(m->at, m->len, l) ? HEARTHI_UDP_GOOD
                                     : HEARTHI_UDP_BAD_PLACE;
}

reason
hearthi_udp_diffgrant_check(const_message *m, const_limits *l)
{
    bool value = m->kind != 0 && m->kind != HEARTHI_UDP_ADDS;

    (void)l;
    return m->body_len == (value ? sizeof(uint64_t) : 0)
               ? HEARTHI_UDP_GOOD
               : HEARTHI_UDP_BAD_LENGTH;
}
