/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "patch.h"

#include <stdbool.h>
#include <string.h>

#include "base/assert.h"
#include "notice/diff.h"
#include "word_split.h"

enum { BLOCK = 64 };

/* A run in bytes costs as much as eight of them, and more time; a patch of
 * bytes takes the time of some such runs. */
enum { RUNS_FOR_BYTES = 4 };

static const uint64_t ONE_OF_8 = UINT64_C(0x0101010101010101);
static const uint64_t ONE_OF_4 = UINT64_C(0x1111111111111111);

/* ---- which ---- */

/* Bits 0, 8, 16... come together. */
static inline uint64_t
words_of(uint64_t mask)
{
    return ((mask & ONE_OF_8) * UINT64_C(0x0102040810204080)) >> 56;
}

/* Bits 0, 4, 8... do. */
static inline uint64_t
halves_of(uint64_t mask)
{
    uint64_t even = words_of(mask), odd = words_of(mask >> 4), bits = 0;

    for (int i = 0; i < 8; i++)
        bits |= (even >> i & 1) << 2 * i | (odd >> i & 1) << (2 * i + 1);
    return bits;
}

/* Does each unit differ as a whole, or not at all? */
static bool
is_of_units(const uint64_t *mask, size_t blocks, uint64_t ones, uint64_t all)
{
    for (size_t i = 0; i < blocks; i++)
        if ((mask[i] & ones) * all != mask[i])
            return false;
    return true;
}

struct hearthi_patch
hearthi_patch_of(const uint64_t *mask, size_t blocks)
{
    struct hearthi_patch p = { 0, 0, 0 };

    if (blocks >= 8 && is_of_units(mask, 8, ONE_OF_8, 0xff)) {
        p = (struct hearthi_patch){ 8, 3, 0 };
        for (unsigned i = 0; i < 8; i++)
            p.bits |= words_of(mask[i]) << 8 * i;
    } else if (blocks >= 4 && is_of_units(mask, 4, ONE_OF_4, 0xf)) {
        p = (struct hearthi_patch){ 4, 2, 0 };
        for (unsigned i = 0; i < 4; i++)
            p.bits |= halves_of(mask[i]) << 16 * i;
    } else if (hearthi_bits(*mask & ~(*mask << 1)) >= RUNS_FOR_BYTES) {
        p = (struct hearthi_patch){ 1, 0, *mask };
    }
    return p;
}

size_t
hearthi_patch_bytes(uint64_t bits, unsigned shift)
{
    return (size_t)hearthi_bits(bits) << shift;
}

/* ---- its units ---- */

/* Without a branch for each, which no processor could foretell. */
static inline __attribute__((always_inline)) uint8_t *
units_take(uint8_t *to, const char *from, uint64_t bits, size_t unit)
{
    for (int i = 0; i < BLOCK; i++) {
        memcpy(to, from, unit);
        to += (bits & 1) * unit;
        from += unit;
        bits >>= 1;
    }
    return to;
}

uint8_t *
hearthi_patch_take(uint8_t *to, const char *from,
                   const struct hearthi_patch *p)
{
    HEARTHI_ASSERT(p->shift <= HEARTHI_PATCH_SHIFT_MOST && p->shift != 1);
    if (p->shift == 3)
        return units_take(to, from, p->bits, 8);
    if (p->shift == 2)
        return units_take(to, from, p->bits, 4);
    return units_take(to, from, p->bits, 1);
}

/* By one instruction, also where the compiler would store bytes one by one
 * since memcpy(3) is told of no alignment.  Patches are of blocks, so units
 * lie at multiples of their size.  Relaxed: the home has a release or a fence
 * behind all of them (am_mailbox.c, udp_home.c). */
static inline __attribute__((always_inline)) void
unit_store(char *to, const uint8_t *from, size_t unit)
{
    uint64_t word;
    uint32_t half;

    if (unit == sizeof word) {
        memcpy(&word, from, sizeof word);
        __atomic_store_n((uint64_t *)(void *)to, word, __ATOMIC_RELAXED);
    } else if (unit == sizeof half) {
        memcpy(&half, from, sizeof half);
        __atomic_store_n((uint32_t *)(void *)to, half, __ATOMIC_RELAXED);
    } else {
        *to = (char)*from;
    }
}

static inline __attribute__((always_inline)) const uint8_t *
units_store(char *to, const uint8_t *from, uint64_t bits, size_t unit)
{
    for (; bits != 0; bits &= bits - 1) {
        unit_store(to + (size_t)__builtin_ctzll(bits) * unit, from, unit);
        from += unit;
    }
    return from;
}

const uint8_t *
hearthi_patch_store(char *to, const uint8_t *from, uint64_t bits,
                    unsigned shift)
{
    if (shift == 3)
        return units_store(to, from, bits, 8);
    if (shift == 2)
        return units_store(to, from, bits, 4);
    return units_store(to, from, bits, 1);
}

/* ---- pieces ---- */

struct growing { /* a run */
    size_t begin, end;
};

static void
run_end(const struct hearthi_pieces *pieces, struct growing *run)
{
    HEARTHI_ASSERT(run->end >= run->begin);
    if (run->end > run->begin)
        pieces->run(pieces->to, run->begin, run->end - run->begin);
    run->begin = run->end = 0;
}

static void
run_add(const struct hearthi_pieces *pieces, struct growing *run, size_t at,
        size_t len)
{
    HEARTHI_ASSERT(len > 0 && at >= run->end);
    if (run->end != at) {
        run_end(pieces, run);
        run->begin = at;
    }
    run->end = at + len;
}

