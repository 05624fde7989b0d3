/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTHI_TMK_SCHED_H
#define HEARTHI_TMK_SCHED_H

/* Collective. */
void hearthi_tmk_sched_open(void);

#endif
