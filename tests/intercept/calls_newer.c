/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calls that came with MPI-4: large counts, partitioned messages, persistent
 * collectives, and exchanges with a request.  What the MPI of the build does
 * not have makes no row.
 */
#include <stdlib.h>

#include "calls.h"

enum { WORD = 8 };

#if HAVE_DECL_MPI_ISENDRECV
static void
isendrecv(struct operation *o)
{
    MPI_Isendrecv(o->send, (int)o->bytes, MPI_BYTE, o->right, 0, o->recv,
                  (int)o->bytes, MPI_BYTE, o->left, 0, o->comm,
                  request_new(o));
}

static void
isendrecv_replace(struct operation *o)
{
    MPI_Isendrecv_replace(o->recv, (int)o->bytes, MPI_BYTE, o->right, 0,
                          o->left, 0, o->comm, request_new(o));
}
#endif

#if HAVE_DECL_MPI_PSEND_INIT || HAVE_DECL_MPI_BCAST_INIT
static void
requests_free(struct operation *o)
{
    for (int i = 0; i < o->count; i++)
        MPI_Request_free(&o->requests[i]);
    free(o->own);
}
#endif

/* ---- partitioned ---- */

#if HAVE_DECL_MPI_PSEND_INIT
enum { PARTITIONS = 4 };

/* Every second word is stored again while the request is active, as its
 * partition gets ready. */
static void
partition_store(struct operation *o, int partition)
{
    size_t each = o->bytes / PARTITIONS;

    for (size_t i = 0; i < each; i += 2 * WORD)
        o->send[(size_t)partition * each + i] ^= 0x5a;
}

static void
partitions_send(struct operation *o)
{
    MPI_Request request = o->requests[1];
    int         list[] = { 0 };

    for (int p = 0; p < PARTITIONS; p++) {
        partition_store(o, p);
        if (o->turn % 2 == 0)
            MPI_Pready(p, request);
    }
    if (o->turn % 2 == 0)
        return;
    MPI_Pready_list(1, list, request);
    MPI_Pready_range(1, PARTITIONS - 1, request);
}

static void
partitioned(struct operation *o)
{
    MPI_Count each = (MPI_Count)(o->bytes / PARTITIONS);

    MPI_Precv_init(o->recv, PARTITIONS, each, MPI_BYTE, o->left, 0, o->comm,
                   MPI_INFO_NULL, request_new(o));
    MPI_Psend_init(o->send, PARTITIONS, each, MPI_BYTE, o->right, 0, o->comm,
                   MPI_INFO_NULL, request_new(o));
    MPI_Startall(2, o->requests);
    partitions_send(o);
}

static void
partitioned_again(struct operation *o)
{
    int there = 0;

    while (!there)
        MPI_Parrived(o->requests[0], PARTITIONS - 1, &there);
    requests_wait(o);
    MPI_Startall(2, o->requests);
    partitions_send(o); /* what was stored is as it was */
    requests_wait(o);
    requests_free(o);
}
#endif

/* ---- persistent collectives ---- */

#if HAVE_DECL_MPI_BCAST_INIT
/* Begun, and begun once more when it has ended: in between the request is
 * there and holds nothing. */
static void
prepared_again(struct operation *o)
{
    requests_wait(o);
    MPI_Startall(o->count, o->requests);
    requests_wait(o);
    requests_free(o);
}

static void
bcast_init(struct operation *o)
{
    MPI_Bcast_init(o->recv, (int)o->bytes, MPI_BYTE, o->root, o->comm,
                   MPI_INFO_NULL, request_new(o));
    MPI_Startall(o->count, o->requests);
}

static void
allreduce_init(struct operation *o)
{
    MPI_Allreduce_init(o->send, o->recv, (int)(o->bytes / WORD), MPI_UINT64_T,
                       MPI_BXOR, o->comm, MPI_INFO_NULL, request_new(o));
    MPI_Startall(o->count, o->requests);
}

static void
alltoallv_init(struct operation *o)
{
    int *counts = o->own = calloc(2 * CALL_RANKS, sizeof *counts);
    int *places = counts + CALL_RANKS, each = (int)o->bytes / ranks;

    for (int r = 0; r < ranks; r++) {
        counts[r] = each - (me + r) % 2 * 4;
        places[r] = r * each;
    }
    MPI_Alltoallv_init(o->send, counts, places, MPI_BYTE, o->recv, counts,
                       places, MPI_BYTE, o->comm, MPI_INFO_NULL,
                       request_new(o));
    MPI_Startall(o->count, o->requests);
}
#endif

/* ---- large counts ---- */

#if HAVE_DECL_MPI_TYPE_GET_CONTENTS_C
#define ALL(buffer) o->buffer, (MPI_Count)o->bytes, MPI_BYTE

static void
sendrecv_c(struct operation *o)
{
    MPI_Sendrecv_c(ALL(send), o->right, 0, ALL(recv), o->left, 0, o->comm,
                   MPI_STATUS_IGNORE);
}

