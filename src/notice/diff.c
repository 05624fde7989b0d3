/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A diff looks at blocks of 64 bytes, each as a mask with a bit for every
 * byte: 1 if the unit that the byte belongs to differs.  Most masks are all 0
 * or all 1; in the others the runs are found by counting trailing zeros.  SSE2
 * is part of every x86-64, and NEON of every aarch64; elsewhere the masks come
 * from words.
 */
#include "config.h"

#include "diff.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON) && defined(__AARCH64EL__)
#include <arm_neon.h>
#endif

#include "base/assert.h"

enum { BLOCK = 64 };

static const uint64_t NONE = 0, ALL = UINT64_MAX;

#if defined(__SSE2__)

/* Bytes of equal units are 0xff. */
static inline __m128i
equal16(const char *a, const char *b, unsigned unit)
{
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)a);
    __m128i y = _mm_loadu_si128((const __m128i *)(const void *)b);

    if (unit == 1)
        return _mm_cmpeq_epi8(x, y);
    x = _mm_cmpeq_epi32(x, y);
    if (unit == 8) /* both halves, or neither */
        x = _mm_and_si128(x, _mm_shuffle_epi32(x, _MM_SHUFFLE(2, 3, 0, 1)));
    return x;
}

/* Most blocks are wholly equal or wholly different. */
static inline uint64_t
block_mask(const char *a, const char *b, unsigned unit)
{
    const __m128i e0 = equal16(a, b, unit);
    const __m128i e1 = equal16(a + 16, b + 16, unit);
    const __m128i e2 = equal16(a + 32, b + 32, unit);
    const __m128i e3 = equal16(a + 48, b + 48, unit);
    const __m128i all =
        _mm_and_si128(_mm_and_si128(e0, e1), _mm_and_si128(e2, e3));
    const __m128i any =
        _mm_or_si128(_mm_or_si128(e0, e1), _mm_or_si128(e2, e3));
    uint64_t equal;

    if (_mm_movemask_epi8(all) == 0xffff)
        return NONE;
    if (_mm_movemask_epi8(any) == 0)
        return ALL;
    equal = (uint64_t)(unsigned)_mm_movemask_epi8(e0) |
            (uint64_t)(unsigned)_mm_movemask_epi8(e1) << 16 |
            (uint64_t)(unsigned)_mm_movemask_epi8(e2) << 32 |
            (uint64_t)(unsigned)_mm_movemask_epi8(e3) << 48;
    return ~equal;
}

#elif defined(__ARM_NEON) && defined(__AARCH64EL__)

/* Bytes of equal units are 0xff. */
static inline uint8x16_t
equal16(const char *a, const char *b, unsigned unit)
{
    const uint8x16_t x = vld1q_u8((const uint8_t *)a);
    const uint8x16_t y = vld1q_u8((const uint8_t *)b);

    if (unit == 1)
        return vceqq_u8(x, y);
    if (unit == 4)
        return vreinterpretq_u8_u32(
            vceqq_u32(vreinterpretq_u32_u8(x), vreinterpretq_u32_u8(y)));
    return vreinterpretq_u8_u64(
        vceqq_u64(vreinterpretq_u64_u8(x), vreinterpretq_u64_u8(y)));
}

/* Each byte keeps the bit of its place among eight, and three sums of
 * neighbours bring those of 64 bytes together. */
static inline uint64_t
block_mask(const char *a, const char *b, unsigned unit)
{
    const uint8x16_t bit =
        vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    const uint8x16_t e0 = vandq_u8(equal16(a, b, unit), bit);
    const uint8x16_t e1 = vandq_u8(equal16(a + 16, b + 16, unit), bit);
    const uint8x16_t e2 = vandq_u8(equal16(a + 32, b + 32, unit), bit);
    const uint8x16_t e3 = vandq_u8(equal16(a + 48, b + 48, unit), bit);
    uint8x16_t       sum = vpaddq_u8(vpaddq_u8(e0, e1), vpaddq_u8(e2, e3));

    sum = vpaddq_u8(sum, sum);
    return ~vgetq_lane_u64(vreinterpretq_u64_u8(sum), 0);
}

#else

enum { WORDS = BLOCK / 8 };

/* The bytes that differ of a word, the first in the lowest bits. */
static inline uint64_t
word_xor(const char *a, const char *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    x ^= y;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

/* A bit for each of 8 bytes: set if its unit is not zero. */
static inline uint64_t
word_mask(uint64_t x, unsigned unit)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);

    if (unit == 8)
        return x != 0 ? 0xff : 0;
    if (unit == 4)
        return ((uint32_t)x != 0 ? 0x0f : 0) | (x >> 32 != 0 ? 0xf0 : 0);
    x = ((((x & low) + low) | x) & ~low) >> 7; /* 1 in each such byte */
    return (x * UINT64_C(0x0102040810204080)) >> 56;
}

/* Not 0 if a unit of the word is: then one borrows from itself. */
static inline uint64_t
zeros(uint64_t x, unsigned unit)
{
    const uint64_t one = unit == 8   ? UINT64_C(1)
                         : unit == 4 ? UINT64_C(0x0000000100000001)
                                     : UINT64_C(0x0101010101010101);

    return (x - one) & ~x & one << (8 * unit - 1);
}

