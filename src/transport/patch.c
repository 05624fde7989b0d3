/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "patch.h"

#include <stdbool.h>
#include <string.h>

#include "notice/diff.h"

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

uint8_t *
hearthi_patch_take(uint8_t *to, const char *from,
                   const struct hearthi_patch *p)
{
    if (p->shift == 3)
        return units_take(to, from, p->bits, 8);
    if (p->shift == 2)
        return units_take(to, from, p->bits, 4);
    return units_take(to, from, p->bits, 1);
}

static inline __attribute__((always_inline)) const uint8_t *
units_store(char *to, const uint8_t *from, uint64_t bits, size_t unit)
{
    for (; bits != 0; bits &= bits - 1) {
        memcpy(to + (size_t)__builtin_ctzll(bits) * unit, from, unit);
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
    if (run->end > run->begin)
        pieces->run(pieces->to, run->begin, run->end - run->begin);
    run->begin = run->end = 0;
}

static void
run_add(const struct hearthi_pieces *pieces, struct growing *run, size_t at,
        size_t len)
{
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
        n = p.blocks > 0 ? p.blocks : 1;
    }
    run_end(pieces, &run);
}
