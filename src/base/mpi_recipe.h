/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What has to be set to run over which network, with each MPI library; each of
 * these recipes is tried in the tests (tests/tools/recipes.sh).
 */
#ifndef HEARTHI_MPI_RECIPE_H
#define HEARTHI_MPI_RECIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi_library.h"

/* A setting is NAME=VALUE; one whose name is in small letters is a parameter
 * of Open MPI's, the others are environment variables. */
struct hearthi_mpi_recipe {
    const char *when;
    const char *settings; /* with blanks between them */
    const char *level;    /* the level of threads that goes with it */
    const char *result;   /* what it is good for */
};

/* The recipes of such a library, from 0 on; false behind the last one.  Number
 * 0 sets nothing. */
bool hearthi_mpi_recipe(struct hearthi_mpi_library library, int i,
                        struct hearthi_mpi_recipe *recipe);

/* Its settings as words for the library's own mpirun, or as variables for a
 * launcher that knows no such words, as srun. */
enum hearthi_mpi_form { HEARTHI_MPI_WORDS, HEARTHI_MPI_VARIABLES };
void hearthi_mpi_settings(char *text, size_t size,
                          struct hearthi_mpi_library library,
                          const char *settings, enum hearthi_mpi_form form);

#endif