/* Most blocks are wholly equal or wholly different. */
static inline uint64_t
block_mask(const char *a, const char *b, unsigned unit)
{
    uint64_t x[WORDS], any = 0, none = 0, mask = 0;

    for (int i = 0; i < WORDS; i++) {
        x[i] = word_xor(a + 8 * i, b + 8 * i);
        any |= x[i];
    }
    if (any == 0)
        return NONE;
    for (int i = 0; i < WORDS; i++)
        none |= zeros(x[i], unit);
    if (none == 0)
        return ALL;
    for (int i = 0; i < WORDS; i++)
        mask |= word_mask(x[i], unit) << 8 * i;
    return mask;
}

#endif

/* Append a run, or make the last one longer. */
static inline size_t
run_add(struct hearthi_run *out, size_t n, size_t off, size_t len)
{
    if (n > 0 && out[n - 1].off + out[n - 1].len == off) {
        out[n - 1].len += (uint32_t)len;
        return n;
    }
    out[n] = (struct hearthi_run){ (uint32_t)off, (uint32_t)len };
    return n + 1;
}

/* The runs of a block: seldom all different, if another thread writes now.
 * Only the first one can continue the run before. */
static inline size_t
block_runs(struct hearthi_run *out, size_t n, size_t off, uint64_t mask)
{
    int first, len;

    if (mask == NONE)
        return n;
    if (mask == ALL)
        return run_add(out, n, off, BLOCK);
    first = __builtin_ctzll(mask);
    len = __builtin_ctzll(~(mask >> first));
    n = run_add(out, n, off + (size_t)first, (size_t)len);
    while ((mask = mask >> first >> len) != NONE) {
        off += (size_t)(first + len);
        first = __builtin_ctzll(mask);
        len = __builtin_ctzll(~(mask >> first));
        out[n++] = (struct hearthi_run){ (uint32_t)off + (uint32_t)first,
                                         (uint32_t)len };
    }
    return n;
}

/* Runs are in order with equal bytes between them, and within the page. */
HEARTHI_FOR_ASSERT static bool
are_runs(const struct hearthi_run *run, size_t n, size_t size)
{
    for (size_t i = 0; i < n; i++)
        if (run[i].len == 0 || run[i].off + run[i].len > size ||
            (i > 0 && run[i - 1].off + run[i - 1].len >= run[i].off))
            return false;
    return n <= size / 2 + 1;
}

/* Instantiated with a constant unit. */
static inline __attribute__((always_inline)) size_t
page_diff(const char *page, const char *twin, size_t size, unsigned unit,
          struct hearthi_run *out)
{
    size_t n = 0;

    for (size_t off = 0; off < size; off += BLOCK)
        n = block_runs(out, n, off, block_mask(page + off, twin + off, unit));
    return n;
}

size_t
hearthi_diff(const void *page, const void *twin, size_t size, unsigned unit,
             struct hearthi_run *out)
{
    HEARTHI_ASSERT(size % BLOCK == 0);
    if (unit == 8)
        return page_diff(page, twin, size, 8, out);
    if (unit == 4)
        return page_diff(page, twin, size, 4, out);
    return page_diff(page, twin, size, 1, out);
}

/* ---- as masks ---- */

/* The processor's own prefetching begins anew at each page, and the next one
 * of both is what is compared next, as a rule. */
enum { AHEAD = 1024 };

/* Units whose first bit is set. */
static inline size_t
units_count(uint64_t m, unsigned unit)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);

    if (unit == 8)
        return (m & ones) * ones >> 56;
    if (unit == 4)
        return ((m & ones) + (m >> 4 & ones)) * ones >> 56;
    return hearthi_bits(m);
}

static inline __attribute__((always_inline)) struct hearthi_changed
page_masks(const char *page, const char *twin, size_t size, unsigned unit,
           uint64_t *mask)
{
    struct hearthi_changed c = { 0, 0 };
    uint64_t               before = 0; /* the last bit */

    for (size_t off = 0; off < size; off += BLOCK) {
        uint64_t m = block_mask(page + off, twin + off, unit);

        __builtin_prefetch(page + off + AHEAD);
        __builtin_prefetch(twin + off + AHEAD);
        *mask++ = m;
        if (m == ALL) {
            c.runs += !before;
            c.bytes += BLOCK;
        } else if (m != NONE) {
            c.runs += units_count(m & ~(m << 1 | before), unit);
            c.bytes += units_count(m, unit) * unit;
        }
        before = m >> 63;
    }
    return c;
}

struct hearthi_changed
hearthi_diff_masks(const void *page, const void *twin, size_t size,
                   unsigned unit, uint64_t *mask)
{
    HEARTHI_ASSERT(unit == 1 || unit == 4 || unit == 8);
    HEARTHI_ASSERT(size % BLOCK == 0);
    if (unit == 8)
        return page_masks(page, twin, size, 8, mask);
    if (unit == 4)
        return page_masks(page, twin, size, 4, mask);
    return page_masks(page, twin, size, 1, mask);
}

size_t
hearthi_mask_runs(const uint64_t *mask, size_t blocks, struct hearthi_run *out)
{
    size_t n = 0;

    for (size_t i = 0; i < blocks; i++)
        n = block_runs(out, n, i * BLOCK, mask[i]);
    HEARTHI_ASSERT(are_runs(out, n, blocks * BLOCK));
    return n;
}
