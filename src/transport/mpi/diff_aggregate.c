/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A Put takes a microsecond however short it is, and a page whose every second
 * word has changed has 512 runs.  So the short runs of a release are gathered,
 * home by home.  Up to HEARTH_PUT_RUNS of them go by a Put each, since an
 * active message costs some round trips and the waking of a thread; from the
 * next on they go in active messages.
 *
 * No byte is twice among the diffs of one flush (an eviction in the middle of
 * a release ends what was gathered first, page/evict.c), so it does not matter
 * that a Put and an active message, or two active messages, of the same page
 * pass each other.
 *
 * Adds to words of the home may be among them (mpi.c).  They are done in any
 * order, each once.
 */
#include "config.h"

#include "diff_aggregate.h"

#include <stdint.h>
#include <string.h>

#include "am_mailbox.h"
#include "base/min.h"
#include "base/mutex.h"
#include "base/option.h"
#include "base/report.h"
#include "base/test_limits.h"
#include "space/heap.h"
#include "space/segment.h"
#include "transfer.h"

/* Runs of at least so many bytes always go by a Put of their own, or less
 * where active messages are so short that they would have few.  It is bytes,
 * whatever a page has: so many are copied in the time that a Put takes. */
enum { LONG_RUN = 4096, RUNS_IN_AM_BUFFER = 16 };

enum {
    HOMES = HEARTHI_TEST_LIMIT(32, 2),
    AM_BUFFERS = HEARTHI_TEST_LIMIT(8, 1),
    RUNS = HEARTHI_TEST_LIMIT(64, 4)
};

struct run {
    size_t      offset, len;
    const void *src;
};

/* What a home is to get: runs where they are, until there are too many, and
 * then an active message. */
struct aggregate {
    int                       home;
    uint64_t                  all; /* runs of this release, 0: no pack */
    size_t                    n;
    struct run                run[RUNS];
    struct hearthi_am_buffer *am_buffer;
};

static struct aggregate          aggregate[HOMES], *last;
static int                       n_packs, turn; /* which gives way next */
static struct hearthi_am_buffer *am_buffers[AM_BUFFERS];
static struct hearthi_am_buffer *spare[AM_BUFFERS], *under_way[AM_BUFFERS];
static int                       n_spare, n_under_way;
static bool                      packing;
static size_t                    room, long_run; /* bytes */

void
hearthi_diff_aggregate_open(bool aggregates)
{
    if (aggregates && hearthi_segments.bytes > HEARTHI_AM_BUFFER_OFFSETS)
        hearthi_fatal(
            "hearth_init",
            "home memory of %zu bytes a rank is more than 64t, which "
            "active messages can name: lower HEARTH_HOME, or use "
            "HEARTH_TRANSPORT=udp",
            hearthi_segments.bytes);
    packing = aggregates;
    last = aggregate;
    room = hearthi_am_buffer_room();
    if (hearthi_opt.diff_pack != 0)
        room = hearthi_min(room, hearthi_opt.diff_pack);
    long_run = hearthi_min(LONG_RUN, room / RUNS_IN_AM_BUFFER);
    n_packs = n_spare = n_under_way = 0;
    for (int i = 0; aggregates && i < AM_BUFFERS; i++)
        am_buffers[i] = spare[n_spare++] =
            hearthi_sparse(hearthi_segments.am_buffer + HEARTHI_PATCH_SLACK);
}

void
hearthi_diff_aggregate_close(void)
{
    for (int i = 0; packing && i < AM_BUFFERS; i++)
        hearthi_sparse_free(am_buffers[i],
                            hearthi_segments.am_buffer + HEARTHI_PATCH_SLACK);
}

/* ---- what is gathered goes ---- */

static void
runs_put(struct aggregate *p)
{
    for (size_t i = 0; i < p->n; i++)
        hearthi_put(p->home, p->run[i].offset, p->run[i].src, p->run[i].len);
    p->n = 0;
}

static void
am_buffers_settle(void)
{
    if (n_under_way == 0)
        return;
    hearthi_am_mailbox_settle();
    while (n_under_way > 0)
        spare[n_spare++] = under_way[--n_under_way];
}

static void
am_buffer_send(struct aggregate *p)
{
    bool due = hearthi_am_mailbox_send(p->home, p->am_buffer);

    HEARTHI_ASSERT(n_under_way < AM_BUFFERS && p->am_buffer->bytes <= room);
    under_way[n_under_way++] = p->am_buffer;
    p->am_buffer = NULL;
    if (due)
        am_buffers_settle();
}

static void
aggregate_end(struct aggregate *p)
{
    runs_put(p);
    if (p->am_buffer != NULL && p->am_buffer->bytes > 0)
        am_buffer_send(p);
    else if (p->am_buffer != NULL)
        spare[n_spare++] = p->am_buffer;
    HEARTHI_ASSERT(p->all > 0 && n_packs > 0);
    p->am_buffer = NULL;
    p->all = 0;
    n_packs--;
}

/* Another home's pack may have to give its active message up. */
static void
am_buffer_take(struct aggregate *p)
{
    if (n_spare == 0)
        am_buffers_settle();
    for (int i = 0; n_spare == 0; i++)
        if (aggregate[i].am_buffer != NULL) {
            aggregate_end(&aggregate[i]);
            am_buffers_settle();
        }
    HEARTHI_ASSERT(n_spare + n_under_way <= AM_BUFFERS &&
                   p->am_buffer == NULL);
    p->am_buffer = spare[--n_spare];
    p->am_buffer->bytes = 0;
}

