/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a call touches of the heap: ranges of addresses, from buffers, counts
 * and datatypes, held as long as the call, or the operation that it has begun,
 * goes on.
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
    bool                       persistent, held, alone;
    char      *aside, *belongs; /* what is received aside (staged_recv.h) */
    uint64_t   allocation;      /* in which it belongs */
    MPI_Status status;          /* that the program does not want */
    size_t     n, room;
    struct hearthi_buffer_range {
        char  *at;
        size_t bytes;
        int    how; /* HEARTH_READ or HEARTH_WRITE */
    } * range;
};

/* Addresses in a type may be absolute. */
static inline bool
hearthi_touched(const void *p)
{
    return hearthi_in_heap(p) | (p == MPI_BOTTOM);
}

/* An empty use; NULL if this thread is inside MPI already, so that the call
 * that the program has made speaks for all, or if nobody wants holds. */
struct hearthi_buffer_pin *hearthi_buffer_pin_begin(const char *call);

/* These add what lies in the heap.  Counts are of elements; MPI_IN_PLACE adds
 * nothing. */
void hearthi_buffer_pin_bytes(struct hearthi_buffer_pin *u, int how,
                              const void *p, size_t bytes);
void hearthi_buffer_pin(struct hearthi_buffer_pin *u, int how, const void *buf,
                        MPI_Count count, MPI_Datatype type);

/* n pieces; so are the arrays themselves, which MPI reads. */
void hearthi_buffer_pin_v(struct hearthi_buffer_pin *u, int how,
                          const void *buf, const int *counts,
                          const int *displs, MPI_Datatype type, MPI_Count n);
void hearthi_buffer_pin_w(struct hearthi_buffer_pin *u, int how,
                          const void *buf, const int *counts,
                          const int *displs, const MPI_Datatype *types,
                          MPI_Count n);
void hearthi_buffer_pin_x(struct hearthi_buffer_pin *u, int how,
                          const void *buf, const int *counts,
                          const MPI_Aint *displs, const MPI_Datatype *types,
                          MPI_Count n);

/* Hold all of it, and no longer. */
void hearthi_buffer_pin_take(struct hearthi_buffer_pin *u);
void hearthi_buffer_unpin(struct hearthi_buffer_pin *u);

/* As long as this goes on, no thread of Hearth's enters MPI. */
void hearthi_buffer_pin_alone(struct hearthi_buffer_pin *u);

/* Drop the ranges of this use and of those chained to it, and forget them. */
void hearthi_buffer_pin_end(struct hearthi_buffer_pin *u);

#endif
