/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "profile.h"

#include <string.h>

#include "caller.h"
#include "space/heap.h"

struct hearthi_profile *hearthi_profile;

static struct hearthi_profile *kept;

void
hearthi_profile_open(void)
{
    enum { GRAINS_LOG = 9 };

    _Static_assert(HEARTHI_PROFILE_GRAINS == 1 << GRAINS_LOG, "its log");
    kept = hearthi_sparse(sizeof *kept);
    kept->grain = hearthi_heap.shift - GRAINS_LOG;
    kept->every = 1;
    hearthi_caller_open();
    hearthi_profile = kept;
}

void
hearthi_profile_reset(void)
{
    unsigned grain;

    if (kept == NULL)
        return;
    grain = kept->grain;
    hearthi_sparse_clear(kept, sizeof *kept);
    kept->grain = grain;
    kept->every = 1;
    hearthi_profile = kept;
}

void
hearthi_profile_stop(void)
{
    hearthi_profile = NULL;
}

void
hearthi_profile_close(void)
{
    hearthi_profile = NULL;
    if (kept != NULL)
        hearthi_sparse_free(kept, sizeof *kept);
    kept = NULL;
}

const struct hearthi_profile *
hearthi_profile_kept(void)
{
    return kept;
}

/* Relaxed, here and below: profile.h says why. */
static void
add32(uint32_t *to, uint32_t n)
{
    __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

static void
add64(uint64_t *to, uint64_t n)
{
    __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

/* ---- the tables ---- */

enum { TRIES = 32 };

static size_t
hash_of(uint64_t key, size_t entries)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (entries - 1);
}

static struct hearthi_profile_line *
line_of(uintptr_t at)
{
    size_t i = hash_of(at, HEARTHI_PROFILE_LINES);

    for (int n = 0; n < TRIES; n++) {
        struct hearthi_profile_line *l = &kept->line[i];
        uintptr_t                    none = 0;

        if (__atomic_load_n(&l->at, __ATOMIC_RELAXED) == at ||
            __atomic_compare_exchange_n(&l->at, &none, at, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            none == at)
            return l;
        i = (i + 1) & (HEARTHI_PROFILE_LINES - 1);
    }
    add64(&kept->dropped, 1);
    return NULL;
}

static struct hearthi_profile_page *
page_of(uint64_t page)
{
    size_t   i = hash_of(page, HEARTHI_PROFILE_PAGES);
    uint32_t key = (uint32_t)page + 1;

    for (int n = 0; n < TRIES; n++) {
        struct hearthi_profile_page *p = &kept->page[i];
        uint32_t                     none = 0;

        if (__atomic_load_n(&p->key, __ATOMIC_RELAXED) == key ||
            __atomic_compare_exchange_n(&p->key, &none, key, 0,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
            none == key)
            return p;
        i = (i + 1) & (HEARTHI_PROFILE_PAGES - 1);
    }
    add64(&kept->dropped, 1);
    return NULL;
}

/* ---- what happens ---- */

/* Two faults closer than this say nothing of a stride. */
enum { STRIDE_LEAST = 512, FIRST_BYTES = 64 };

/* The vote of a majority: the candidate is the shortest that others are
 * multiples of, since what was fetched ahead leaves faults out. */
static void
stride_note(struct hearthi_profile_line *l, uint64_t at)
{
    uint64_t last = l->last;
    uint64_t step = at > last ? at - last : last - at;

    l->last = at;
    if (last == 0 || step < STRIDE_LEAST)
        return;
    if (l->stride != 0 && step % l->stride == 0) {
        l->vote++;
        l->strided++;
    } else if (l->stride != 0 && l->stride % step == 0) {
        l->stride = step;
        l->strided++;
    } else if (--l->vote <= 0) {
        l->stride = step;
        l->vote = 1;
    }
}

static void
line_note(struct hearthi_profile_line *l, uint64_t at, bool write, uint64_t ns)
{
    add32(write ? &l->writes : &l->reads, 1);
    add64(&l->ns, ns);
    if ((at & (hearthi_heap.page - 1)) >= FIRST_BYTES)
        add32(&l->inside, 1);
    stride_note(l, at);
}

void
hearthi_profile_fault(uintptr_t instruction, const void *stack,
                      const void *addr, bool write, uint64_t ns)
{
    struct hearthi_profile_line *l =
        line_of(hearthi_caller_at(instruction, stack));
    struct hearthi_profile_page *p = page_of(hearthi_page_of(addr));
    size_t off = (uintptr_t)addr & (hearthi_heap.page - 1);

    if (l != NULL)
        line_note(l, (uintptr_t)addr, write, ns);
    if (p == NULL)
        return;
    add32(write ? &p->writes : &p->reads, 1);
    add64(&p->ns, ns);
    if (l != NULL)
        p->line = (uint32_t)(l - kept->line) + 1;
    off >>= kept->grain;
    if (write)
        __atomic_fetch_or(&p->stored[off / 64], UINT64_C(1) << off % 64,
                          __ATOMIC_RELAXED);
}

/* Of each grain: was a byte of it stored to?  There are 64 bytes a word. */
static void
stored_note(struct hearthi_profile_page *p, const uint64_t *mask)
{
    enum { WORD = 64 };

    for (size_t i = 0; i < hearthi_heap.page / WORD; i++)
        for (uint64_t m = mask[i]; m != 0; m &= m - 1) {
            size_t g = (i * WORD + (size_t)__builtin_ctzll(m)) >> kept->grain;

            p->stored[g / 64] |= UINT64_C(1) << g % 64;
        }
}

/* How many halves of 8-byte words have changed in part, if their first bytes
 * did in all: as where numbers are counted up in memory of single bytes. */
static unsigned
narrow_count(const uint64_t *mask)
{
    const uint64_t first = UINT64_C(0x1111111111111111);
    unsigned       n = 0;

    for (size_t i = 0; i < hearthi_heap.page / 64; i++) {
        uint64_t m = mask[i], all = m & m >> 1 & m >> 2 & m >> 3 & first;
        uint64_t any = (m | m >> 1 | m >> 2 | m >> 3) & first;

        if (any != (m & first))
            return 0;
        n += (unsigned)__builtin_popcountll(any & ~all);
    }
    return n;
}

/* The address of the one word that has changed; 0 if there are several. */
static uint64_t
word_of(uint64_t page, const uint64_t *mask)
{
    uint64_t word = 0;

    for (size_t i = 0; i < hearthi_heap.page / 64; i++) {
        unsigned at;

        if (mask[i] == 0)
            continue;
        at = (unsigned)__builtin_ctzll(mask[i]) / 8;
        if (word != 0 || (mask[i] & ~(UINT64_C(0xff) << 8 * at)) != 0)
            return 0;
        word = (uintptr_t)hearthi_app(page) + 64 * i + 8 * at;
    }
    return word;
}

static void
given_note(uint64_t page, const uint64_t *mask)
{
    struct hearthi_profile_given *g = &kept->given;

    g->word = g->diffs++ > 0 || mask == NULL ? 0 : word_of(page, mask);
    g->wide = g->word == 0;
}

void
hearthi_profile_diff(uint64_t page, const uint64_t *mask, size_t bytes)
{
    enum { MANY = 16 };
    struct hearthi_profile_page *p = page_of(page);

    given_note(page, mask);
    if (p == NULL)
        return;
    add32(&p->diffs, 1);
    add64(&p->diff_bytes, bytes);
    if (mask == NULL) {
        memset(p->stored, 0xff, sizeof p->stored);
        return;
    }
    stored_note(p, mask);
    add32(&p->narrow, narrow_count(mask) >= MANY);
}

void
hearthi_profile_own(uint64_t page)
{
    struct hearthi_profile_page *p = page_of(page);

    if (p != NULL)
        add32(&p->own, 1);
}

void
hearthi_profile_ahead(uint64_t page, uint64_t count)
{
    for (uint64_t end = page + count; page < end; page++) {
        struct hearthi_profile_page *p = page_of(page);

        if (p != NULL)
            add32(&p->ahead, 1);
    }
}

void
hearthi_profile_prefetched(const void *from, uint64_t pages, uint64_t ns)
{
    struct hearthi_profile_line *l = line_of(hearthi_profile_place(from));

    if (l == NULL)
        return;
    add32(&l->calls, 1);
    add64(&l->brought, pages);
    add64(&l->ns, ns);
}

void
hearthi_profile_homes(uint64_t page, uint64_t count,
                      int (*home_of)(uint64_t page))
{
    for (size_t i = 0; kept != NULL && i < HEARTHI_PROFILE_PAGES; i++) {
        struct hearthi_profile_page *p = &kept->page[i];

        if (p->key != 0 && p->home == 0 && p->key - 1 - page < count)
            p->home = (uint32_t)(home_of(p->key - 1) + 1);
    }
}
