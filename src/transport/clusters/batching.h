/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who will ask at the same time.  Ranks whose answers have come from other
 * clusters in one moment mostly ask again in one moment, and then a message
 * that waits for them carries what all of them ask, and brings all their
 * answers back together.  Without this the first to ask goes alone, and so
 * does its answer, and ranks that ask all the time never meet.
 *
 * What waits is the message, for WAIT after those answers at most; a rank that
 * asks alone waits for nobody.  On the gateway's thread.
 */
#ifndef HEARTHI_BATCHING_H
#define HEARTHI_BATCHING_H

#include <stdbool.h>
#include <stddef.h>

/* Of so many connections. */
void hearthi_batching_open(size_t n);
void hearthi_batching_close(void);

/* An answer of another cluster goes to one of them; and it has asked. */
void hearthi_batching_answered(size_t connection);
void hearthi_batching_asked(size_t connection);

/* Others may ask in this moment. */
bool hearthi_batching_expected(void);

#endif
