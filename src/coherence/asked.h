/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What all ranks ask for in a barrier (wish.h), and what each says to that:
 * the same everywhere once they have agreed.
 */
#ifndef HEARTHI_COHERENCE_ASKED_H
#define HEARTHI_COHERENCE_ASKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a rank asks for: the i-th of all, before which there are so many pages.
 */
struct hearthi_ask {
    size_t   i, before;
    uint64_t page, count;
    int      by;
};

/* Collective; true if anything is asked for, and then to be ended. */
bool hearthi_asked_begin(void);
void hearthi_asked_end(void);

/* In the same order on all ranks. */
typedef void hearthi_ask_do(const struct hearthi_ask *a);
void         hearthi_asked_each(hearthi_ask_do *f);

/* This rank refuses it, or has a copy of a page of the one that is looked at.
 */
void hearthi_ask_refuse(const struct hearthi_ask *a);
void hearthi_ask_share(uint64_t page);

/* Collective: from now on what somebody has said, all have. */
void hearthi_asked_agree(void);

bool hearthi_ask_is_refused(const struct hearthi_ask *a);
bool hearthi_ask_is_refused_here(const struct hearthi_ask *a);
bool hearthi_ask_is_shared(uint64_t page);

#endif
