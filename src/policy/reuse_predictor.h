/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which copies that an acquire drops will be used again (page/reuse_prefetch.h
 * fetches those, and tells what became of it).
 *
 *   - A page is predicted that was used after each of its last drops, twice at
 *     first.  One that was brought and not used when it is dropped again has
 *     been a miss: after two in a row, or one at first, it has to be used more
 *     often until it is predicted again (4, 8, 15 times).  So what a program
 *     uses once, or by turns, is left alone.
 *   - All misses together cost credit, hits earn it; without any nothing is
 *     predicted for a while (HEARTH_PREDICT=auto).
 *   - A page that was used fifteen times in a row is opened as soon as it has
 *     come, but once in sixteen times: if it was not used then, nothing is
 *     opened so for some acquires, and all of it is checked.
 *
 * How a page was used so far, from one drop of its copy to the next, is its
 * reuse: a byte, 0 at first, that callers keep for each page and hand in.
 *
 * The table lock is held by callers.
 */
#ifndef HEARTHI_REUSE_PREDICTOR_H
#define HEARTHI_REUSE_PREDICTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pages that follow each other and are predicted. */
struct hearthi_reuse_span {
    uint64_t page, count;
};

/* After it is closed nothing is predicted. */
void hearthi_reuse_predictor_open(void);
void hearthi_reuse_predictor_close(void);

/* An acquire begins to drop copies; false if none of them will be predicted,
 * and it need not tell of them. */
bool hearthi_reuse_predictor_begin(void);

/* Its copy had been used when it was dropped: it is predicted if that tells
 * so, and if it may come. */
void hearthi_reuse_predictor_used(uint64_t page, uint8_t *reuse,
                                  bool may_come);

/* It was fetched in advance, and had not been used when it was dropped. */
void hearthi_reuse_predictor_missed(uint8_t *reuse);

/* So many that were fetched in advance are used. */
void hearthi_reuse_predictor_hit(uint64_t pages);

/* The acquire has dropped what it drops.  What is predicted is handed over:
 * how many spans, which stay until the next acquire begins. */
size_t hearthi_reuse_predictor_end(const struct hearthi_reuse_span **span);

/* Some of these pages are being fetched. */
void hearthi_reuse_predictor_fetched(void);

/* A page that has come is used always, and this fetch need not check it. */
bool hearthi_reuse_predictor_is_sure(uint64_t page, uint8_t reuse);

#endif
