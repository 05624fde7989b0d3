/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Critical sections, and a start outside of them without counters of GSINIT.
 */
#ifndef HEARTHI_JIA_SYNC_H
#define HEARTHI_JIA_SYNC_H

void hearthi_jia_sync_open(void);

/* Calls that wait for all hosts start with this: hearthi_jia_require(), and
 * the thread must hold no lock. */
void hearthi_jia_outside(const char *call);

#endif
