/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "sticky_home.h"

#include <string.h>

#include "base/option.h"
#include "page/page.h"
#include "space/segment.h"
#include "world.h"

/* How many pages are known of, in how many intervals in a row one must be
 * written, and for how many it stays open then. */
enum { PAGES = 64, ROW = 3, OPEN = 16 };

static struct steady {
    uint64_t page; /* + 1 */
    uint64_t end;  /* the last interval in which it was open */
    unsigned row;  /* in which it had a fault, in a row */
    unsigned left; /* for which it stays open */
} steady[PAGES];

static char    *twins; /* as they were at the end of the interval before */
static uint64_t ends;

static size_t
twins_bytes(void)
{
    return (size_t)PAGES << hearthi_heap.shift;
}

void
hearthi_sticky_home_open(void)
{
    memset(steady, 0, sizeof steady);
    ends = 0;
    twins = hearthi_sparse(twins_bytes());
}

void
hearthi_sticky_home_close(void)
{
    hearthi_sparse_free(twins, twins_bytes());
}

void
hearthi_sticky_home_begin(void)
{
    ends++;
}

static const char *
home_frame(uint64_t page)
{
    int rank = hearthi_world.node_rank_of[hearthi_home_of(page)];

    return hearthi_segments.base[rank] +
           hearthi_frame_at(hearthi_home_frame_of(page), hearthi_heap.shift);
}

static bool
has_changed(uint64_t page)
{
    char       *twin = twins + (page % PAGES << hearthi_heap.shift);
    const char *now = home_frame(page);

    if (memcmp(twin, now, hearthi_heap.page) == 0)
        return false;
    memcpy(twin, now, hearthi_heap.page);
    return true;
}

/* It was open since the interval before, and not for a fault. */
static bool
is_left(struct steady *s, uint64_t page)
{
    s->left--;
    if (!has_changed(page))
        s->left = s->row = 0;
    return s->left > 0;
}

static bool
is_opened(struct steady *s, uint64_t page)
{
    if (s->row < ROW)
        s->row++;
    if (s->row < ROW)
        return false;
    s->left = OPEN;
    has_changed(page);
    return true;
}

bool
hearthi_sticky_home_stays(uint64_t page)
{
    struct steady *s = &steady[page % PAGES];

    if (!hearthi_opt.home_stay)
        return false;
    if (s->page == page + 1 && s->end == ends) /* it was asked of before */
        return s->left > 0;
    if (s->page != page + 1 || s->end + 1 != ends)
        *s = (struct steady){ .page = page + 1 };
    s->end = ends;
    return s->left > 0 ? is_left(s, page) : is_opened(s, page);
}
