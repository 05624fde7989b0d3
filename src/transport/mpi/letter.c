/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "letter.h"

#include <stdbool.h>

#include "notice/diff.h"

/* A head is an offset, with below it the length of a run, or 0 for a patch and
 * then the size of its units. */
enum { LEN_BITS = 16, SHIFT_BITS = 2, BLOCK = 64 };

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
hearthi_patch_bytes(const struct hearthi_patch *p)
{
    return HEARTHI_PATCH_HEAD + ((size_t)hearthi_bits(p->bits) << p->shift);
}

/* ---- making ---- */

static uint8_t *
word_put(uint8_t *at, uint64_t word)
{
    memcpy(at, &word, sizeof word);
    return at + sizeof word;
}

void
hearthi_letter_run(struct hearthi_letter *l, size_t offset, const void *src,
                   size_t len)
{
    uint8_t *at =
        word_put(l->body + l->bytes, (uint64_t)offset << LEN_BITS | len);

    memcpy(at, src, len);
    l->bytes += HEARTHI_RUN_HEAD + len;
}

/* Without a branch for each, which nobody could foretell. */
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

void
hearthi_letter_patch(struct hearthi_letter *l, const struct hearthi_patch *p,
                     size_t offset, const char *src)
{
    uint8_t *at = l->body + l->bytes;

    at = word_put(at, ((uint64_t)offset << SHIFT_BITS | p->shift) << LEN_BITS);
    at = word_put(at, p->bits);
    if (p->shift == 3)
        at = units_take(at, src, p->bits, 8);
    else if (p->shift == 2)
        at = units_take(at, src, p->bits, 4);
    else
        at = units_take(at, src, p->bits, 1);
    l->bytes = (uint64_t)(at - l->body);
}

/* ---- storing ---- */

/* Each unit by one store: a word is never seen in halves. */
static inline __attribute__((always_inline)) const uint8_t *
units_store(char *to, const uint8_t *from, uint64_t bits, size_t unit)
{
    for (; bits != 0; bits &= bits - 1) {
        memcpy(to + (size_t)__builtin_ctzll(bits) * unit, from, unit);
        from += unit;
    }
    return from;
}

static const uint8_t *
patch_store(char *segment, uint64_t where, const uint8_t *from)
{
    char    *to = segment + (size_t)(where >> SHIFT_BITS);
    unsigned shift = where & ((1 << SHIFT_BITS) - 1);
    uint64_t bits;

    memcpy(&bits, from, sizeof bits);
    from += sizeof bits;
    if (shift == 3)
        return units_store(to, from, bits, 8);
    if (shift == 2)
        return units_store(to, from, bits, 4);
    return units_store(to, from, bits, 1);
}

/* A word is a usual length, and then one store. */
static const uint8_t *
run_store(char *to, const uint8_t *from, size_t len)
{
    if (len == sizeof(uint64_t))
        memcpy(to, from, sizeof(uint64_t));
    else
        memcpy(to, from, len);
    return from + len;
}

void
hearthi_letter_store(const struct hearthi_letter *l, char *segment)
{
    const uint8_t *at = l->body, *end = at + l->bytes;

    while (at < end) {
        uint64_t head, where;
        size_t   len;

        memcpy(&head, at, sizeof head);
        at += sizeof head;
        len = head & ((1 << LEN_BITS) - 1);
        where = head >> LEN_BITS;
        at = len == 0 ? patch_store(segment, where, at)
                      : run_store(segment + (size_t)where, at, len);
    }
}
