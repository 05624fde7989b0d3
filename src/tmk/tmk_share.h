/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What processes tell each other of private variables, and which condition of
 * Hearth's is the one of a lock.
 */
#ifndef HEARTHI_TMK_SHARE_H
#define HEARTHI_TMK_SHARE_H

/* Collective. */
void hearthi_tmk_share_open(void);

/* After each acquire of whatever kind: take in what was distributed before. */
void hearthi_tmk_look(void);

/* The number of a lock's condition. */
int hearthi_tmk_cond(const char *call, unsigned lock, unsigned cond);

#endif
