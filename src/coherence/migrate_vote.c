/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/report.h"
#include "collective.h"
#include "migrate.h"
#include "migrate_request.h"
#include "page/page.h"
#include "transport/transport.h"
#include "world.h"

static struct {
    uint32_t *asked; /* of each rank: how many runs */
    struct hearthi_migrate_request
            *run; /* and these, of each so many at most */
    size_t   most;
    uint8_t *said, *own; /* refused runs; shared pages */
    size_t   runs, pages;
    const struct hearthi_migrate_vote *now;
} m;

static void *
memory(size_t bytes)
{
    void *p = calloc(bytes, 1);

    if (p == NULL)
        hearthi_fatal("hearth_barrier", "no memory to move pages");
    return p;
}

/* ---- bits ---- */

static void
bit_set(uint8_t *bits, size_t i)
{
    bits[i / 8] |= (uint8_t)(1 << i % 8);
}

static bool
bit_is(const uint8_t *bits, size_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static size_t
shared_bit(uint64_t page)
{
    HEARTHI_ASSERT(page - m.now->page < m.now->count);
    HEARTHI_ASSERT(m.now->before + m.now->count <= m.pages);
    return m.runs + m.now->before + (size_t)(page - m.now->page);
}

static size_t
bits_bytes(void)
{
    return (m.runs + m.pages + 7) / 8;
}

void
hearthi_migrate_vote_refuse(const struct hearthi_migrate_vote *a)
{
    HEARTHI_ASSERT(a->i < m.runs);
    bit_set(m.own, a->i);
}

void
hearthi_migrate_vote_share(uint64_t page)
{
    bit_set(m.own, shared_bit(page));
}

bool
hearthi_migrate_vote_is_refused(const struct hearthi_migrate_vote *a)
{
    return bit_is(m.said, a->i);
}

bool
hearthi_migrate_vote_is_refused_here(const struct hearthi_migrate_vote *a)
{
    return bit_is(m.own, a->i);
}

bool
hearthi_migrate_vote_is_shared(uint64_t page)
{
    return bit_is(m.said, shared_bit(page));
}

void
hearthi_migrate_vote_agree(void)
{
    memcpy(m.said, m.own, bits_bytes());
    hearthi_barrier_or(m.said, bits_bytes());
}

/* ---- what is asked for ---- */

void
hearthi_migrate_vote_each(hearthi_migrate_vote_do *f)
{
    struct hearthi_migrate_vote a = { 0 };

    m.now = &a;
    for (a.by = 0; a.by < hearthi_world.size; a.by++)
        for (uint32_t k = 0; k < m.asked[a.by]; k++) {
            const struct hearthi_migrate_request *r =
                &m.run[(size_t)a.by * m.most + k];

            HEARTHI_ASSERT(k < m.most && r->count > 0);
            a.page = r->page;
            a.count = r->count;
            f(&a);
            a.i++;
            a.before += a.count;
        }
    m.now = NULL; /* a is gone */
}

static void
ask_count(const struct hearthi_migrate_vote *a)
{
    m.runs = a->i + 1;
    m.pages = a->before + a->count;
}

bool
hearthi_migrate_vote_begin(void)
{
    struct hearthi_migrate_requests *mine = memory(sizeof *mine);
    size_t                           ranks = (size_t)hearthi_world.size;

    memset(&m, 0, sizeof m);
    m.asked = memory(ranks * sizeof *m.asked);
    hearthi_table_lock();
    hearthi_migrate_requests_take(mine);
    hearthi_table_unlock();
    hearthi_barrier_gather(&mine->n, sizeof mine->n, m.asked);
    for (size_t r = 0; r < ranks; r++)
        if (m.asked[r] > m.most)
            m.most = m.asked[r];
    m.run = memory(ranks * m.most * sizeof *m.run + 1);
    if (m.most > 0)
        hearthi_barrier_gather(mine->run, m.most * sizeof *m.run, m.run);
    free(mine);
    hearthi_migrate_vote_each(ask_count);
    m.said = memory(2 * bits_bytes() + 1);
    m.own = m.said + bits_bytes();
    if (m.most == 0)
        hearthi_migrate_vote_end();
    return m.most > 0;
}

void
hearthi_migrate_vote_end(void)
{
    free(m.said);
    free(m.run);
    free(m.asked);
}

/* ---- messages ---- */

enum { TAG = 28000 }; /* and one a round */

static struct hearthi_collective_way
way(void)
{
    return (struct hearthi_collective_way){ "hearth_barrier",
                                            hearthi_world.comm, TAG,
                                            hearthi_requests_wait };
}

void
hearthi_barrier_gather(const void *mine, size_t bytes, void *all)
{
    const struct hearthi_collective_way w = way();

    hearthi_collective_gather_by(&w, mine, bytes, all);
}

/* What comes twice does no harm. */
void
hearthi_barrier_or(uint8_t *bits, size_t bytes)
{
    int      n = hearthi_world.size, me = hearthi_world.rank;
    uint8_t *more = malloc(bytes);

    const struct hearthi_collective_way w = way();

    if (more == NULL)
        hearthi_fatal("hearth_barrier", "no memory for %zu bytes", bytes);
    for (int have = 1, round = 0; have < n; have *= 2, round++) {
        hearthi_collective_swap_by(&w, bits, (me + have) % n, more,
                                   (me - have + n) % n, bytes, round);
        for (size_t i = 0; i < bytes; i++)
            bits[i] |= more[i];
    }
    free(more);
}
