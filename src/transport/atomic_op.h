/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Atomic steps on words of a segment.
 *
 * Of what hearth.h offers, a transport has three steps, on words of 4 and of 8
 * bytes; all else is a loop over HEARTHI_CAS (coherence/home_atomic.c).  So a
 * transport owes one promise: that these three, on the same word and of the
 * same width, are atomic to each other, whoever does them.
 */
#ifndef HEARTHI_ATOMIC_OP_H
#define HEARTHI_ATOMIC_OP_H

#include <stdbool.h>
#include <stdint.h>

enum hearthi_atomic_op_kind { HEARTHI_ADD, HEARTHI_SWAP, HEARTHI_CAS };

/* Of a narrow step, which is on 4 bytes, the lower halves count, and the
 * result is one such. */
struct hearthi_atomic_op {
    enum hearthi_atomic_op_kind kind;
    bool                        narrow;
    uint64_t                    value; /* to add, or to be there */
    uint64_t expected; /* HEARTHI_CAS: only if this was there */
};

static inline unsigned
hearthi_atomic_op_bytes(const struct hearthi_atomic_op *s)
{
    return s->narrow ? sizeof(uint32_t) : sizeof(uint64_t);
}

static inline uint32_t
hearthi_atomic_op_narrow(uint32_t *word, const struct hearthi_atomic_op *s)
{
    uint32_t value = (uint32_t)s->value, old = (uint32_t)s->expected;

    switch (s->kind) {
    case HEARTHI_ADD: return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
    case HEARTHI_SWAP:
        return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
    case HEARTHI_CAS: break;
    }
    __atomic_compare_exchange_n(word, &old, value, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return old;
}

/* A step by this processor; what was there. */
static inline uint64_t
hearthi_atomic_op_here(void *at, const struct hearthi_atomic_op *s)
{
    uint64_t *word = at, old = s->expected;

    if (s->narrow)
        return hearthi_atomic_op_narrow(at, s);
    switch (s->kind) {
    case HEARTHI_ADD:
        return __atomic_fetch_add(word, s->value, __ATOMIC_SEQ_CST);
    case HEARTHI_SWAP:
        return __atomic_exchange_n(word, s->value, __ATOMIC_SEQ_CST);
    case HEARTHI_CAS: break;
    }
    __atomic_compare_exchange_n(word, &old, s->value, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return old;
}

#endif
