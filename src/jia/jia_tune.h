/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The clock of jia.h, and the balancing of load.
 */
#ifndef HEARTHI_JIA_TUNE_H
#define HEARTHI_JIA_TUNE_H

void hearthi_jia_tune_open(void);
void hearthi_jia_tune_close(void);

/* LOADBAL: time between these two is waiting, not computing. */
void hearthi_jia_load_pause(void);
void hearthi_jia_load_resume(void);

#endif
