/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A Put takes a microsecond however short it is, and a page whose every second
 * word has changed has 512 runs.  So the short runs of a release are gathered,
 * home by home.  Up to HEARTH_PUT_RUNS of them go by a Put each, since a
 * letter costs some round trips and the waking of a thread; from the next on
 * they go in letters.
 *
 * No byte is twice among the diffs of one flush (an eviction in the middle of
 * a release ends what was gathered first, page/evict.c), so it does not
 * matter that a Put and a letter, or two letters, of the same page pass each
 * other.
 */
#include "config.h"

#include "diff_aggregate.h"

#include <stdint.h>
#include <string.h>

#include "am_mailbox.h"
#include "base/min.h"
#include "base/option.h"
#include "base/test_limits.h"
#include "space/heap.h"
#include "space/segment.h"
#include "transfer.h"

/* Runs of at least so many bytes always go by a Put of their own, or less
 * where letters are so short that they would have few. */
enum { LONG_RUN = 4096, RUNS_IN_LETTER = 16 };

enum {
    HOMES = HEARTHI_TEST_LIMIT(32, 2),
    LETTERS = HEARTHI_TEST_LIMIT(8, 1),
    RUNS = HEARTHI_TEST_LIMIT(64, 4)
};

struct run {
    size_t      offset, len;
    const void *src;
};

/* What a home is to get: runs where they are, until there are too many, and
 * then a letter. */
struct pack {
    int                       home;
    uint64_t                  all; /* runs of this release, 0: no pack */
    size_t                    n;
    struct run                run[RUNS];
    struct hearthi_am_buffer *letter;
};

static struct pack               pack[HOMES], *last;
static int                       n_packs, turn; /* which gives way next */
static struct hearthi_am_buffer *letters[LETTERS];
static struct hearthi_am_buffer *spare[LETTERS], *under_way[LETTERS];
static int                       n_spare, n_under_way;
static bool                      packing;
static size_t                    room, long_run; /* bytes */

void
hearthi_diff_aggregate_open(bool packs)
{
    packing = packs;
    last = pack;
    room = hearthi_am_buffer_room();
    if (hearthi_opt.diff_pack != 0)
        room = hearthi_min(room, hearthi_opt.diff_pack);
    long_run = hearthi_min(LONG_RUN, room / RUNS_IN_LETTER);
    n_packs = n_spare = n_under_way = 0;
    for (int i = 0; packs && i < LETTERS; i++)
        letters[i] = spare[n_spare++] =
            hearthi_sparse(hearthi_segments.letter + HEARTHI_PATCH_SLACK);
}

void
hearthi_diff_aggregate_close(void)
{
    for (int i = 0; packing && i < LETTERS; i++)
        hearthi_sparse_free(letters[i],
                            hearthi_segments.letter + HEARTHI_PATCH_SLACK);
}

/* ---- what is gathered goes ---- */

static void
runs_put(struct pack *p)
{
    for (size_t i = 0; i < p->n; i++)
        hearthi_put(p->home, p->run[i].offset, p->run[i].src, p->run[i].len);
    p->n = 0;
}

static void
letters_settle(void)
{
    if (n_under_way == 0)
        return;
    hearthi_am_mailbox_settle();
    while (n_under_way > 0)
        spare[n_spare++] = under_way[--n_under_way];
}

static void
letter_send(struct pack *p)
{
    bool due = hearthi_am_mailbox_send(p->home, p->letter);

    under_way[n_under_way++] = p->letter;
    p->letter = NULL;
    if (due)
        letters_settle();
}

static void
pack_end(struct pack *p)
{
    runs_put(p);
    if (p->letter != NULL && p->letter->bytes > 0)
        letter_send(p);
    else if (p->letter != NULL)
        spare[n_spare++] = p->letter;
    p->letter = NULL;
    p->all = 0;
    n_packs--;
}

/* Another home's pack may have to give its letter up. */
static void
letter_take(struct pack *p)
{
    if (n_spare == 0)
        letters_settle();
    for (int i = 0; n_spare == 0; i++)
        if (pack[i].letter != NULL) {
            pack_end(&pack[i]);
            letters_settle();
        }
    p->letter = spare[--n_spare];
    p->letter->bytes = 0;
}

static struct pack *
pack_of(int home)
{
    if (last->all > 0 && last->home == home)
        return last;
    for (struct pack *p = pack; p < pack + HOMES; p++)
        if (p->all > 0 && p->home == home)
            return last = p;
    return NULL;
}

static struct pack *
pack_new(int home)
{
    struct pack *p = pack;

    while (p < pack + HOMES && p->all > 0)
        p++;
    if (p == pack + HOMES) {
        p = &pack[turn++ % HOMES];
        pack_end(p);
    }
    p->home = home;
    n_packs++;
    return last = p;
}

static void
letter_room(struct pack *p, size_t bytes)
{
    if (p->letter->bytes + bytes <= room)
        return;
    letter_send(p);
    letter_take(p);
}

static void
letter_add(struct pack *p, size_t offset, const void *src, size_t len)
{
    letter_room(p, HEARTHI_RUN_HEAD + len);
    hearthi_am_buffer_run(p->letter, offset, src, len);
}

static void
letter_begin(struct pack *p)
{
    letter_take(p);
    for (size_t i = 0; i < p->n; i++)
        letter_add(p, p->run[i].offset, p->run[i].src, p->run[i].len);
    p->n = 0;
}

/* So many runs more, of one home. */
static struct pack *
pack_count(int home, size_t runs)
{
    struct pack *p = pack_of(home);

    if (p == NULL)
        p = pack_new(home);
    p->all += runs;
    if (p->letter == NULL && p->all > hearthi_opt.put_runs)
        letter_begin(p);
    return p;
}

static void
run_add(int home, size_t offset, const void *src, size_t len)
{
    struct pack *p = pack_count(home, 1);

    if (p->letter != NULL) {
        letter_add(p, offset, src, len);
        return;
    }
    if (p->n == RUNS)
        runs_put(p);
    p->run[p->n++] = (struct run){ offset, len, src };
}

/* ---- masks ---- */

struct stretch { /* of a page, from its first byte on */
    struct pack *pack;
    size_t       offset;
    const char  *src;
};

static void
stretch_run(void *stretch, size_t at, size_t len)
{
    const struct stretch *s = stretch;

    if (len >= long_run)
        hearthi_put(s->pack->home, s->offset + at, s->src + at, len);
    else
        letter_add(s->pack, s->offset + at, s->src + at, len);
}

static void
stretch_patch(void *stretch, size_t at, const struct hearthi_patch *p)
{
    const struct stretch *s = stretch;

    letter_room(s->pack,
                HEARTHI_PATCH_HEAD + hearthi_patch_bytes(p->bits, p->shift));
    hearthi_am_buffer_patch(s->pack->letter, p, s->offset + at, s->src + at);
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
    const struct pack          *p = pack_of(home);
    struct stretch              s = { .offset = offset, .src = src };
    const struct hearthi_pieces pieces = { stretch_run, stretch_patch, &s };

    if (!packing || (p != NULL ? p->all : 0) + runs <= hearthi_opt.put_runs)
        return false;
    s.pack = pack_count(home, runs);
    hearthi_pieces_make(&pieces, mask, blocks);
    return true;
}

void
hearthi_mpi_flush(void)
{
    for (int i = 0; n_packs > 0; i++)
        if (pack[i].all > 0)
            pack_end(&pack[i]);
    letters_settle();
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
