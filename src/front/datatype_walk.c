/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "datatype_walk.h"

#include <stdbool.h>
#include <stdlib.h>

#include "front/datatype_contents.h"
#include "front/mpi_next.h"
#include "hearth/hearth.h"

/* A type as far as it matters here.  `whole`: it has no gap of a page or more,
 * or cannot be taken apart. */
struct part {
    struct hearthi_buffer_pin *u;
    int                        how;
    MPI_Datatype               type;
    MPI_Count                  extent; /* from one element to the next */
    MPI_Count first, bytes;            /* what one covers, gaps included */
    bool      empty, whole;
};

static void elements_use(const struct part *p, char *at, MPI_Count n);

static struct part
part_of(struct hearthi_buffer_pin *u, int how, MPI_Datatype type)
{
    struct part p = { .u = u, .how = how, .type = type, .empty = true };
    MPI_Count   least, size;

    if (type == MPI_DATATYPE_NULL)
        return p;
    hearthi_next_pmpi.Type_get_extent_x(type, &least, &p.extent);
    hearthi_next_pmpi.Type_get_true_extent_x(type, &p.first, &p.bytes);
    hearthi_next_pmpi.Type_size_x(type, &size);
    p.empty = size <= 0;
    p.whole = p.bytes <= size || p.bytes <= (MPI_Count)hearthi_heap.page;
    return p;
}

static bool
outside(const char *from, MPI_Count bytes)
{
    return from + bytes <= hearthi_heap.base ||
           from >= hearthi_heap.base + hearthi_heap.bytes;
}

/* ---- taking apart ---- */

/* Blocks of the same length, or each of its own: in which unit displacements
 * are, elements or bytes, and where they stand, follows from the combiner. */
static void
blocks_use(const struct part *p, const struct hearthi_contents *c, char *at)
{
    bool one = c->combiner == MPI_COMBINER_INDEXED_BLOCK ||
               c->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    MPI_Count        n = c->numbers[0];
    const MPI_Count *places = c->numbers + (one ? 2 : 1 + n);

    for (MPI_Count i = 0; i < n; i++) {
        MPI_Count there =
            c->places != NULL ? c->places[i] : places[i] * p->extent;

        elements_use(p, at + there, c->numbers[one ? 1 : 1 + i]);
    }
}

static void
vector_use(const struct part *p, const struct hearthi_contents *c, char *at)
{
    MPI_Count stride =
        c->places != NULL ? c->places[0] : c->numbers[2] * p->extent;

    for (MPI_Count i = 0; i < c->numbers[0]; i++)
        elements_use(p, at + i * stride, c->numbers[1]);
}

static void
struct_use(struct hearthi_buffer_pin *u, int how,
           const struct hearthi_contents *c, char *at)
{
    for (MPI_Count i = 0; i < c->numbers[0]; i++) {
        struct part p = part_of(u, how, c->types[i]);

        elements_use(&p, at + c->places[i], c->numbers[1 + i]);
    }
}

/* Rows along the dimension whose elements lie one behind the other, at every
 * place of the other dimensions.  `dim` counts from the one that moves
 * slowest. */
static void
subarray_use(const struct part *p, const struct hearthi_contents *c, int dim,
             char *at)
{
    int              dims = (int)c->numbers[0];
    const MPI_Count *sizes = c->numbers + 1, *subsizes = sizes + dims;
    const MPI_Count *starts = subsizes + dims;
    bool             c_order = c->numbers[1 + 3 * dims] == MPI_ORDER_C;
    int              d = c_order ? dim : dims - 1 - dim;
    MPI_Count        stride = p->extent;

    for (int i = dim + 1; i < dims; i++)
        stride *= sizes[c_order ? i : dims - 1 - i];
    at += starts[d] * stride;
    if (dim == dims - 1) {
        elements_use(p, at, subsizes[d]);
        return;
    }
    for (MPI_Count i = 0; i < subsizes[d]; i++)
        subarray_use(p, c, dim + 1, at + i * stride);
}