static void
block_runs(const struct hearthi_pieces *pieces, struct growing *run, size_t at,
           uint64_t mask)
{
    while (mask != 0) {
        int first = __builtin_ctzll(mask), len;

        mask >>= first;
        len = ~mask == 0 ? BLOCK : __builtin_ctzll(~mask);
        at += (size_t)first;
        run_add(pieces, run, at, (size_t)len);
        at += (size_t)len;
        mask = len == BLOCK ? 0 : mask >> len;
    }
}

void
hearthi_pieces_make(const struct hearthi_pieces *pieces, const uint64_t *mask,
                    size_t blocks)
{
    struct growing run = { 0, 0 };

    for (size_t i = 0, n; i < blocks; i += n) {
        struct hearthi_patch p = { 0, 0, 0 };

        if (mask[i] != 0 && ~mask[i] != 0)
            p = hearthi_patch_of(mask + i, blocks - i);
        if (p.blocks > 0) {
            run_end(pieces, &run);
            pieces->patch(pieces->to, i * BLOCK, &p);
        } else {
            block_runs(pieces, &run, i * BLOCK, mask[i]);
        }
        HEARTHI_ASSERT(p.blocks <= blocks - i);
        HEARTHI_ASSERT(p.blocks == 0 || p.bits != 0);
        n = p.blocks > 0 ? p.blocks : 1;
    }
    run_end(pieces, &run);
}

/* ---- in an active message ---- */

/* A head is an offset, with below it the length of a run, or 0 for a patch and
 * then the size of its units, which is never 2 bytes: then it is adds, and how
 * many. */
enum { LEN_BITS = 16, SHIFT_BITS = 2, SHIFT_OF_ADDS = 1 };

_Static_assert((HEARTHI_AM_BUFFER_OFFSETS - 1) >>
                       (64 - LEN_BITS - SHIFT_BITS) ==
                   0,
               "a head has room for each offset");

static uint8_t *
word_put(uint8_t *at, uint64_t word)
{
    memcpy(at, &word, sizeof word);
    return at + sizeof word;
}

void
hearthi_am_buffer_run(struct hearthi_am_buffer *l, size_t offset,
                      const void *src, size_t len)
{
    HEARTHI_ASSERT(len > 0 && len < 1 << LEN_BITS);
    HEARTHI_ASSERT(offset < HEARTHI_AM_BUFFER_OFFSETS);
    uint8_t *at =
        word_put(l->body + l->bytes, (uint64_t)offset << LEN_BITS | len);

    memcpy(at, src, len);
    l->bytes += HEARTHI_RUN_HEAD + len;
}

void
hearthi_am_buffer_patch(struct hearthi_am_buffer   *l,
                        const struct hearthi_patch *p, size_t offset,
                        const char *src)
{
    uint8_t *at = l->body + l->bytes;

    at = word_put(at, ((uint64_t)offset << SHIFT_BITS | p->shift) << LEN_BITS);
    at = word_put(at, p->bits);
    at = hearthi_patch_take(at, src, p);
    l->bytes = (uint64_t)(at - l->body);
}

void
hearthi_am_buffer_adds(struct hearthi_am_buffer *l,
                       const struct hearthi_add *add, size_t n)
{
    uint8_t *at = l->body + l->bytes;

    HEARTHI_ASSERT(n > 0);
    at = word_put(at, ((uint64_t)n << SHIFT_BITS | SHIFT_OF_ADDS) << LEN_BITS);
    memcpy(at, add, n * sizeof *add);
    l->bytes += HEARTHI_ADDS_HEAD + n * sizeof *add;
}

static const uint8_t *
adds_do(char *segment, uint64_t n, const uint8_t *from)
{
    struct hearthi_add add;

    for (; n > 0; n--, from += sizeof add) {
        memcpy(&add, from, sizeof add);
        hearthi_add_here(segment, &add);
    }
    return from;
}

static const uint8_t *
patch_store(char *segment, uint64_t where, const uint8_t *from)
{
    char    *to = segment + (size_t)(where >> SHIFT_BITS);
    unsigned shift = where & ((1 << SHIFT_BITS) - 1);
    uint64_t bits;

    if (shift == SHIFT_OF_ADDS)
        return adds_do(segment, where >> SHIFT_BITS, from);
    memcpy(&bits, from, sizeof bits);
    from += sizeof bits;
    return hearthi_patch_store(to, from, bits, shift);
}

static bool
is_aligned(const char *to, size_t len)
{
    return ((uintptr_t)to | len) % sizeof(uint64_t) == 0;
}

/* A word is a usual length, and then one store; and whole words are the usual
 * runs, of which none is seen in halves.  Relaxed, as in unit_store(). */
static const uint8_t *
run_store(char *to, const uint8_t *from, size_t len)
{
    uint64_t word;

    if (len == sizeof word) {
        memcpy(&word, from, sizeof word);
        if (is_aligned(to, len))
            __atomic_store_n((uint64_t *)(void *)to, word, __ATOMIC_RELAXED);
        else
            memcpy(to, &word, sizeof word);
    } else if (is_aligned(to, len)) {
        hearthi_words_store(to, (const char *)from, len);
    } else {
        hearthi_run_store(to, (const char *)from, len);
    }
    return from + len;
}

void
hearthi_am_buffer_store(const struct hearthi_am_buffer *l, char *segment)
{
    const uint8_t *at = l->body, *end = at + l->bytes;

    while (at < end) {
        uint64_t head, where;
        size_t   len;

        memcpy(&head, at, sizeof head);
        at += sizeof head;
        len = head & ((1 << LEN_BITS) - 1);
        where = head >> LEN_BITS;
        HEARTHI_ASSERT(at + len <= end);
        at = len == 0 ? patch_store(segment, where, at)
                      : run_store(segment + (size_t)where, at, len);
    }
    HEARTHI_ASSERT(at == end);
}
