/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "datatype_walk.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/report.h"

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

/* What MPI_Type_get_contents tells. */
struct contents {
    int           combiner, n_ints, n_aints, n_types;
    int          *ints;
    MPI_Aint     *aints;
    MPI_Datatype *types;
};

static void elements_use(const struct part *p, char *at, MPI_Count n);

static struct part
part_of(struct hearthi_buffer_pin *u, int how, MPI_Datatype type)
{
    struct part p = { .u = u, .how = how, .type = type, .empty = true };
    MPI_Count   least, size;

    if (type == MPI_DATATYPE_NULL)
        return p;
    PMPI_Type_get_extent_x(type, &least, &p.extent);
    PMPI_Type_get_true_extent_x(type, &p.first, &p.bytes);
    PMPI_Type_size_x(type, &size);
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

static void *
room(struct hearthi_buffer_pin *u, int n, size_t bytes)
{
    void *p = malloc((size_t)(n > 0 ? n : 1) * bytes);

    if (p == NULL)
        hearthi_fatal(u->call, "no memory to look at a datatype");
    return p;
}

/* False if it is a type of MPI's own. */
static bool
contents_get(struct contents *c, struct hearthi_buffer_pin *u,
             MPI_Datatype type)
{
    PMPI_Type_get_envelope(type, &c->n_ints, &c->n_aints, &c->n_types,
                           &c->combiner);
    if (c->n_types == 0)
        return false;
    c->ints = room(u, c->n_ints, sizeof *c->ints);
    c->aints = room(u, c->n_aints, sizeof *c->aints);
    c->types = room(u, c->n_types, sizeof(MPI_Datatype));
    PMPI_Type_get_contents(type, c->n_ints, c->n_aints, c->n_types, c->ints,
                           c->aints, c->types);
    return true;
}

static void
contents_free(struct contents *c)
{
    for (int i = 0; i < c->n_types; i++) {
        int ints, aints, types, combiner;

        PMPI_Type_get_envelope(c->types[i], &ints, &aints, &types, &combiner);
        if (types > 0)
            PMPI_Type_free(&c->types[i]);
    }
    free(c->ints);
    free(c->aints);
    free(c->types);
}

/* Blocks of the same length, or each of its own: in which unit displacements
 * are, elements or bytes, and where they stand, follows from the combiner. */
static void
blocks_use(const struct part *p, const struct contents *c, char *at)
{
    bool one = c->combiner == MPI_COMBINER_INDEXED_BLOCK ||
               c->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    int        n = c->ints[0];
    const int *places = c->ints + (one ? 2 : 1 + n);

    for (int i = 0; i < n; i++) {
        MPI_Count there = c->n_aints > 0 ? c->aints[i] : places[i] * p->extent;

        elements_use(p, at + there, c->ints[one ? 1 : 1 + i]);
    }
}

static void
vector_use(const struct part *p, const struct contents *c, char *at)
{
    MPI_Count stride = c->n_aints > 0 ? c->aints[0] : c->ints[2] * p->extent;

    for (int i = 0; i < c->ints[0]; i++)
        elements_use(p, at + i * stride, c->ints[1]);
}

static void
struct_use(struct hearthi_buffer_pin *u, int how, const struct contents *c,
           char *at)
{
    for (int i = 0; i < c->ints[0]; i++) {
        struct part p = part_of(u, how, c->types[i]);

        elements_use(&p, at + c->aints[i], c->ints[1 + i]);
    }
}

/* Rows along the dimension whose elements lie one behind the other, at every
 * place of the other dimensions.  `dim` counts from the one that moves
 * slowest. */
static void
subarray_use(const struct part *p, const struct contents *c, int dim, char *at)
{
    int        dims = c->ints[0];
    const int *sizes = c->ints + 1, *subsizes = sizes + dims;
    const int *starts = subsizes + dims;
    bool       c_order = c->ints[1 + 3 * dims] == MPI_ORDER_C;
    int        d = c_order ? dim : dims - 1 - dim;
    MPI_Count  stride = p->extent;

    for (int i = dim + 1; i < dims; i++)
        stride *= sizes[c_order ? i : dims - 1 - i];
    at += starts[d] * stride;
    if (dim == dims - 1) {
        elements_use(p, at, subsizes[d]);
        return;
    }
    for (int i = 0; i < subsizes[d]; i++)
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
    struct contents c;
    struct part     p;

    if (outside(at + whole->first, whole->bytes))
        return;
    if (!contents_get(&c, whole->u, whole->type)) {
        bytes_use(whole, at);
        return;
    }
    p = part_of(whole->u, whole->how, c.types[0]);
    switch (c.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: elements_use(&p, at, 1); break;
    case MPI_COMBINER_CONTIGUOUS: elements_use(&p, at, c.ints[0]); break;
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
    contents_free(&c);
}

static void
elements_use(const struct part *p, char *at, MPI_Count n)
{
    MPI_Count reach = (n - 1) * p->extent;
    MPI_Count from = p->first + (reach < 0 ? reach : 0);
    MPI_Count bytes = p->bytes + (reach < 0 ? -reach : reach);
    MPI_Count gap = (p->extent < 0 ? -p->extent : p->extent) - p->bytes;

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

void
hearthi_datatype_walk(struct hearthi_buffer_pin *u, int how, char *at,
                      MPI_Count count, MPI_Datatype type)
{
    struct part p;

    if (count <= 0)
        return;
    p = part_of(u, how, type);
    elements_use(&p, at, count);
}
