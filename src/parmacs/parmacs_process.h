/* SPDX-License-Identifier: BSD-2-Clause
 *
 * CREATE and WAIT_FOR_END: rank 0 goes on with main(), and the others wait at
 * the first CREATE for what it tells them to run.  They take turns in ends as
 * in beginnings: what one wrote before CREATE, and another until its work was
 * done, is released before the message and acquired behind it.
 */
#ifndef HEARTHI_PARMACS_PROCESS_H
#define HEARTHI_PARMACS_PROCESS_H

/* main() is over, or the work of this rank left by exit(3): wait until nobody
 * will be told to run anything. */
void hearthi_parmacs_processes_end(void);

#endif
