/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a transport (transport.h) does with the memory of homes: pages that
 * come, diffs and words that go.
 */
#ifndef HEARTHI_DATA_OPS_H
#define HEARTHI_DATA_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "atomic_op.h"

/* A run of pages with one home and neighbouring frames, there and here. */
struct hearthi_fetch {
    uint64_t page;
    uint32_t count;
    int      home;
    uint64_t frame;
    char    *to;       /* the system view of their cached frames */
    bool     announce; /* set the pages' sharer flags at the home as well */

    /* So many pages behind them, of the same home and at neighbouring frames,
     * will probably be fetched next; their flags.  To a transport that can
     * bring them nearer it is a hint. */
    bool     announce_behind;
    uint32_t behind;
};

/* Fetches at a time, beside one another; the last way is for ranks of other
 * clusters. */
enum { HEARTHI_WAYS = 16, HEARTHI_WAY_BESIDE = HEARTHI_WAYS - 1 };

struct hearthi_data_ops {
    /* fetch brings n runs to where their cached frames are, and sets their
     * sharer flags if asked, in any order.  Blocks until all that has
     * happened, and what was told before has arrived: nothing is written there
     * after it returns, for then the frames may belong to other pages. */
    void (*fetch)(const struct hearthi_fetch *run, size_t n);

    /* fetch_concurrent does the same for several threads at a time, each with
     * a way of its own (below HEARTHI_WAYS), beside all other calls; but what
     * was told may arrive later. */
    void (*fetch_concurrent)(int way, const struct hearthi_fetch *run,
                             size_t n);

    /* fetch_begin does what fetch_concurrent does on the first way, and need
     * not wait: true if it did not, as the program had better go on meanwhile.
     * Then fetch_end blocks until all of it has happened.  Under the lock of
     * the page table, one after the other, but by any thread. */
    bool (*fetch_begin)(const struct hearthi_fetch *run, size_t n);
    void (*fetch_end)(void);

    /* diff brings changed bytes to an offset of home's segment, some time
     * before the next flush returns; src stays untouched until then.  What
     * sends messages of its own cuts no aligned word of 8 bytes
     * (word_split.h). */
    void (*diff)(int home, size_t offset, const void *src, size_t len);

    /* patch does that for many runs: bytes of blocks of 64 whose bits are set
     * in a block's mask, of the first byte the lowest one.  False: nothing was
     * done, and they are to come by diff.  May be NULL. */
    bool (*patch)(int home, size_t offset, const char *src,
                  const uint64_t *mask, size_t blocks, size_t runs);

    /* store does what diff does, beside all other calls, by one thread; and
     * stored blocks until all of that has arrived. */
    void (*store)(int home, size_t offset, const void *src, size_t len);
    void (*stored)(void);

    /* notify changes this rank's word in home's segment, some time before the
     * next flush or fetch returns, to a value that it never had (segment.h).
     */
    void (*notify)(int home);

    /* flush blocks until every diff has arrived. */
    void (*flush)(void);

    /* forget: no page of a run (count may be HEARTHI_INVALIDATE_ALL) is
     * fetched from here on as it was before this call, wherever it is kept on
     * its way.  NULL: it is kept nowhere.  Under the lock of the page
     * table. */
    void (*forget)(uint64_t page, uint32_t count);

    /* One atomic step on a word of home's segment, aligned to its size; gives
     * what was there.  Atomic to all other steps on that word that come this
     * way, of all ranks and threads, as long as they are as wide; bytes beside
     * it stay as they are, whichever ranks store to them meanwhile.  Blocks.
     */
    uint64_t (*atomic)(int home, size_t offset,
                       const struct hearthi_atomic_op *s);

    /* all_steps: atomic does steps of all kinds, and not only the first three
     * (atomic_op.h). */
    bool all_steps;

    /* post does the adds of a run some time before the next flush returns,
     * each as atomic as a step.  Under the lock of the page table.  False:
     * nothing was done, and they are to come by adds.  May be NULL. */
    bool (*post)(const struct hearthi_add_run *run);

    /* adds does many adds, of each home at most one run, in any order.  Each
     * is as atomic as a step.  Blocks until all are done. */
    void (*adds)(const struct hearthi_add_run *run, size_t n);
};

#endif
