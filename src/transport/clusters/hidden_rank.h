/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The handler as a rank of its own (HEARTH_GATEWAY=rank), as Nanri and others
 * have it.  The program does not see it: it is the last rank of the job, a
 * node of its own, and never returns from hearth_init().  It opens the layers
 * that reach homes, and no others; and later it joins in what all ranks of the
 * job must do together, which the first of them tells by way of the handler.
 */
#ifndef HEARTHI_HIDDEN_RANK_H
#define HEARTHI_HIDDEN_RANK_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "wan_message.h"

/* The ranks of comm, which is freed, with that one at the end: the last of
 * those that are `here`, on the gateway's machine, or of all.  Collective. */
MPI_Comm hearthi_hidden_rank_last(MPI_Comm comm, bool here);

/* ---- on the ranks that the program sees ---- */

/* All of this cluster are about to make frames reachable, or to close the
 * transport.  Nothing, where the handler is a thread. */
void hearthi_hidden_rank_exposes(uint64_t frames);
void hearthi_hidden_rank_closes(void);

/* What it has counted since the last time counts as the first rank's.  Local.
 */
void hearthi_hidden_rank_counts(void);

/* ---- on that one ---- */

/* Join in, until the transport is to be closed. */
void hearthi_hidden_rank_serve(void);

/* ---- on the handler's thread ---- */

void hearthi_hidden_rank_take(const struct hearthi_wan_message *msg);
void hearthi_hidden_rank_close(void);

#endif
