/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Derived datatypes: what lies in their gaps stays as it was.  A datatype is
 * freed as soon as MPI may go on without it.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"

enum { WORD = 8 };

/* A datatype for a buffer of so many bytes, to be used so many times at an
 * address so far in it. */
struct shape {
    MPI_Datatype type;
    int          count;
    size_t       at;
};

typedef struct shape shape_maker(size_t bytes);

static struct shape
vector(size_t bytes)
{
    struct shape s = { .count = 1 };

    MPI_Type_vector((int)(bytes / 32), 1, 4, MPI_UINT64_T, &s.type);
    return s;
}

/* From the last word down. */
static struct shape
backward(size_t bytes)
{
    struct shape s = { .count = 1, .at = bytes - WORD };

    MPI_Type_create_hvector((int)(bytes / 16), 1, -2 * WORD, MPI_UINT64_T,
                            &s.type);
    return s;
}

/* Pieces with three quarters of the buffer between the first two. */
static struct shape
indexed(size_t bytes)
{
    int          lengths[] = { 3, 1, 2 };
    int          places[] = { 1, (int)(bytes / 4 * 3), (int)(bytes / 2) };
    struct shape s = { .count = 1 };

    MPI_Type_indexed(3, lengths, places, MPI_BYTE, &s.type);
    return s;
}

static struct shape
hindexed(size_t bytes)
{
    int          lengths[] = { 1, (int)(bytes / 4 / WORD) };
    MPI_Aint     places[] = { 0, (MPI_Aint)(bytes / 2) };
    struct shape s = { .count = 1 };

    MPI_Type_create_hindexed(2, lengths, places, MPI_UINT64_T, &s.type);
    return s;
}

static struct shape
indexed_block(size_t bytes)
{
    int          places[] = { (int)(bytes / 2), 5, (int)(bytes - 16) };
    struct shape s = { .count = 1 };

    MPI_Type_create_indexed_block(3, 7, places, MPI_BYTE, &s.type);
    return s;
}

static struct shape
structure(size_t bytes)
{
    int          lengths[] = { 1, 3, (int)(bytes / 4) };
    MPI_Aint     places[] = { 0, WORD, (MPI_Aint)(bytes / 2 + 1) };
    MPI_Datatype types[] = { MPI_DOUBLE, MPI_INT, MPI_CHAR };
    struct shape s = { .count = 1 };

    MPI_Type_create_struct(3, lengths, places, types, &s.type);
    return s;
}

/* Many of a small one, with an extent that is not its own. */
static struct shape
resized(size_t bytes)
{
    MPI_Datatype inner;
    struct shape s = { .count = (int)(bytes / 64), .at = 16 };

    MPI_Type_contiguous(3, MPI_INT, &inner);
    MPI_Type_create_resized(inner, -8, 64, &s.type);
    MPI_Type_free(&inner);
    return s;
}

/* A tile in the midst of a field of bytes, 16 in a row. */
static struct shape
subarray(size_t bytes)
{
    int          rows = (int)(bytes / 16);
    int          sizes[] = { rows, 16 }, sub[] = { rows / 2, 5 };
    int          starts[] = { rows / 4, 7 };
    struct shape s = { .count = 1 };

    MPI_Type_create_subarray(2, sizes, sub, starts, MPI_ORDER_C, MPI_BYTE,
                             &s.type);
    return s;
}

/* Vectors in a vector, with the rest of the buffer behind them. */
static struct shape
nested(size_t bytes)
{
    MPI_Datatype inner;
    struct shape s = { .count = 1 };

    MPI_Type_vector(2, 3, 5, MPI_BYTE, &inner);
    MPI_Type_create_hvector((int)(bytes / 32), 2, 24, inner, &s.type);
    MPI_Type_free(&inner);
    return s;
}

static struct shape
contiguous(size_t bytes)
{
    struct shape s = { .count = 2 };

    MPI_Type_contiguous((int)(bytes / 2 / WORD), MPI_UINT64_T, &s.type);
    return s;
}

static struct shape
distributed(size_t bytes)
{
    int          size = (int)bytes, kind = MPI_DISTRIBUTE_CYCLIC, unit = 8;
    int          processes = 2;
    struct shape s = { .count = 1 };

    MPI_Type_create_darray(2, 1, 1, &size, &kind, &unit, &processes,
                           MPI_ORDER_C, MPI_BYTE, &s.type);
    return s;
}

/* Of the row's maker; a function's address does not fit a pointer to data. */
static shape_maker *const makers[] = { vector,        backward,   indexed,
                                       hindexed,      structure,  resized,
                                       subarray,      nested,     contiguous,
                                       indexed_block, distributed };

static struct shape
shape_new(const struct operation *o)
{
    struct shape s = makers[o->call->how](o->bytes);

    MPI_Type_commit(&s.type);
    return s;
}

