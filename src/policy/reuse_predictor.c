/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "reuse_predictor.h"

#include <string.h>

#include "base/assert.h"
#include "base/min.h"
#include "base/option.h"
#include "base/test_limits.h"

/* How often a page was used in a row, up to MANY, and how often it must be. */
enum { MANY = 15, LEVEL = 16, LEVELS = 4, SAMPLE = 16 };
static const uint8_t need[LEVELS] = { 2, 4, 8, MANY };

enum {
    SPANS = HEARTHI_TEST_LIMIT(256, 3),
    CREDIT_MOST = 256,
    CREDIT_FIRST = 16,
    MISS = 4, /* costs as much as so many hits earn */
    DOUBT = 4 /* acquires */
};

static struct {
    struct hearthi_reuse_span span[SPANS];
    size_t                    spans;
    int                       credit, doubt;
    uint64_t                  round; /* fetches that were begun */
    bool                      on;
} p;

void
hearthi_reuse_predictor_open(void)
{
    memset(&p, 0, sizeof p);
    p.on =
        hearthi_opt.predict != HEARTHI_WHEN_OFF && hearthi_fetch_ahead() > 1;
    p.credit = CREDIT_FIRST;
}

void
hearthi_reuse_predictor_close(void)
{
    p.on = false;
}

/* ---- what an acquire drops ---- */

bool
hearthi_reuse_predictor_begin(void)
{
    p.spans = 0;
    return p.on;
}

static void
span_add(uint64_t page)
{
    struct hearthi_reuse_span *last =
        p.spans > 0 ? &p.span[p.spans - 1] : NULL;

    if (last != NULL && last->page + last->count == page) {
        last->count++;
    } else if (p.spans < SPANS) {
        p.span[p.spans].page = page;
        p.span[p.spans++].count = 1;
    }
}

void
hearthi_reuse_predictor_used(uint64_t page, uint8_t *reuse, bool may_come)
{
    unsigned row = *reuse % LEVEL, level = *reuse / LEVEL;

    if (row < MANY)
        row++;
    else if (level > 0)
        level--;
    *reuse = (uint8_t)(level * LEVEL + row);
    if (row >= need[level] && may_come)
        span_add(page);
}

/* One that was used for long may be left out once. */
void
hearthi_reuse_predictor_missed(uint8_t *reuse)
{
    unsigned row = *reuse % LEVEL, level = *reuse / LEVEL;

    if (row == MANY)
        p.doubt = DOUBT;
    if (row > MANY / 2)
        row -= MANY / 2 + 1;
    else
        row = 0;
    if (row == 0 && level < LEVELS - 1)
        level++;
    *reuse = (uint8_t)(level * LEVEL + row);
    if (p.credit > -CREDIT_MOST)
        p.credit -= MISS;
    HEARTHI_ASSERT(p.credit >= -CREDIT_MOST - MISS);
}

void
hearthi_reuse_predictor_hit(uint64_t pages)
{
    p.credit = (int)hearthi_min((uint64_t)(p.credit + CREDIT_MOST) + pages,
                                2 * CREDIT_MOST) -
               CREDIT_MOST;
    HEARTHI_ASSERT(p.credit <= CREDIT_MOST);
}

/* ---- what is predicted ---- */

/* May so little be known of this program that it is to be let alone?  Each
 * time counts a little, so that there is another try. */
static bool
is_refused(void)
{
    if (hearthi_opt.predict == HEARTHI_WHEN_ON || p.credit > 0)
        return false;
    p.credit++;
    return true;
}

size_t
hearthi_reuse_predictor_end(const struct hearthi_reuse_span **span)
{
    size_t n = p.spans;

    *span = p.span;
    if (n == 0 || is_refused())
        return 0;
    p.spans = 0;
    return n;
}

void
hearthi_reuse_predictor_fetched(void)
{
    p.round++;
    p.doubt -= p.doubt > 0;
}

bool
hearthi_reuse_predictor_is_sure(uint64_t page, uint8_t reuse)
{
    return p.doubt == 0 && reuse == MANY && (page + p.round) % SAMPLE != 0;
}
