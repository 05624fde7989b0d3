/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a call pins of the heap: ranges of addresses, pinned as long as the
 * call, or the operation that it has begun, goes on (request_pins.h).  A
 * message may be received aside instead, in private memory, and be written
 * through to the homes of the pages that it belongs into (api/api_pin.h).
 */
#ifndef HEARTHI_BUFFER_PIN_H
#define HEARTHI_BUFFER_PIN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "space/heap.h"

/* Ranges, and where they wait for their end (request_pins.h). */
struct hearthi_buffer_pin {
    const char                *call;
    struct hearthi_buffer_pin *next;
    int                        kind;
    uintptr_t                  key;
    intptr_t                   more;
    MPI_Request                request; /* that the program has let go */
    bool                       persistent, pinned, alone;
    char                      *staged, *belongs; /* what is received aside */
    uint64_t                   allocation;       /* in which it belongs */
    MPI_Status                 status; /* that the program does not want */
    size_t                     n, room;
    struct hearthi_buffer_range {
        char  *at;
        size_t bytes;
        int    how; /* HEARTH_READ or HEARTH_WRITE */
    } * range;
};

/* An empty use; NULL if this thread is inside MPI already, so that the call
 * that the program has made speaks for all, or if no holds are wanted. */
struct hearthi_buffer_pin *hearthi_buffer_pin_begin(const char *call);

/* Add what lies in the heap of these bytes. */
void hearthi_buffer_pin_bytes(struct hearthi_buffer_pin *u, int how,
                              const void *p, size_t bytes);

/* The same where nobody knows how many: what its allocation has behind it, 1
 * MiB at most. */
void hearthi_buffer_pin_behind(struct hearthi_buffer_pin *u, int how,
                               const void *p);

/* Pin all of it, and no longer. */
void hearthi_buffer_pin_take(struct hearthi_buffer_pin *u);
void hearthi_buffer_unpin(struct hearthi_buffer_pin *u);

/* As long as this goes on, no thread of Hearth's enters MPI. */
void hearthi_buffer_pin_alone(struct hearthi_buffer_pin *u);

/* Drop the ranges of this use and of those chained to it, and forget them. */
void hearthi_buffer_pin_end(struct hearthi_buffer_pin *u);

/* ---- received aside ---- */

/* Can a call that blocks receive these elements aside?  If so *buf is there
 * afterwards, and *status somewhere. */
bool hearthi_staged_recv(struct hearthi_buffer_pin *u, void **buf, MPI_Count count,
                         MPI_Datatype type, MPI_Status **status);

/* The call has returned: what came goes where it belongs. */
void hearthi_staged_recv_end(struct hearthi_buffer_pin *u, int code,
                             const MPI_Status *status);

#endif
