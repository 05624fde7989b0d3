/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What all ranks ask for in a barrier (migrate_request.h), and what each says
 * to that: the same everywhere once they have agreed.
 */
#ifndef HEARTHI_MIGRATE_VOTE_H
#define HEARTHI_MIGRATE_VOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Collective: from now on what somebody has said, all have. */
void hearthi_migrate_vote_agree(void);

bool hearthi_migrate_vote_is_refused(const struct hearthi_migrate_vote *a);
bool
hearthi_migrate_vote_is_refused_here(const struct hearthi_migrate_vote *a);
bool hearthi_migrate_vote_is_shared(uint64_t page);

#endif
