/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One fetch for two ranks of a node that miss a page at once (node_cache.h).
 */
#include "config.h"

#include <sched.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "node_cache.h"
#include "node_tag.h"
#include "page.h"
#include "transport/transport.h"

/* A rank that has begun to fetch in advance may not look for it for long
 * (reuse_prefetch.h): that is worth about the time of two fetches, which is
 * not known to less than PATIENCE_AHEAD_NS. */
enum {
    PATIENCE_NS = 1000000000,
    PATIENCE_AHEAD_NS = 300000,
    SPIN_NS = 50000,
    NAP_NS = 20000
};

/* Is it fetching that? */
static bool
is_coming(uint64_t word)
{
    return word != 0 && !hearthi_node_tag_lends(word) &&
           !hearthi_node_tag_is_mine(word) &&
           hearthi_node_tag_number(word) > hearthi_node_tags.late &&
           hearthi_node_tag_is_new(word);
}

/* The rank that this one waits for may need this core. */
static void
turn_wait(uint64_t start)
{
    const struct timespec nap = { .tv_nsec = NAP_NS };

    hearthi_transport->progress();
    if (hearthi_now() - start < SPIN_NS)
        sched_yield();
    else
        nanosleep(&nap, NULL);
}

void
hearthi_node_cache_took(uint64_t ns)
{
    hearthi_node_tags.took = (3 * hearthi_node_tags.took + ns) / 4;
}

static uint64_t
patience_for(uint64_t word)
{
    uint64_t two = 2 * hearthi_node_tags.took;

    if (hearthi_node_tag_kind(word) != AHEAD || two > PATIENCE_NS)
        return PATIENCE_NS;
    return two > PATIENCE_AHEAD_NS ? two : PATIENCE_AHEAD_NS;
}

/* Relaxed: the page is looked at again behind this, and
 * hearthi_node_cache_take() has its own acquire. */
static void
word_wait(uint64_t page, uint64_t word)
{
    uint64_t start = hearthi_now(), patience = patience_for(word);
    bool     late = false;

    HEARTHI_ASSERT(word != 0 && !hearthi_node_tag_is_mine(word));
    hearthi_table_leave();
    while (!late && atomic_load_explicit(&hearthi_node_tags.word[page],
                                         memory_order_relaxed) == word) {
        turn_wait(start);
        late = hearthi_now() - start >= patience;
    }
    hearthi_table_return();
    if (late && hearthi_node_tags.late < hearthi_node_tag_number(word))
        hearthi_node_tags.late = hearthi_node_tag_number(word);
}

/* Which rank is to bring a page: none, as another has lent it; another, for
 * which this one waits; or this rank, whose name is there then. */
enum bringer { LENDER, OTHER, SELF };

static enum bringer
word_claim(uint64_t page, uint64_t *word, uint64_t mine)
{
    *word = atomic_load(&hearthi_node_tags.word[page]);
    for (;;) {
        if (is_coming(*word))
            return OTHER;
        if (hearthi_node_tag_is_lent(*word))
            return LENDER;
        if (atomic_compare_exchange_weak(&hearthi_node_tags.word[page], word,
                                         mine))
            return SELF;
    }
}

bool
hearthi_node_cache_wait(uint64_t page)
{
    uint64_t word, mine;

    if (hearthi_state_of(page) != HEARTHI_INVALID)
        return false;
    mine = hearthi_node_tag_of(UNDER_WAY, hearthi_node_tags_number());
    if (word_claim(page, &word, mine) != OTHER)
        return false;
    word_wait(page, word);
    return true;
}

bool
hearthi_node_cache_claim(uint64_t page, uint64_t number)
{
    uint64_t word, mine = hearthi_node_tag_of(AHEAD, number);

    return !hearthi_node_cache_on || word_claim(page, &word, mine) != OTHER;
}

/* Relaxed: a hint, by which no copy is taken. */
bool
hearthi_node_tags_fetch(uint64_t page)
{
    return is_coming(atomic_load_explicit(&hearthi_node_tags.word[page],
                                          memory_order_relaxed));
}

uint64_t
hearthi_node_tags_until(uint64_t page, uint64_t count, bool before)
{
    uint64_t n = 1, word, mine;

    HEARTHI_ASSERT(count > 0);
    mine = hearthi_node_tag_of(UNDER_WAY, hearthi_node_tags_number());
    word_claim(page, &word, mine);
    while (n < count &&
           word_claim(before ? page - n : page + n, &word, mine) != OTHER)
        n++;
    return n;
}
