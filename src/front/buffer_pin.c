/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "buffer_pin.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "api/api_pin.h"
#include "base/assert.h"
#include "base/mpi_call.h"
#include "base/option.h"
#include "base/report.h"
#include "coherence/lock_recall.h"
#include "front/datatype_contents.h"
#include "front/mpi_next.h"
#include "front/request_pins.h"
#include "hearth/hearth.h"
#include "home/home.h"
#include "page/page.h"
#include "space/heap.h"
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
    HEARTHI_ASSERT(u->n < u->room && r.bytes > 0 && hearthi_in_heap(r.at));
    u->range[u->n++] = r;
}

/* Pins are of whole pages, so what shares a page with the piece before it,
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

void
hearthi_buffer_pin_behind(struct hearthi_buffer_pin *u, int how, const void *p)
{
    enum { MOST = 1 << 20 };
    size_t bytes;

    if (!hearthi_in_heap(p))
        return;
    hearthi_table_lock();
    bytes = hearthi_bytes_behind(p);
    hearthi_table_unlock();
    hearthi_buffer_pin_bytes(u, how, p, bytes < MOST ? bytes : MOST);
}

/* A pin is of one allocation: cut a range where one ends.  What lies behind
 * the last byte of one, on its last page, belongs to no allocation; a page in
 * no allocation is left for the pin to refuse. */
static void
range_pin(struct hearthi_buffer_pin *u, struct hearthi_buffer_range r)
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
    HEARTHI_ASSERT(!u->pinned);
    u->pinned = true;
    for (size_t i = 0; i < n; i++)
        range_pin(u, range[i]);
    free(range);
}

void
hearthi_buffer_unpin(struct hearthi_buffer_pin *u)
{
    for (size_t i = 0; u->pinned && i < u->n; i++)
        hearthi_unpin(u->range[i].at, u->range[i].bytes, u->range[i].how);
    u->pinned = false;
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

/* ---- received aside ---- */

/* What comes of such elements, if it is less than there is room for, are the
 * first bytes.  One of several elements may leave gaps. */
static bool
type_is_plain(MPI_Datatype type, MPI_Count *size)
{
    MPI_Count least, extent;

    if (type == MPI_DATATYPE_NULL)
        return false;
    hearthi_next_pmpi.Type_get_extent_x(type, &least, &extent);
    hearthi_next_pmpi.Type_size_x(type, size);
    return hearthi_type_is_named(type) && least == 0 && extent == *size;
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
hearthi_staged_recv(struct hearthi_buffer_pin *u, void **buf, MPI_Count count,
                    MPI_Datatype type, MPI_Status **status)
{
    MPI_Count size;
    size_t    bytes;

    if (count <= 0 || count > LONGEST || !hearthi_in_heap(*buf) ||
        !type_is_plain(type, &size))
        return false;
    bytes = (size_t)count * (size_t)size;
    if (bytes < hearthi_heap.page || bytes > LONGEST)
        return false;
    u->allocation = hearthi_mostly_absent(u->call, *buf, bytes);
    u->staged = u->allocation != 0 ? memory_take(bytes) : NULL;
    if (u->staged == NULL)
        return false;
    u->belongs = *buf;
    *buf = u->staged;
    if (*status == MPI_STATUS_IGNORE)
        *status = &u->status;
    return true;
}

/* After an error it is not known what is there. */
void
hearthi_staged_recv_end(struct hearthi_buffer_pin *u, int code,
                        const MPI_Status *status)
{
    MPI_Count bytes = 0;

    if (u->staged == NULL)
        return;
    if (code == MPI_SUCCESS)
        hearthi_next_pmpi.Get_elements_x(status, MPI_BYTE, &bytes);
    if (bytes > 0)
        hearthi_write_through(u->call, u->allocation, u->belongs, u->staged,
                              (size_t)bytes);
    memory_give(u->staged);
}