static void
send_c(struct operation *o)
{
    MPI_Status status;
    MPI_Count  count;

    if (me % 2 == 0)
        MPI_Send_c(ALL(send), o->right, 0, o->comm);
    MPI_Recv_c(ALL(recv), o->left, 0, o->comm, &status);
    if (me % 2 == 1)
        MPI_Send_c(ALL(send), o->right, 0, o->comm);
    MPI_Get_count_c(&status, MPI_BYTE, &count);
    expect_eq(count, (MPI_Count)o->bytes);
}

static void
send_to_itself_c(struct operation *o)
{
    if (ranks > 1) {
        send_c(o);
        return;
    }
    MPI_Irecv_c(ALL(recv), 0, 0, o->comm, request_new(o));
    MPI_Send_c(ALL(send), 0, 0, o->comm);
    requests_wait(o);
    o->count = 0;
}

static void
isend_c(struct operation *o)
{
    MPI_Irecv_c(ALL(recv), o->left, 0, o->comm, request_new(o));
    MPI_Isend_c(ALL(send), o->right, 0, o->comm, request_new(o));
}

static void
send_init_c(struct operation *o)
{
    MPI_Recv_init_c(ALL(recv), o->left, 0, o->comm, request_new(o));
    MPI_Send_init_c(ALL(send), o->right, 0, o->comm, request_new(o));
    MPI_Startall(2, o->requests);
}

/* Arrays of all kinds. */
struct parts {
    MPI_Count    counts[CALL_RANKS], words[CALL_RANKS];
    MPI_Aint     places[CALL_RANKS];
    MPI_Datatype types[CALL_RANKS];
};

static struct parts *
parts_new(struct operation *o)
{
    struct parts *p = o->own = calloc(1, sizeof *p);
    MPI_Count     words = (MPI_Count)o->bytes / WORD / ranks;

    for (int r = 0; r < ranks; r++) {
        p->counts[r] = words * WORD - (me + r) % 2 * 4;
        p->words[r] = words - r % 2;
        p->places[r] = r * words * WORD;
        p->types[r] = MPI_BYTE;
    }
    return p;
}

/* A function NAME that calls MPI_UPPER_c or MPI_Ilower_c. */
#define COLLECTIVE(name, lower, upper, ...)                         \
    static void name(struct operation *o)                           \
    {                                                               \
        struct parts *p = parts_new(o);                             \
                                                                    \
        if (o->pending)                                             \
            MPI_I##lower##_c(__VA_ARGS__, o->comm, request_new(o)); \
        else                                                        \
            MPI_##upper##_c(__VA_ARGS__, o->comm);                  \
        (void)p;                                                    \
    }

COLLECTIVE(bcast_c, bcast, Bcast, ALL(recv), o->root)
COLLECTIVE(alltoallv_c, alltoallv, Alltoallv, o->send, p->counts, p->places,
           MPI_BYTE, o->recv, p->counts, p->places, MPI_BYTE)
COLLECTIVE(alltoallw_c, alltoallw, Alltoallw, o->send, p->counts, p->places,
           p->types, o->recv, p->counts, p->places, p->types)
COLLECTIVE(reduce_scatter_c, reduce_scatter, Reduce_scatter, o->send, o->recv,
           p->words, MPI_UINT64_T, MPI_BXOR)

static void
alltoallv_init_c(struct operation *o)
{
    struct parts *p = parts_new(o);

    MPI_Alltoallv_init_c(o->send, p->counts, p->places, MPI_BYTE, o->recv,
                         p->counts, p->places, MPI_BYTE, o->comm,
                         MPI_INFO_NULL, request_new(o));
    MPI_Startall(o->count, o->requests);
}

/* ---- types that were made with large counts ---- */

typedef MPI_Datatype type_maker(MPI_Count bytes);

static MPI_Datatype
vector(MPI_Count bytes)
{
    MPI_Datatype type;

    MPI_Type_vector_c(bytes / 32, 1, 4, MPI_UINT64_T, &type);
    return type;
}

static MPI_Datatype
hvector(MPI_Count bytes)
{
    MPI_Datatype type;

    MPI_Type_create_hvector_c(2, bytes / 4, bytes / 2 + 3, MPI_BYTE, &type);
    return type;
}

static MPI_Datatype
indexed(MPI_Count bytes)
{
    MPI_Count    lengths[] = { 3, 1, 2 };
    MPI_Count    places[] = { 1, bytes / 4 * 3, bytes / 2 };
    MPI_Datatype type;

    MPI_Type_indexed_c(3, lengths, places, MPI_BYTE, &type);
    return type;
}

static MPI_Datatype
hindexed(MPI_Count bytes)
{
    MPI_Count    lengths[] = { 1, bytes / 4 / WORD };
    MPI_Count    places[] = { 0, bytes / 2 };
    MPI_Datatype type;

    MPI_Type_create_hindexed_c(2, lengths, places, MPI_UINT64_T, &type);
    return type;
}