static struct aggregate *
aggregate_of(int home)
{
    if (last->all > 0 && last->home == home)
        return last;
    for (struct aggregate *p = aggregate; p < aggregate + HOMES; p++)
        if (p->all > 0 && p->home == home)
            return last = p;
    return NULL;
}

static struct aggregate *
aggregate_new(int home)
{
    struct aggregate *p = aggregate;

    while (p < aggregate + HOMES && p->all > 0)
        p++;
    if (p == aggregate + HOMES) {
        p = &aggregate[turn++ % HOMES];
        aggregate_end(p);
    }
    p->home = home;
    n_packs++;
    return last = p;
}

static void
am_buffer_room(struct aggregate *p, size_t bytes)
{
    HEARTHI_ASSERT(p->am_buffer != NULL && bytes <= room);
    if (p->am_buffer->bytes + bytes <= room)
        return;
    am_buffer_send(p);
    am_buffer_take(p);
}

static void
am_buffer_add(struct aggregate *p, size_t offset, const void *src, size_t len)
{
    am_buffer_room(p, HEARTHI_RUN_HEAD + len);
    hearthi_am_buffer_run(p->am_buffer, offset, src, len);
}

static void
am_buffer_begin(struct aggregate *p)
{
    am_buffer_take(p);
    for (size_t i = 0; i < p->n; i++)
        am_buffer_add(p, p->run[i].offset, p->run[i].src, p->run[i].len);
    p->n = 0;
}

/* So many runs more, of one home. */
static struct aggregate *
aggregate_count(int home, size_t runs)
{
    struct aggregate *p = aggregate_of(home);

    if (p == NULL)
        p = aggregate_new(home);
    p->all += runs;
    if (p->am_buffer == NULL && p->all > hearthi_opt.put_runs)
        am_buffer_begin(p);
    return p;
}

static void
run_add(int home, size_t offset, const void *src, size_t len)
{
    struct aggregate *p = aggregate_count(home, 1);

    HEARTHI_ASSERT(p->home == home && p->n <= RUNS);
    HEARTHI_ASSERT(offset + len <= hearthi_segments.bytes);
    if (p->am_buffer != NULL) {
        am_buffer_add(p, offset, src, len);
        return;
    }
    if (p->n == RUNS)
        runs_put(p);
    p->run[p->n++] = (struct run){ offset, len, src };
}

bool
hearthi_diff_aggregates(void)
{
    return packing;
}

struct hearthi_am_buffer *
hearthi_am_buffer_of(int home, size_t bytes)
{
    struct aggregate *p = aggregate_count(home, 1);

    HEARTHI_ASSERT_HAS(TABLE);
    if (p->am_buffer == NULL)
        am_buffer_begin(p);
    am_buffer_room(p, bytes);
    return p->am_buffer;
}

/* ---- masks ---- */

struct stretch { /* of a page, from its first byte on */
    struct aggregate *aggregate;
    size_t            offset;
    const char       *src;
};

static void
stretch_run(void *stretch, size_t at, size_t len)
{
    const struct stretch *s = stretch;

    if (len >= long_run)
        hearthi_put(s->aggregate->home, s->offset + at, s->src + at, len);
    else
        am_buffer_add(s->aggregate, s->offset + at, s->src + at, len);
}

static void
stretch_patch(void *stretch, size_t at, const struct hearthi_patch *p)
{
    const struct stretch *s = stretch;

    am_buffer_room(s->aggregate, HEARTHI_PATCH_HEAD +
                                     hearthi_patch_bytes(p->bits, p->shift));
    hearthi_am_buffer_patch(s->aggregate->am_buffer, p, s->offset + at,
                            s->src + at);
}

/* ---- the transport's operations ---- */

void
hearthi_mpi_diff(int home, size_t offset, const void *src, size_t len)
{
    if (packing && len < long_run)
        run_add(home, offset, src, len);
    else
        hearthi_put(home, offset, src, len);
}

bool
hearthi_mpi_patch(int home, size_t offset, const char *src,
                  const uint64_t *mask, size_t blocks, size_t runs)
{
    const struct aggregate     *p = aggregate_of(home);
    struct stretch              s = { .offset = offset, .src = src };
    const struct hearthi_pieces pieces = { stretch_run, stretch_patch, &s };

    if (!packing || (p != NULL ? p->all : 0) + runs <= hearthi_opt.put_runs)
        return false;
    s.aggregate = aggregate_count(home, runs);
    hearthi_pieces_make(&pieces, mask, blocks);
    return true;
}

void
hearthi_mpi_flush(void)
{
    HEARTHI_ASSERT_HAS(TABLE);
    for (int i = 0; n_packs > 0; i++)
        if (aggregate[i].all > 0)
            aggregate_end(&aggregate[i]);
    HEARTHI_ASSERT(n_packs == 0);
    HEARTHI_ASSERT(!packing || n_spare + n_under_way == AM_BUFFERS);
    am_buffers_settle();
    hearthi_puts_wait();
    if (packing)
        hearthi_am_mailbox_wait();
}

/* The value leaves from here later, so no two that are under way share a
 * place. */
void
hearthi_mpi_notify(int home)
{
    enum { PLACES = 256 };
    static uint64_t     value[PLACES];
    static unsigned     place;
    uint64_t           *v = &value[++place % PLACES];
    struct hearthi_told told = hearthi_told_next();

    *v = told.value;
    hearthi_put(home, told.at, v, sizeof *v);
}