static void
bytes_use(const struct part *p, char *at)
{
    hearthi_buffer_pin_bytes(p->u, p->how, at + p->first, (size_t)p->bytes);
}

/* One element that has gaps.  Distributed arrays, and types of MPI's own, are
 * held as they are: such an array lies in one allocation. */
static void
element_use(const struct part *whole, char *at)
{
    struct hearthi_contents c;
    struct part             p;

    if (outside(at + whole->first, whole->bytes))
        return;
    if (!hearthi_contents_get(&c, whole->u->call, whole->type)) {
        bytes_use(whole, at);
        return;
    }
    p = part_of(whole->u, whole->how, c.types[0]);
    switch (c.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: elements_use(&p, at, 1); break;
    case MPI_COMBINER_CONTIGUOUS: elements_use(&p, at, c.numbers[0]); break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR: vector_use(&p, &c, at); break;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK: blocks_use(&p, &c, at); break;
    case MPI_COMBINER_STRUCT: struct_use(whole->u, whole->how, &c, at); break;
    case MPI_COMBINER_SUBARRAY: subarray_use(&p, &c, 0, at); break;
    default: bytes_use(whole, at);
    }
    hearthi_contents_free(&c);
}

static MPI_Count
magnitude(MPI_Count n)
{
    return n < 0 ? -n : n;
}

static void
elements_use(const struct part *p, char *at, MPI_Count n)
{
    MPI_Count reach = (n - 1) * p->extent;
    MPI_Count from = p->first + (reach < 0 ? reach : 0);
    MPI_Count bytes = p->bytes + magnitude(reach);
    MPI_Count gap = magnitude(p->extent) - p->bytes;

    if (n <= 0 || p->empty || outside(at + from, bytes))
        return;
    if (p->whole && (n == 1 || gap < (MPI_Count)hearthi_heap.page)) {
        hearthi_buffer_pin_bytes(p->u, p->how, at + from, (size_t)bytes);
        return;
    }
    for (MPI_Count i = 0; i < n; i++) {
        if (p->whole)
            bytes_use(p, at + i * p->extent);
        else
            element_use(p, at + i * p->extent);
    }
}

/* Add what count elements at `at` cover of the heap.  A type with gaps of a
 * page and more is taken apart, so that pages that it does not touch are not
 * pinned: some of them may be in no allocation, and a column of a large matrix
 * must not bring the whole of it here. */
static void
walk(struct hearthi_buffer_pin *u, int how, char *at, MPI_Count count,
     MPI_Datatype type)
{
    struct part p;

    if (count <= 0)
        return;
    p = part_of(u, how, type);
    elements_use(&p, at, count);
}

/* ---- buffers of calls ---- */

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
        walk(u, how, (char *)buf, count, type);
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
                     struct hearthi_numbers counts,
                     struct hearthi_numbers displs, MPI_Datatype type,
                     MPI_Count n)
{
    MPI_Count least, extent;

    if (!is_address(buf))
        return;
    array_use(u, counts.at, n, counts.size);
    array_use(u, displs.at, n, displs.size);
    hearthi_next_pmpi.Type_get_extent_x(type, &least, &extent);
    for (MPI_Count i = 0; i < n; i++)
        walk(u, how, (char *)buf + hearthi_number(displs, i) * extent,
             hearthi_number(counts, i), type);
}

void
hearthi_buffer_pin_w(struct hearthi_buffer_pin *u, int how, const void *buf,
                     struct hearthi_numbers counts,
                     struct hearthi_numbers displs, const MPI_Datatype *types,
                     MPI_Count n)
{
    if (!is_address(buf))
        return;
    array_use(u, counts.at, n, counts.size);
    array_use(u, displs.at, n, displs.size);
    array_use(u, types, n, sizeof *types);
    for (MPI_Count i = 0; i < n; i++)
        walk(u, how, (char *)buf + hearthi_number(displs, i),
             hearthi_number(counts, i), types[i]);
}
