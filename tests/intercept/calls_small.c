/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What calls of MPI are given besides buffers: lists, names, handles and
 * numbers, on pages of the heap that are not here.
 */
#include <string.h>

#include "calls.h"

enum { PAGES = 64 };

static char *pool;
static int   used;

/* The next page at home on the next rank, with what this rank is to find. */
static void *
absent(const void *content, size_t bytes)
{
    const size_t page = page_bytes();
    const int    next = (me + 1) % ranks;
    char        *mine = pool + ((size_t)me * PAGES + (size_t)used) * page;

    if (content != NULL)
        memcpy(mine, content, bytes);
    hearth_barrier();
    return pool + ((size_t)next * PAGES + (size_t)used++) * page;
}

#define LIST(...) \
    absent((const int[]){ __VA_ARGS__ }, sizeof(int[]){ __VA_ARGS__ })
#define TEXT(text) absent(text, sizeof text)
#define PLACE()    absent(NULL, 0)

static void
types(void)
{
    const MPI_Aint     at[] = { 0, 16 };
    const MPI_Datatype of[] = { MPI_INT, MPI_DOUBLE }; /* a rank's own */
    MPI_Datatype      *type = PLACE();
    MPI_Aint          *least = PLACE(), *extent = PLACE();
    int               *size = PLACE();

    MPI_Type_create_indexed_block(3, 2, LIST(0, 4, 8), MPI_INT, type);
    MPI_Type_size(*type, size);
    expect_eq(*size, 3 * 2 * (int)sizeof(int));
    MPI_Type_get_extent(*type, least, extent);
    expect_eq(*extent, 10 * (MPI_Aint)sizeof(int));
    MPI_Type_free(type);
    expect(*type == MPI_DATATYPE_NULL);
    MPI_Type_indexed(2, LIST(1, 3), LIST(5, 0), MPI_INT, PLACE());
    type = PLACE();
    MPI_Type_create_struct(2, LIST(2, 1), absent(at, sizeof at), of, type);
    MPI_Type_size(*type, size);
    expect_eq(*size, (int)(2 * sizeof(int) + sizeof(double)));
    MPI_Type_free(type);
}

static void
groups(MPI_Comm comm)
{
    MPI_Group *all = PLACE(), *some = PLACE(), *rest = PLACE();
    int       *n = PLACE(), *to = PLACE();

    MPI_Comm_group(comm, all);
    MPI_Group_incl(*all, 1, LIST(ranks - 1), some);
    MPI_Group_size(*some, n);
    expect_eq(*n, 1);
    MPI_Group_translate_ranks(*some, 1, LIST(0), *all, to);
    expect_eq(to[0], ranks - 1);
    MPI_Group_range_excl(*all, 1, LIST(0, 0, 1), rest);
    MPI_Group_size(*rest, n);
    expect_eq(*n, ranks - 1);
    MPI_Group_free(all);
    MPI_Group_free(some);
    MPI_Group_free(rest);
}

static void
add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void
operations(MPI_Comm comm)
{
    MPI_Op *op = PLACE();
    int     one = 1, sum = 0;

    MPI_Op_create(add, 1, op);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, *op, comm);
    expect_eq(sum, ranks);
    MPI_Op_free(op);
    expect(*op == MPI_OP_NULL);
}

static void
topologies(MPI_Comm comm)
{
    MPI_Comm *made = PLACE();
    int      *dims = LIST(0, 1), *coords = PLACE(), *kind = PLACE();

    MPI_Dims_create(ranks, 2, dims);
    expect_eq(dims[0], ranks);
    MPI_Cart_create(comm, 2, LIST(ranks, 1), LIST(1, 0), 0, made);
    MPI_Cart_coords(*made, me, 2, coords);
    expect(coords[0] == me && coords[1] == 0);
    MPI_Topo_test(*made, kind);
    expect_eq(*kind, MPI_CART);
    MPI_Comm_free(made);
    expect(*made == MPI_COMM_NULL);
}

static void
names(MPI_Comm comm)
{
    char     *name = PLACE();
    int      *length = PLACE(), *is_set = PLACE();
    MPI_Info *info = PLACE();

    MPI_Comm_set_name(comm, TEXT("of the heap"));
    MPI_Comm_get_name(comm, name, length);
    expect(*length == 11 && strcmp(name, "of the heap") == 0);
    MPI_Info_create(info);
    MPI_Info_set(*info, TEXT("key"), TEXT("value"));
    name = PLACE();
    MPI_Info_get(*info, TEXT("key"), 32, name, is_set);
    expect(*is_set && strcmp(name, "value") == 0);
    MPI_Info_free(info);
    name = PLACE();
    length = PLACE();
    MPI_Get_processor_name(name, length);
    expect_eq((int)strlen(name), *length);
}

static void
numbers(MPI_Comm comm)
{
    int *rank = PLACE(), *size = PLACE(), *is_up = PLACE(), *count = PLACE(),
        *result = PLACE();
    MPI_Status *status = PLACE();

    MPI_Comm_rank(comm, rank);
    MPI_Comm_size(comm, size);
    expect(*rank == me && *size == ranks);
    MPI_Initialized(is_up);
    expect_eq(*is_up, 1);
    MPI_Comm_compare(comm, comm, result);
    expect_eq(*result, MPI_IDENT);
    MPI_Status_set_elements(status, MPI_INT, 7);
    MPI_Get_count(status, MPI_INT, count);
    expect_eq(*count, 7);
    count = PLACE();
    MPI_Pack_size(2, MPI_INT, comm, count);
    expect(*count >= 2 * (int)sizeof(int));
}

void
calls_small_run(MPI_Comm comm)
{
    pool = hearth_alloc((size_t)ranks * PAGES * page_bytes(), 1,
                        hearth_cyclic(PAGES));
    used = 0;
    types();
    groups(comm);
    operations(comm);
    topologies(comm);
    names(comm);
    numbers(comm);
    expect(used <= PAGES);
    hearth_barrier();
    hearth_free(pool);
}
