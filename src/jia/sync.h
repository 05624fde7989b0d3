/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A start without locks held and without counters of GSINIT.
 */
#ifndef HEARTHI_JIA_SYNC_H
#define HEARTHI_JIA_SYNC_H

void hearthi_jia_sync_open(void);

#endif
