/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A Put takes a microsecond however short it is, and a page whose every second
 * word has changed has 512 runs.  So the short runs of a release are gathered,
 * home by home.  Up to HEARTH_PUT_RUNS of them go by a Put each, since a
 * letter costs four round trips and the waking of a thread; more go in
 * letters.
 *
 * No byte is twice among the diffs of one flush, so it does not matter that a
 * Put and a letter, or two letters, of the same page pass each other.
 */
#include "config.h"

#include "pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/report.h"
#include "mail.h"
#include "space/heap.h"
#include "space/segment.h"
#include "transfer.h"

/* Runs of at least so many bytes always go by a Put of their own. */
enum { LONG_RUN = 512, PACKS = 4 };

struct pack {
    int                    home;
    uint64_t               runs;
    struct hearthi_letter *letter;
};

static struct pack  pack[PACKS];
static struct pack *last; /* that was added to */
static int          turn; /* which gives way next */
static bool         packing;
static size_t       room; /* in a letter */

void
hearthi_packs_open(bool packs)
{
    packing = packs;
    last = pack;
    room = hearthi_letter_room();
    for (int i = 0; packs && i < PACKS; i++)
        pack[i] = (struct pack){
            .letter = hearthi_sparse(hearthi_segments.letter),
        };
}

void
hearthi_packs_close(void)
{
    for (int i = 0; packing && i < PACKS; i++)
        hearthi_sparse_free(pack[i].letter, hearthi_segments.letter);
}

/* ---- what is gathered goes ---- */

/* They leave from the letter, which is written again only after a wait. */
static void
runs_put(const struct pack *p)
{
    const uint8_t *at = p->letter->body, *end = at + p->letter->bytes;

    for (size_t len; at < end; at += len) {
        uint64_t head;

        memcpy(&head, at, sizeof head);
        at += sizeof head;
        len = head & ((1 << HEARTHI_RUN_BITS) - 1);
        hearthi_put(p->home, (size_t)(head >> HEARTHI_RUN_BITS), at, len);
    }
    hearthi_puts_wait();
}

static void
pack_send(struct pack *p)
{
    if (p->runs > hearthi_opt.put_runs)
        hearthi_mail_send(p->home, p->letter);
    else
        runs_put(p);
    p->runs = 0;
    p->letter->bytes = 0;
}

static struct pack *
pack_for(int home)
{
    struct pack *p;

    for (p = pack; p < pack + PACKS; p++)
        if (p->runs > 0 && p->home == home)
            return p;
    for (p = pack; p < pack + PACKS; p++)
        if (p->runs == 0)
            break;
    if (p == pack + PACKS) {
        p = &pack[turn++ % PACKS];
        pack_send(p);
    }
    p->home = home;
    return p;
}

/* A word is the usual run. */
static inline void
bytes_copy(uint8_t *to, const void *from, size_t len)
{
    if (len == sizeof(uint64_t))
        memcpy(to, from, sizeof(uint64_t));
    else
        memcpy(to, from, len);
}

static void
run_add(int home, size_t offset, const void *src, size_t len)
{
    struct pack *p = last;
    uint64_t     head = hearthi_run_head(offset, len);
    uint8_t     *at;

    if (p->runs == 0 || p->home != home)
        p = last = pack_for(home);
    if (p->letter->bytes + sizeof head + len > room)
        pack_send(p);
    at = p->letter->body + p->letter->bytes;
    memcpy(at, &head, sizeof head);
    bytes_copy(at + sizeof head, src, len);
    p->letter->bytes += sizeof head + len;
    p->runs++;
}

/* ---- the transport's operations ---- */

void
hearthi_mpi_diff(int home, size_t offset, const void *src, size_t len)
{
    if (packing && len < LONG_RUN)
        run_add(home, offset, src, len);
    else
        hearthi_put(home, offset, src, len);
}

void
hearthi_mpi_flush(void)
{
    for (int i = 0; packing && i < PACKS; i++)
        if (pack[i].runs > 0)
            pack_send(&pack[i]);
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
