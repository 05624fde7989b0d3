/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Processes take their numbers from a count under a lock, when CREATE has made
 * them: in the order of ranks, so that what main() meant for process r on
 * every rank is meant for rank r.  So rank r enters its work when rank r - 1
 * has left its first critical section, or waits for something else, or has
 * done.
 */
#ifndef HEARTHI_PARMACS_ENTRY_H
#define HEARTHI_PARMACS_ENTRY_H

#include <stddef.h>

/* Wait until it is this rank's turn; every rank enters once a round. */
void hearthi_parmacs_entry_begin(void);

/* Let the next one enter, unless it was let in this round. */
void hearthi_parmacs_entry_pass(void);

/* A message of no bytes, or of some. */
enum { HEARTHI_TAG_ORDER = 1, HEARTHI_TAG_ENTER, HEARTHI_TAG_DONE };
void hearthi_parmacs_send(const void *at, size_t bytes, int to, int tag);
void hearthi_parmacs_receive(void *at, size_t bytes, int from, int tag);

#endif
