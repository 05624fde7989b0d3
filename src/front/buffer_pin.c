/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "buffer_pin.h"

#include <stdlib.h>

#include "api/api_pin.h"
#include "base/mpi_call.h"
#include "base/mpi_call.h"
#include "base/option.h"
#include "base/report.h"
#include "coherence/lock_recall.h"
#include "front/datatype_walk.h"
#include "front/request_pins.h"
#include "hearth/hearth.h"
#include "home/home.h"
#include "page/page.h"
#include "world.h"

enum { ROOM = 4 };

struct hearthi_buffer_pin *
hearthi_buffer_pin_begin(const char *call)
{
    struct hearthi_buffer_pin *u;

    if (hearthi_mpi_call != NULL || !hearthi_world.up ||
        !hearthi_opt.interpose)
        return NULL;
    hearthi_orphans_look();
    u = calloc(1, sizeof *u);
    if (u == NULL)
        hearthi_fatal(call, "no memory to note its buffers");
    u->call = call;
    return u;
}

static void
range_add(struct hearthi_buffer_pin *u, struct hearthi_buffer_range r)
{
    if (u->n == u->room) {
        size_t                       room = u->room == 0 ? ROOM : 2 * u->room;
        struct hearthi_buffer_range *more =
            realloc(u->range, room * sizeof *more);

        if (more == NULL)
            hearthi_fatal(u->call,
                          "no memory to note %zu pieces of its "
                          "buffers",
                          room);
        u->range = more;
        u->room = room;
    }
    u->range[u->n++] = r;
}

/* Holds are of whole pages, so what shares a page with the piece before it,
 * or lies on the next one, is the same range. */
static bool
range_join(struct hearthi_buffer_range *last, char *from, char *to, int how)
{
    const size_t page = hearthi_heap.page;
    char        *begin = last->at, *end = begin + last->bytes;
    size_t       at = (size_t)(begin - hearthi_heap.base);
    char        *first = begin - at % page;
    char        *behind =
        end + (page - (size_t)(end - hearthi_heap.base) % page) % page;

    if (last->how != how || from > behind || to < first)
        return false;
    last->at = from < begin ? from : begin;
    last->bytes = (size_t)((to > end ? to : end) - last->at);
    return true;
}

void
hearthi_buffer_pin_bytes(struct hearthi_buffer_pin *u, int how, const void *p,
                         size_t bytes)
{
    char *heap = hearthi_heap.base, *top = heap + hearthi_heap.bytes;
    char *from = (char *)p, *to = from + bytes;

    if (bytes == 0 || to <= heap || from >= top)
        return;
    if (from < heap)
        from = heap;
    if (to > top)
        to = top;
    if (u->n == 0 || !range_join(&u->range[u->n - 1], from, to, how))
        range_add(u, (struct hearthi_buffer_range){ from, (size_t)(to - from),
                                                    how });
}

static bool
is_address(const void *buf)
{
    return buf != MPI_IN_PLACE;
}

void
hearthi_buffer_pin(struct hearthi_buffer_pin *u, int how, const void *buf,
                   MPI_Count count, MPI_Datatype type)
{
    if (is_address(buf))
        hearthi_datatype_walk(u, how, (char *)buf, count, type);
}

/* MPI reads arrays of n elements that may lie in the heap themselves. */
static void
array_use(struct hearthi_buffer_pin *u, const void *array, MPI_Count n,
          size_t size)
{
    hearthi_buffer_pin_bytes(u, HEARTH_READ, array, (size_t)n * size);
}

void
hearthi_buffer_pin_v(struct hearthi_buffer_pin *u, int how, const void *buf,
                     const int *counts, const int *displs, MPI_Datatype type,
                     MPI_Count n)
{
    MPI_Count least, extent;

    if (!is_address(buf))
        return;
    array_use(u, counts, n, sizeof *counts);
    array_use(u, displs, n, sizeof *displs);
    PMPI_Type_get_extent_x(type, &least, &extent);
    for (MPI_Count i = 0; i < n; i++)
        hearthi_datatype_walk(u, how, (char *)buf + displs[i] * extent,
                              counts[i], type);
}

/* Of pieces with a type each; false if there are none. */
static bool
arrays_use(struct hearthi_buffer_pin *u, const void *buf, const int *counts,
           const void *displs, size_t displ, const MPI_Datatype *types,
           MPI_Count n)
{
    if (!is_address(buf))
        return false;
    array_use(u, counts, n, sizeof *counts);
    array_use(u, displs, n, displ);
    array_use(u, types, n, sizeof *types);
    return true;
}

void
hearthi_buffer_pin_w(struct hearthi_buffer_pin *u, int how, const void *buf,
                     const int *counts, const int *displs,
                     const MPI_Datatype *types, MPI_Count n)
{
    if (!arrays_use(u, buf, counts, displs, sizeof *displs, types, n))
        return;
    for (MPI_Count i = 0; i < n; i++)
        hearthi_datatype_walk(u, how, (char *)buf + displs[i], counts[i],
                              types[i]);
}

void
hearthi_buffer_pin_x(struct hearthi_buffer_pin *u, int how, const void *buf,
                     const int *counts, const MPI_Aint *displs,
                     const MPI_Datatype *types, MPI_Count n)
{
    if (!arrays_use(u, buf, counts, displs, sizeof *displs, types, n))
        return;
    for (MPI_Count i = 0; i < n; i++)
        hearthi_datatype_walk(u, how, (char *)buf + displs[i], counts[i],
                              types[i]);
}

/* A hold is of one allocation: cut a range where one ends.  What lies behind
 * the last byte of one, on its last page, is nobody's; a page in no allocation
 * is left for the hold to refuse. */
static void
range_hold(struct hearthi_buffer_pin *u, struct hearthi_buffer_range r)
{
    char *end = r.at + r.bytes;

    while (r.at < end) {
        char                            *stop = end, *next = end;
        const struct hearthi_allocation *a;

        hearthi_table_lock();
        a = hearthi_home_around(r.at);
        if (a != NULL) {
            stop = hearthi_app(a->page) + a->bytes;
            next = hearthi_app(a->page + a->pages);
        }
        hearthi_table_unlock();
        if (stop > end)
            stop = end;
        if (stop > r.at) {
            r.bytes = (size_t)(stop - r.at);
            hearthi_pin(u->call, r.at, r.bytes, r.how);
            range_add(u, r);
        }
        r.at = next;
    }
}

void
hearthi_buffer_pin_take(struct hearthi_buffer_pin *u)
{
    struct hearthi_buffer_range *range = u->range;
    size_t                       n = u->n;

    u->range = NULL;
    u->n = u->room = 0;
    u->held = true;
    for (size_t i = 0; i < n; i++)
        range_hold(u, range[i]);
    free(range);
}

void
hearthi_buffer_unpin(struct hearthi_buffer_pin *u)
{
    for (size_t i = 0; u->held && i < u->n; i++)
        hearthi_unpin(u->range[i].at, u->range[i].bytes, u->range[i].how);
    u->held = false;
}

void
hearthi_buffer_pin_alone(struct hearthi_buffer_pin *u)
{
    u->alone = true;
    hearthi_lock_recall_all();
    hearthi_mpi_exclusion_begin();
}

void
hearthi_buffer_pin_end(struct hearthi_buffer_pin *u)
{
    while (u != NULL) {
        struct hearthi_buffer_pin *next = u->next;

        hearthi_buffer_unpin(u);
        if (u->alone) {
            hearthi_mpi_exclusion_end();
            hearthi_lock_recall_resume();
        }
        free(u->range);
        free(u);
        u = next;
    }
}
