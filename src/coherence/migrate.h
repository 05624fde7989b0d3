/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages that move, or become new, at the end of a barrier.
 */
#ifndef HEARTHI_MIGRATE_H
#define HEARTHI_MIGRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At the end of a barrier in which some rank asked for it, on every rank:
 * pages move to the ranks that ask for them (migrate_request.h). */
void hearthi_migrate(void);

/* ---- the vote ----
 *
 * What all ranks ask for in a barrier (migrate_request.h), and what each says
 * to that: the same everywhere once they have agreed. */

/* What a rank asks for: the i-th of all, before which there are so many pages.
 */
struct hearthi_migrate_vote {
    size_t   i, before;
    uint64_t page, count;
    int      by;
};

/* Collective; true if anything is asked for, and then to be ended. */
bool hearthi_migrate_vote_begin(void);
void hearthi_migrate_vote_end(void);

/* In the same order on all ranks. */
typedef void hearthi_migrate_vote_do(const struct hearthi_migrate_vote *a);
void         hearthi_migrate_vote_each(hearthi_migrate_vote_do *f);

/* This rank refuses it, or has a copy of a page of the one that is looked at.
 */
void hearthi_migrate_vote_refuse(const struct hearthi_migrate_vote *a);
void hearthi_migrate_vote_share(uint64_t page);

/* Collective: from now on what one rank has said, all have. */
void hearthi_migrate_vote_agree(void);

bool hearthi_migrate_vote_is_refused(const struct hearthi_migrate_vote *a);
bool
hearthi_migrate_vote_is_refused_here(const struct hearthi_migrate_vote *a);
bool hearthi_migrate_vote_is_shared(uint64_t page);

/* ---- messages ----
 *
 * What all ranks tell each other inside a barrier, by messages of MPI's that
 * have tags of their own: so they go beside the collective calls of another
 * thread, which come in another order on each rank.  One thread at a time. */

/* So many bytes of each rank. */
void hearthi_barrier_gather(const void *mine, size_t bytes, void *all);

/* Bits that any rank has set.  All ranks have come when it returns. */
void hearthi_barrier_or(uint8_t *bits, size_t bytes);

#endif
