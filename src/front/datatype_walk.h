/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which addresses the buffers of a call of MPI cover, by counts, displacements
 * and datatypes.
 */
#ifndef HEARTHI_DATATYPE_WALK_H
#define HEARTHI_DATATYPE_WALK_H

#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#include "front/buffer_pin.h"
#include "space/heap.h"

/* Addresses in a type may be absolute. */
static inline bool
hearthi_touched(const void *p)
{
    return hearthi_in_heap(p) | (p == MPI_BOTTOM);
}

/* These add what lies in the heap.  Counts are of elements; MPI_IN_PLACE adds
 * nothing. */
void hearthi_buffer_pin(struct hearthi_buffer_pin *u, int how, const void *buf,
                        MPI_Count count, MPI_Datatype type);

/* An array of counts or displacements: int, MPI_Aint or MPI_Count. */
struct hearthi_numbers {
    const void *at;
    size_t      size; /* of one */
};

#define HEARTHI_ARRAY(array)   \
    (struct hearthi_numbers)     \
    {                            \
        (array), sizeof *(array) \
    }

static inline MPI_Count
hearthi_number(struct hearthi_numbers array, MPI_Count i)
{
    const char *at = (const char *)array.at + (size_t)i * array.size;
    int         small;
    int64_t     large;

    if (array.size == sizeof small) {
        memcpy(&small, at, sizeof small);
        return small;
    }
    memcpy(&large, at, sizeof large);
    return large;
}

_Static_assert(sizeof(MPI_Count) == sizeof(int64_t), "a number's two sizes");

/* n pieces; so are the arrays themselves, which MPI reads.  Displacements are
 * in elements, and with a type each in bytes. */
void hearthi_buffer_pin_v(struct hearthi_buffer_pin *u, int how,
                          const void *buf, struct hearthi_numbers counts,
                          struct hearthi_numbers displs, MPI_Datatype type,
                          MPI_Count n);
void hearthi_buffer_pin_w(struct hearthi_buffer_pin *u, int how,
                          const void *buf, struct hearthi_numbers counts,
                          struct hearthi_numbers displs,
                          const MPI_Datatype *types, MPI_Count n);

#endif