static void
exchanged(struct operation *o)
{
    struct shape s = shape_new(o);

    if (o->pending) {
        MPI_Irecv(o->recv + s.at, s.count, s.type, o->left, 0, o->comm,
                  request_new(o));
        MPI_Isend(o->send + s.at, s.count, s.type, o->right, 0, o->comm,
                  request_new(o));
    } else {
        MPI_Sendrecv(o->send + s.at, s.count, s.type, o->right, 0,
                     o->recv + s.at, s.count, s.type, o->left, 0, o->comm,
                     MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&s.type);
}

/* Absolute addresses: two pieces of the heap and one that is not. */
static MPI_Datatype
absolute(const struct operation *o, void *heap, void *beside)
{
    int          lengths[] = { (int)o->bytes / 4, 16, (int)o->bytes / 4 };
    MPI_Aint     places[3];
    MPI_Datatype type;

    MPI_Get_address((char *)heap + o->bytes / 2, &places[0]);
    MPI_Get_address(beside, &places[1]);
    MPI_Get_address(heap, &places[2]);
    MPI_Type_create_hindexed(3, lengths, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void
bottom(struct operation *o)
{
    unsigned char *beside = o->own = calloc(2, 16);
    MPI_Datatype   in = absolute(o, o->recv, beside);
    MPI_Datatype   out = absolute(o, o->send, beside + 16);

    memset(beside + 16, me + 1, 16);
    if (o->pending) {
        MPI_Irecv(MPI_BOTTOM, 1, in, o->left, 0, o->comm, request_new(o));
        MPI_Isend(MPI_BOTTOM, 1, out, o->right, 0, o->comm, request_new(o));
    } else {
        MPI_Sendrecv(MPI_BOTTOM, 1, out, o->right, 0, MPI_BOTTOM, 1, in,
                     o->left, 0, o->comm, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&in);
    MPI_Type_free(&out);
}

static void
bottom_end(struct operation *o)
{
    unsigned char *beside = o->own;

    requests_wait(o);
    expect_eq(beside[0], o->left + 1);
    expect_eq(beside[15], o->left + 1);
    free(beside);
}

static void
bottom_broadcast(struct operation *o)
{
    unsigned char *beside = o->own = calloc(2, 16);
    MPI_Datatype   type = absolute(o, o->recv, beside);

    memset(beside, o->left + 1, 16);
    if (o->pending)
        MPI_Ibcast(MPI_BOTTOM, 1, type, o->root, o->comm, request_new(o));
    else
        MPI_Bcast(MPI_BOTTOM, 1, type, o->root, o->comm);
    MPI_Type_free(&type);
}

/* Out of heap memory into heap memory, and out of that. */
static void
packed(struct operation *o)
{
    struct shape s = shape_new(o);
    int          half = (int)o->bytes / 2, size, place = 0;

    MPI_Pack_size(s.count, s.type, o->comm, &size);
    expect(size <= half);
    MPI_Pack(o->send + s.at, s.count, s.type, o->recv, half, &place, o->comm);
    size = place;
    place = 0;
    MPI_Unpack(o->recv, size, &place, o->recv + half, size, MPI_BYTE, o->comm);
    MPI_Type_free(&s.type);
}

static void
unpacked(struct operation *o)
{
    struct shape s = shape_new(o);
    int          count = (int)o->bytes / 4, place = 0;

    MPI_Unpack(o->send, (int)o->bytes, &place, o->recv + s.at, s.count, s.type,
               o->comm);
    expect(place <= count);
    MPI_Type_free(&s.type);
}

static void
packed_external(struct operation *o)
{
    struct shape s = shape_new(o);
    MPI_Aint     place = 0, half = (MPI_Aint)o->bytes / 2, size;

    MPI_Pack_external("external32", o->send + s.at, s.count, s.type, o->recv,
                      half, &place);
    size = place;
    place = 0;
    MPI_Unpack_external("external32", o->recv, size, &place,
                        o->recv + half + s.at, 1, MPI_UINT64_T);
    MPI_Type_free(&s.type);
}

const struct call calls_types[] = {
    { "Type_vector", CALL_PENDS, exchanged, NULL, NULL, 0 },
    { "a stride below zero", CALL_PENDS, exchanged, NULL, NULL, 1 },
    { "Type_indexed", CALL_PENDS, exchanged, NULL, NULL, 2 },
    { "Type_create_hindexed", CALL_PENDS, exchanged, NULL, NULL, 3 },
    { "Type_create_struct", CALL_PENDS, exchanged, NULL, NULL, 4 },
    { "Type_create_resized", CALL_PENDS, exchanged, NULL, NULL, 5 },
    { "Type_create_subarray", CALL_PENDS, exchanged, NULL, NULL, 6 },
    { "nested types", CALL_PENDS, exchanged, NULL, NULL, 7 },
    { "Type_contiguous", CALL_PENDS, exchanged, NULL, NULL, 8 },
    { "Type_create_indexed_block", CALL_PENDS, exchanged, NULL, NULL, 9 },
    { "Type_create_darray", CALL_PENDS, exchanged, NULL, NULL, 10 },
    { "BOTTOM", CALL_PENDS, bottom, bottom_end, NULL, 0 },
    { "Bcast of BOTTOM", CALL_PENDS, bottom_broadcast, own_end, NULL, 0 },
    { "Pack", CALL_BLOCKS, packed, NULL, NULL, 0 },
    { "Unpack", CALL_BLOCKS, unpacked, NULL, NULL, 0 },
    { "Pack_external", CALL_BLOCKS, packed_external, NULL, NULL, 0 },
    { 0 },
};
