/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which MPI library is it, by what it says of itself?  No MPI call: whoever
 * asks has the text.
 */
#ifndef HEARTHI_MPI_LIBRARY_H
#define HEARTHI_MPI_LIBRARY_H

#include <mpi.h>
#include <stdbool.h>

enum hearthi_mpi_kind {
    HEARTHI_MPI_OTHER,
    HEARTHI_MPI_OPEN,
    HEARTHI_MPI_MPICH,
    HEARTHI_MPI_INTEL,
    HEARTHI_MPI_MVAPICH
};

struct hearthi_mpi_library {
    enum hearthi_mpi_kind kind;
    const char           *name;
    int                   major, minor; /* 0: not known */
    bool                  is_ofi; /* MPICH over libfabric instead of UCX */
};

/* MPICH's length of such a text: Open MPI's constant is smaller. */
enum { HEARTHI_MPI_TEXT = 8192 };

/* Of the text of MPI_Get_library_version(). */
struct hearthi_mpi_library hearthi_mpi_library_parse(const char *text);

/* The text of the one that this was compiled with, as far as that matters. */
#define HEARTHI_MPI_WORD_(x) #x
#define HEARTHI_MPI_WORD(x)  HEARTHI_MPI_WORD_(x)
#if defined I_MPI_VERSION
#define HEARTHI_MPI_BUILT "Intel(R) MPI Library " I_MPI_VERSION
#elif defined MPICH_VERSION
#define HEARTHI_MPI_BUILT "MPICH Version: " MPICH_VERSION
#elif defined OPEN_MPI
#define HEARTHI_MPI_BUILT                                                   \
    "Open MPI v" HEARTHI_MPI_WORD(OMPI_MAJOR_VERSION) "." HEARTHI_MPI_WORD( \
        OMPI_MINOR_VERSION) "." HEARTHI_MPI_WORD(OMPI_RELEASE_VERSION)
#elif defined MPI_ABI_VERSION
#define HEARTHI_MPI_BUILT "the ABI of MPI 5.0"
#else
#define HEARTHI_MPI_BUILT "an MPI that does not say its name"
#endif

/* Is it the same library, and an older one?  Of libraries of two kinds none is
 * older than the other. */
bool hearthi_mpi_library_is_older(struct hearthi_mpi_library one,
                                  struct hearthi_mpi_library than);

#endif