static MPI_Datatype
indexed_block(MPI_Count bytes)
{
    MPI_Count    places[] = { bytes / 2, 5, bytes - 16 };
    MPI_Datatype type;

    MPI_Type_create_indexed_block_c(3, 7, places, MPI_BYTE, &type);
    return type;
}

static MPI_Datatype
hindexed_block(MPI_Count bytes)
{
    MPI_Count    places[] = { bytes / 2, 5, bytes - 16 };
    MPI_Datatype type;

    MPI_Type_create_hindexed_block_c(3, 7, places, MPI_BYTE, &type);
    return type;
}

static MPI_Datatype
structure(MPI_Count bytes)
{
    MPI_Count    lengths[] = { 1, 3, bytes / 4 };
    MPI_Count    places[] = { 0, WORD, bytes / 2 + 1 };
    MPI_Datatype types[] = { MPI_DOUBLE, MPI_INT, MPI_CHAR }, type;

    MPI_Type_create_struct_c(3, lengths, places, types, &type);
    return type;
}

/* A tile in the midst of a field of bytes, 16 in a row, in a struct whose
 * extent is another. */
static MPI_Datatype
subarray(MPI_Count bytes)
{
    MPI_Count    rows = bytes / 16, sizes[] = { rows, 16 };
    MPI_Count    sub[] = { rows / 2, 5 }, starts[] = { rows / 4, 7 };
    MPI_Datatype inner, type;

    MPI_Type_create_subarray_c(2, sizes, sub, starts, MPI_ORDER_C, MPI_BYTE,
                               &inner);
    MPI_Type_create_resized_c(inner, 0, 2 * bytes, &type);
    MPI_Type_free(&inner);
    return type;
}

static type_maker *const makers[] = { vector,    hvector,       indexed,
                                      hindexed,  indexed_block, hindexed_block,
                                      structure, subarray };

static void
exchanged(struct operation *o)
{
    MPI_Datatype type = makers[o->call->how]((MPI_Count)o->bytes), whole;

    MPI_Type_contiguous_c(1, type, &whole);
    MPI_Type_commit(&whole);
    MPI_Irecv_c(o->recv, 1, whole, o->left, 0, o->comm, request_new(o));
    MPI_Isend_c(o->send, 1, whole, o->right, 0, o->comm, request_new(o));
    MPI_Type_free(&whole);
    MPI_Type_free(&type);
}
#endif

const struct call calls_newer[] = {
#if HAVE_DECL_MPI_ISENDRECV
    { "Isendrecv", CALL_PENDS, isendrecv, NULL, NULL, 0 },
    { "Isendrecv_replace", CALL_PENDS, isendrecv_replace, NULL, NULL, 0 },
#endif
#if HAVE_DECL_MPI_PSEND_INIT
    { "Psend_init", CALL_PENDS, partitioned, partitioned_again, NULL, 0 },
#endif
#if HAVE_DECL_MPI_BCAST_INIT
    { "Bcast_init", CALL_PENDS, bcast_init, prepared_again, NULL, 0 },
    { "Allreduce_init", CALL_PENDS, allreduce_init, prepared_again, NULL, 0 },
    { "Alltoallv_init", CALL_PENDS, alltoallv_init, prepared_again, NULL, 0 },
#endif
#if HAVE_DECL_MPI_TYPE_GET_CONTENTS_C
    { "Send_c", CALL_BLOCKS, send_to_itself_c, NULL, NULL, 0 },
    { "Sendrecv_c", CALL_BLOCKS, sendrecv_c, NULL, NULL, 0 },
    { "Isend_c", CALL_PENDS, isend_c, NULL, NULL, 0 },
    { "Send_init_c", CALL_PENDS, send_init_c, prepared_again, NULL, 0 },
    { "Bcast_c", CALL_PENDS, bcast_c, own_end, NULL, 0 },
    { "Alltoallv_c", CALL_PENDS, alltoallv_c, own_end, NULL, 0 },
    { "Alltoallw_c", CALL_PENDS, alltoallw_c, own_end, NULL, 0 },
    { "Reduce_scatter_c", CALL_PENDS, reduce_scatter_c, own_end, NULL, 0 },
    { "Alltoallv_init_c", CALL_PENDS, alltoallv_init_c, prepared_again, NULL,
      0 },
    { "Type_vector_c", CALL_PENDS, exchanged, NULL, NULL, 0 },
    { "Type_create_hvector_c", CALL_PENDS, exchanged, NULL, NULL, 1 },
    { "Type_indexed_c", CALL_PENDS, exchanged, NULL, NULL, 2 },
    { "Type_create_hindexed_c", CALL_PENDS, exchanged, NULL, NULL, 3 },
    { "Type_create_indexed_block_c", CALL_PENDS, exchanged, NULL, NULL, 4 },
    { "Type_create_hindexed_block_c", CALL_PENDS, exchanged, NULL, NULL, 5 },
    { "Type_create_struct_c", CALL_PENDS, exchanged, NULL, NULL, 6 },
    { "Type_create_subarray_c", CALL_PENDS, exchanged, NULL, NULL, 7 },
#endif
    { 0 },
};
