/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages that are received aside, in private memory, and written through to
 * the homes of the pages that they belong into (api/write_through.h).
 */
#ifndef HEARTHI_STAGED_RECV_H
#define HEARTHI_STAGED_RECV_H

#include <mpi.h>
#include <stdbool.h>

struct hearthi_buffer_pin;

/* Can a call that blocks receive these elements aside?  If so *buf is there
 * afterwards, and *status somewhere. */
bool hearthi_staged_recv(struct hearthi_buffer_pin *u, void **buf, int count,
                         MPI_Datatype type, MPI_Status **status);

/* The call has returned: what came goes where it belongs. */
void hearthi_staged_recv_end(struct hearthi_buffer_pin *u, int code,
                             const MPI_Status *status);

#endif
