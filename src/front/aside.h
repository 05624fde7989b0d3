/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages that are received aside, in private memory, and written through to
 * the homes of the pages that they belong into (api/through.h).
 */
#ifndef HEARTHI_ASIDE_H
#define HEARTHI_ASIDE_H

#include <mpi.h>
#include <stdbool.h>

struct hearthi_use;

/* Can a call that blocks receive these elements aside?  If so *buf is there
 * afterwards, and *status somewhere. */
bool hearthi_aside(struct hearthi_use *u, void **buf, int count,
                   MPI_Datatype type, MPI_Status **status);

/* The call has returned: what came goes where it belongs. */
void hearthi_aside_end(struct hearthi_use *u, int code,
                       const MPI_Status *status);

#endif
