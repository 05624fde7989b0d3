/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Atomic steps on words of a segment.
 *
 * A transport owes one promise: that the first three, on the same word and of
 * the same width, are atomic to each other, whichever ranks do them.  The
 * others are loops over HEARTHI_CAS then (coherence/home_atomic.c), unless the
 * processor of each home does all steps: to that one they are steps as well.
 *
 * Steps by a processor are seq_cst.  Programs are promised no order by them,
 * but Hearth's own words are (remote_word.h; fabric.h, "an atomic step").
 */
#ifndef HEARTHI_ATOMIC_OP_H
#define HEARTHI_ATOMIC_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum hearthi_atomic_op_kind {
    HEARTHI_ADD,
    HEARTHI_SWAP,
    HEARTHI_CAS,
    HEARTHI_AND,
    HEARTHI_OR,
    HEARTHI_XOR,
    HEARTHI_SUM /* of doubles */
};

/* Of a narrow step, which is on 4 bytes and no sum, the lower halves count,
 * and the result is one such. */
struct hearthi_atomic_op {
    enum hearthi_atomic_op_kind kind;
    bool                        narrow;
    uint64_t                    value; /* of the operation, or to be there */
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
    case HEARTHI_AND: return __atomic_fetch_and(word, value, __ATOMIC_SEQ_CST);
    case HEARTHI_OR: return __atomic_fetch_or(word, value, __ATOMIC_SEQ_CST);
    case HEARTHI_XOR: return __atomic_fetch_xor(word, value, __ATOMIC_SEQ_CST);
    case HEARTHI_CAS:
    case HEARTHI_SUM: break;
    }
    __atomic_compare_exchange_n(word, &old, value, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return old;
}

static inline double
hearthi_real_of(uint64_t bits)
{
    double d;

    memcpy(&d, &bits, sizeof d);
    return d;
}

static inline uint64_t
hearthi_bits_of(double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static inline uint64_t
hearthi_real_sum(uint64_t a, uint64_t b)
{
    return hearthi_bits_of(hearthi_real_of(a) + hearthi_real_of(b));
}

/* Relaxed: a guess, which the step checks. */
static inline uint64_t
hearthi_atomic_op_sum(uint64_t *word, uint64_t value)
{
    uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);

    while (!__atomic_compare_exchange_n(word, &old,
                                        hearthi_real_sum(old, value), false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
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
    case HEARTHI_AND:
        return __atomic_fetch_and(word, s->value, __ATOMIC_SEQ_CST);
    case HEARTHI_OR:
        return __atomic_fetch_or(word, s->value, __ATOMIC_SEQ_CST);
    case HEARTHI_XOR:
        return __atomic_fetch_xor(word, s->value, __ATOMIC_SEQ_CST);
    case HEARTHI_SUM: return hearthi_atomic_op_sum(word, s->value);
    case HEARTHI_CAS: break;
    }
    __atomic_compare_exchange_n(word, &old, s->value, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return old;
}

/* ---- adds without results ---- */

enum hearthi_add_kind {
    HEARTHI_ADD_WIDE,   /* to a word of 8 bytes */
    HEARTHI_ADD_NARROW, /* of 4: the lower half of the value */
    HEARTHI_ADD_REAL    /* to a double, which the value is */
};

/* An offset in a segment, with the kind in its two top bits; as the udp
 * transport sends it. */
struct hearthi_add {
    uint64_t at, value;
};

/* Some to words of one home. */
struct hearthi_add_run {
    int                       home;
    const struct hearthi_add *add;
    size_t                    n;
};

enum { HEARTHI_ADD_KIND_SHIFT = 62 };

static inline struct hearthi_add
hearthi_add_of(enum hearthi_add_kind kind, size_t offset, uint64_t value)
{
    return (struct hearthi_add){ offset | (uint64_t)kind
                                              << HEARTHI_ADD_KIND_SHIFT,
                                 value };
}

static inline enum hearthi_add_kind
hearthi_add_kind_of(const struct hearthi_add *a)
{
    return (enum hearthi_add_kind)(a->at >> HEARTHI_ADD_KIND_SHIFT);
}

static inline size_t
hearthi_add_offset(const struct hearthi_add *a)
{
    return a->at & ((UINT64_C(1) << HEARTHI_ADD_KIND_SHIFT) - 1);
}

/* Of the word. */
static inline unsigned
hearthi_add_kind_bytes(enum hearthi_add_kind kind)
{
    return kind == HEARTHI_ADD_NARROW ? sizeof(uint32_t) : sizeof(uint64_t);
}

static inline unsigned
hearthi_add_bytes(const struct hearthi_add *a)
{
    return hearthi_add_kind_bytes(hearthi_add_kind_of(a));
}

/* Two adds in one; or what a word is after one.  The upper half of a narrow
 * one is not looked at. */
static inline uint64_t
hearthi_add_sum(enum hearthi_add_kind kind, uint64_t a, uint64_t b)
{
    return kind == HEARTHI_ADD_REAL ? hearthi_real_sum(a, b) : a + b;
}

/* The step that an add is. */
static inline struct hearthi_atomic_op
hearthi_add_step(const struct hearthi_add *a)
{
    enum hearthi_add_kind kind = hearthi_add_kind_of(a);

    return (struct hearthi_atomic_op){ .kind = kind == HEARTHI_ADD_REAL
                                                   ? HEARTHI_SUM
                                                   : HEARTHI_ADD,
                                       .narrow = kind == HEARTHI_ADD_NARROW,
                                       .value = a->value };
}

/* The next step of an add to a double, of which `found` is the guess, and then
 * what the last one has found: done if that is what it expected. */
static inline struct hearthi_atomic_op
hearthi_real_add_step(const struct hearthi_add *a, uint64_t found)
{
    return (struct hearthi_atomic_op){ .kind = HEARTHI_CAS,
                                       .value = hearthi_add_sum(
                                           HEARTHI_ADD_REAL, found, a->value),
                                       .expected = found };
}

/* An add by this processor, in a segment that begins at `base`. */
static inline void
hearthi_add_here(char *base, const struct hearthi_add *a)
{
    struct hearthi_atomic_op s = hearthi_add_step(a);

    hearthi_atomic_op_here(base + hearthi_add_offset(a), &s);
}

static inline void
hearthi_adds_here(char *base, const struct hearthi_add_run *run)
{
    for (size_t i = 0; i < run->n; i++)
        hearthi_add_here(base, &run->add[i]);
}

/* An add to a double by steps at its home, one compare-and-swap after the
 * other. */
typedef uint64_t hearthi_home_step(int home, size_t offset,
                                   const struct hearthi_atomic_op *s);

static inline void
hearthi_real_add(hearthi_home_step *step, int home,
                 const struct hearthi_add *a)
{
    struct hearthi_atomic_op s;
    uint64_t                 found = 0;

    do {
        s = hearthi_real_add_step(a, found);
        found = step(home, hearthi_add_offset(a), &s);
    } while (found != s.expected);
}

#endif
