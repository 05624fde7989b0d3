/* SPDX-License-Identifier: BSD-2-Clause
 *
 * MPI-4 refuses MPI_Type_get_contents() for types that were made with large
 * counts, so where its sibling with large counts is there, that one is asked,
 * about all types.
 */
#include "config.h"

#include "datatype_contents.h"

#include <stdlib.h>

#include "base/report.h"
#include "front/mpi_next.h"

#if HAVE_DECL_MPI_TYPE_GET_CONTENTS_C
typedef MPI_Count number;
#else
typedef int number;
#endif

/* How many of each kind there are. */
struct envelope {
    int    combiner;
    number ints, aints, large, types;
};

static struct envelope
envelope_of(MPI_Datatype type)
{
    struct envelope e = { .combiner = MPI_COMBINER_NAMED };

#if HAVE_DECL_MPI_TYPE_GET_CONTENTS_C
    hearthi_next_pmpi.Type_get_envelope_c(type, &e.ints, &e.aints, &e.large,
                                          &e.types, &e.combiner);
#else
    hearthi_next_pmpi.Type_get_envelope(type, &e.ints, &e.aints, &e.types,
                                        &e.combiner);
#endif
    return e;
}

bool
hearthi_type_is_named(MPI_Datatype type)
{
    return envelope_of(type).combiner == MPI_COMBINER_NAMED;
}

static void *
room(const char *call, number n, size_t bytes)
{
    void *p = calloc((size_t)(n > 0 ? n : 1), bytes);

    if (p == NULL)
        hearthi_fatal(call, "no memory to look at a datatype");
    return p;
}

/* MPI's arrays, as it tells them. */
struct told {
    int       *ints;
    MPI_Aint  *aints;
    MPI_Count *large;
};

static void
contents_ask(MPI_Datatype type, const struct envelope *e, struct told *t,
             MPI_Datatype *types)
{
#if HAVE_DECL_MPI_TYPE_GET_CONTENTS_C
    hearthi_next_pmpi.Type_get_contents_c(type, e->ints, e->aints, e->large,
                                          e->types, t->ints, t->aints,
                                          t->large, types);
#else
    hearthi_next_pmpi.Type_get_contents(type, e->ints, e->aints, e->types,
                                        t->ints, t->aints, types);
#endif
}

/* With int counts displacements in bytes are addresses.  With large counts all
 * are large counts, and how many of them come before the first displacement
 * follows from the combiner. */
static number
numbers_before(const struct envelope *e, const struct told *t)
{
    if (e->large == 0)
        return e->ints;
    switch (e->combiner) {
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_HINDEXED_BLOCK: return 2;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT: return 1 + (number)t->large[0];
    default: return e->ints + e->large;
    }
}

/* A subarray's large counts stand between its two integers. */
static void
numbers_join(MPI_Count *to, const struct envelope *e, const struct told *t)
{
    number before = e->combiner == MPI_COMBINER_SUBARRAY ? 1 : e->ints;

    if (before > e->ints)
        before = e->ints;
    for (number i = 0; i < before; i++)
        *to++ = t->ints[i];
    for (number i = 0; i < e->large; i++)
        *to++ = t->large[i];
    for (number i = before; i < e->ints; i++)
        *to++ = t->ints[i];
    for (number i = 0; i < e->aints; i++)
        *to++ = t->aints[i];
}

bool
hearthi_contents_get(struct hearthi_contents *c, const char *call,
                     MPI_Datatype type)
{
    struct envelope e = envelope_of(type);
    struct told     t;
    number          all = e.ints + e.large + e.aints, before;

    if (e.types == 0)
        return false;
    t.ints = room(call, e.ints, sizeof *t.ints);
    t.aints = room(call, e.aints, sizeof *t.aints);
    t.large = room(call, e.large, sizeof *t.large);
    c->combiner = e.combiner;
    c->n_types = (int)e.types;
    c->types = room(call, e.types, sizeof(MPI_Datatype));
    c->numbers = room(call, all, sizeof *c->numbers);
    contents_ask(type, &e, &t, c->types);
    numbers_join(c->numbers, &e, &t);
    before = numbers_before(&e, &t);
    c->places = before < all ? c->numbers + before : NULL;
    free(t.ints);
    free(t.aints);
    free(t.large);
    return true;
}

void
hearthi_contents_free(struct hearthi_contents *c)
{
    for (int i = 0; i < c->n_types; i++)
        if (envelope_of(c->types[i]).types > 0)
            hearthi_next_pmpi.Type_free(&c->types[i]);
    free(c->numbers);
    free(c->types);
}
