/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTHI_COHERENCE_MOVE_H
#define HEARTHI_COHERENCE_MOVE_H

/* At the end of a barrier in which some rank asked for it, on every rank:
 * pages move to those who ask for them (wish.h). */
void hearthi_move(void);

#endif
