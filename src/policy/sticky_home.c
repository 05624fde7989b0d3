/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "sticky_home.h"

#include <string.h>

#include "base/assert.h"
#include "base/option.h"
#include "space/heap.h"

/* How many pages are known of, in how many intervals in a row one must be
 * written, and for how many it stays open then. */
enum { PAGES = 64, ROW = 3, OPEN = 16 };

static struct sticky {
    uint64_t page; /* + 1 */
    uint64_t end;  /* the last interval in which it was open */
    unsigned row;  /* in which it had a fault, in a row */
    unsigned left; /* for which it stays open */
} sticky[PAGES];

static char *twins; /* as they were at the end of the interval before */

uint64_t hearthi_sticky_home_ends;

static size_t
twins_bytes(void)
{
    return (size_t)PAGES << hearthi_heap.shift;
}

void
hearthi_sticky_home_open(void)
{
    memset(sticky, 0, sizeof sticky);
    hearthi_sticky_home_ends = 0;
    twins = hearthi_sparse(twins_bytes());
}

void
hearthi_sticky_home_close(void)
{
    hearthi_sparse_free(twins, twins_bytes());
}

static bool
has_changed(uint64_t page, const char *now)
{
    char *twin = twins + (page % PAGES << hearthi_heap.shift);

    if (memcmp(twin, now, hearthi_heap.page) == 0)
        return false;
    memcpy(twin, now, hearthi_heap.page);
    return true;
}

/* It was open since the interval before, and not for a fault. */
static bool
is_left(struct sticky *s, uint64_t page, const char *now)
{
    HEARTHI_ASSERT(s->page == page + 1 && s->left <= OPEN);
    s->left--;
    if (!has_changed(page, now))
        s->left = s->row = 0;
    return s->left > 0;
}

static bool
is_opened(struct sticky *s, uint64_t page, const char *(*bytes)(uint64_t page))
{
    if (s->row < ROW)
        s->row++;
    if (s->row < ROW)
        return false;
    s->left = OPEN;
    has_changed(page, bytes(page));
    return true;
}

bool
hearthi_sticky_home_stays(uint64_t page, const char *(*bytes)(uint64_t page))
{
    struct sticky *s = &sticky[page % PAGES];
    const uint64_t now = hearthi_sticky_home_ends;

    HEARTHI_ASSERT(s->end <= now && s->row <= ROW);
    if (!hearthi_opt.home_stay)
        return false;
    if (s->page == page + 1 && s->end == now) /* it was asked of before */
        return s->left > 0;
    if (s->page != page + 1 || s->end + 1 != now)
        *s = (struct sticky){ .page = page + 1 };
    s->end = now;
    return s->left > 0 ? is_left(s, page, bytes(page))
                       : is_opened(s, page, bytes);
}
