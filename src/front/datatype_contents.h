/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a derived datatype was made of: the arguments of its constructor, in
 * one form for constructors with int counts and for those with large counts.
 */
#ifndef HEARTHI_DATATYPE_CONTENTS_H
#define HEARTHI_DATATYPE_CONTENTS_H

#include <mpi.h>
#include <stdbool.h>

/* The numbers in the order in which MPI_Type_get_contents tells the integers
 * of that combiner; the displacements or the stride in bytes stand apart. */
struct hearthi_contents {
    int              combiner;
    MPI_Count       *numbers;
    const MPI_Count *places; /* NULL: they are in elements, in `numbers` */
    int              n_types;
    MPI_Datatype    *types;
};

/* A type of MPI's own? */
bool hearthi_type_is_named(MPI_Datatype type);

/* False if it has no parts: a type of MPI's own.  `call` is for a message. */
bool hearthi_contents_get(struct hearthi_contents *c, const char *call,
                          MPI_Datatype type);
void hearthi_contents_free(struct hearthi_contents *c);

#endif
