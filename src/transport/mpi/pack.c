/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A Put takes a microsecond however short it is, and a page whose every second
 * word has changed has 512 runs.  So the short runs of a release are gathered,
 * home by home.  Up to HEARTH_PUT_RUNS of them go by a Put each, since a
 * letter costs some round trips and the waking of a thread; from the next on
 * they go in letters.
 *
 * No byte is twice among the diffs of one flush (an eviction in the middle of
 * a release ends what was gathered first, page/replace.c), so it does not
 * matter that a Put and a letter, or two letters, of the same page pass each
 * other.
 */
#include "config.h"

#include "pack.h"

#include <stdint.h>
#include <string.h>

#include "base/bound.h"
#include "base/least.h"
#include "base/option.h"
#include "mail.h"
#include "space/heap.h"
#include "space/segment.h"
#include "transfer.h"

/* Runs of at least so many bytes always go by a Put of their own, or less
 * where letters are so short that they would have few. */
enum { LONG_RUN = 512, RUNS_IN_LETTER = 16 };

enum {
    HOMES = HEARTHI_BOUND(32, 2),
    LETTERS = HEARTHI_BOUND(4, 1),
    RUNS = HEARTHI_BOUND(64, 4)
};

struct run {
    size_t      offset, len;
    const void *src;
};

/* What a home is to get: runs where they are, until there are too many, and
 * then a letter. */
struct pack {
    int                    home;
    uint64_t               all; /* runs of this release, 0: no pack */
    size_t                 n;
    struct run             run[RUNS];
    struct hearthi_letter *letter;
};

static struct pack            pack[HOMES], *last;
static int                    n_packs, turn; /* which gives way next */
static struct hearthi_letter *letters[LETTERS], *spare[LETTERS];
static int                    n_spare;
static bool                   packing;
static size_t                 room, long_run; /* bytes */

void
hearthi_packs_open(bool packs)
{
    packing = packs;
    last = pack;
    room = hearthi_letter_room();
    long_run = hearthi_least(LONG_RUN, room / RUNS_IN_LETTER);
    n_packs = n_spare = 0;
    for (int i = 0; packs && i < LETTERS; i++)
        letters[i] = spare[n_spare++] =
            hearthi_sparse(hearthi_segments.letter);
}

void
hearthi_packs_close(void)
{
    for (int i = 0; packing && i < LETTERS; i++)
        hearthi_sparse_free(letters[i], hearthi_segments.letter);
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
letter_send(struct pack *p)
{
    hearthi_mail_send(p->home, p->letter);
    p->letter->bytes = 0;
}

static void
pack_end(struct pack *p)
{
    runs_put(p);
    if (p->letter != NULL) {
        if (p->letter->bytes > 0)
            letter_send(p);
        spare[n_spare++] = p->letter;
        p->letter = NULL;
    }
    p->all = 0;
    n_packs--;
}

static struct pack *
pack_for(int home)
{
    struct pack *none = NULL;

    for (struct pack *p = pack; p < pack + HOMES; p++) {
        if (p->all > 0 && p->home == home)
            return p;
        if (p->all == 0)
            none = p;
    }
    if (none == NULL) {
        none = &pack[turn++ % HOMES];
        pack_end(none);
    }
    none->home = home;
    n_packs++;
    return none;
}

static void
letter_add(struct pack *p, size_t offset, const void *src, size_t len)
{
    uint64_t head = hearthi_run_head(offset, len);
    uint8_t *at;

    if (p->letter->bytes + sizeof head + len > room)
        letter_send(p);
    at = p->letter->body + p->letter->bytes;
    memcpy(at, &head, sizeof head);
    hearthi_run_copy(at + sizeof head, src, len);
    p->letter->bytes += sizeof head + len;
}

/* Another home's pack may have to give its letter up. */
static void
letter_begin(struct pack *p)
{
    for (int i = 0; n_spare == 0; i++)
        if (pack[i].letter != NULL)
            pack_end(&pack[i]);
    p->letter = spare[--n_spare];
    for (size_t i = 0; i < p->n; i++)
        letter_add(p, p->run[i].offset, p->run[i].src, p->run[i].len);
    p->n = 0;
}

static void
run_add(int home, size_t offset, const void *src, size_t len)
{
    struct pack *p = last;

    if (p->all == 0 || p->home != home)
        p = last = pack_for(home);
    p->all++;
    if (p->letter == NULL && p->all > hearthi_opt.put_runs)
        letter_begin(p);
    if (p->letter != NULL) {
        letter_add(p, offset, src, len);
        return;
    }
    if (p->n == RUNS)
        runs_put(p);
    p->run[p->n++] = (struct run){ offset, len, src };
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

void
hearthi_mpi_flush(void)
{
    for (int i = 0; n_packs > 0; i++)
        if (pack[i].all > 0)
            pack_end(&pack[i]);
    hearthi_puts_wait();
    if (packing)
        hearthi_mail_wait();
}

/* The value leaves from here later, so no two that are under way share a
 * place. */
void
hearthi_mpi_tell(int home)
{
    enum { PLACES = 256 };
    static uint64_t     value[PLACES];
    static unsigned     place;
    uint64_t           *v = &value[++place % PLACES];
    struct hearthi_told told = hearthi_told_next();

    *v = told.value;
    hearthi_put(home, told.at, v, sizeof *v);
}
