/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTHI_TURN_H
#define HEARTHI_TURN_H

/* Groups of one job make their windows one after the other.  Collective. */
void hearthi_turn_begin(void);
void hearthi_turn_end(void);

#endif
