/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "staged_recv.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "api/api_pin.h"
#include "api/write_through.h"
#include "front/buffer_pin.h"
#include "space/heap.h"

/* What comes of such elements, if it is less than there is room for, are the
 * first bytes.  One of several elements may leave gaps. */
static bool
type_is_plain(MPI_Datatype type, MPI_Count *size)
{
    int       ints, aints, types, combiner;
    MPI_Count least, extent;

    if (type == MPI_DATATYPE_NULL)
        return false;
    PMPI_Type_get_envelope(type, &ints, &aints, &types, &combiner);
    PMPI_Type_get_extent_x(type, &least, &extent);
    PMPI_Type_size_x(type, size);
    return combiner == MPI_COMBINER_NAMED && least == 0 && extent == *size;
}

/* One stays, so that each large message does not get memory from the kernel
 * anew; what is longer is fetched, twinned and received where it belongs,
 * which then costs less. */
enum { LONGEST = 16 << 20 };
static char       *kept;
static atomic_bool kept_taken;

static char *
memory_take(size_t bytes)
{
    if (atomic_exchange(&kept_taken, true))
        return malloc(bytes);
    if (kept == NULL)
        kept = hearthi_sparse(LONGEST);
    return kept;
}

static void
memory_give(char *p)
{
    if (p == kept)
        kept_taken = false;
    else
        free(p);
}

bool
hearthi_staged_recv(struct hearthi_buffer_pin *u, void **buf, int count,
                    MPI_Datatype type, MPI_Status **status)
{
    MPI_Count size;
    size_t    bytes;

    if (count <= 0 || !hearthi_in_heap(*buf) || !type_is_plain(type, &size))
        return false;
    bytes = (size_t)count * (size_t)size;
    if (bytes < hearthi_heap.page || bytes > LONGEST)
        return false;
    u->allocation = hearthi_mostly_absent(u->call, *buf, bytes);
    u->aside = u->allocation != 0 ? memory_take(bytes) : NULL;
    if (u->aside == NULL)
        return false;
    u->belongs = *buf;
    *buf = u->aside;
    if (*status == MPI_STATUS_IGNORE)
        *status = &u->status;
    return true;
}

/* After an error nobody knows what is there. */
void
hearthi_staged_recv_end(struct hearthi_buffer_pin *u, int code,
                        const MPI_Status *status)
{
    MPI_Count bytes = 0;

    if (u->aside == NULL)
        return;
    if (code == MPI_SUCCESS)
        PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    if (bytes > 0)
        hearthi_write_through(u->call, u->allocation, u->belongs, u->aside,
                              (size_t)bytes);
    memory_give(u->aside);
}
