/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "mpi_library.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* By what each text has: MVAPICH's and Intel's may have MPICH's name, too. */
static const struct {
    const char           *mark, *name;
    enum hearthi_mpi_kind kind;
} libraries[] = {
    { "Open MPI", "Open MPI", HEARTHI_MPI_OPEN },
    { "Intel(R) MPI", "Intel MPI", HEARTHI_MPI_INTEL },
    { "MVAPICH", "MVAPICH", HEARTHI_MPI_MVAPICH },
    { "MPICH", "MPICH", HEARTHI_MPI_MPICH },
};

struct hearthi_mpi_library
hearthi_mpi_library_parse(const char *text)
{
    struct hearthi_mpi_library l = { HEARTHI_MPI_OTHER, "another MPI", 0, 0,
                                     false };

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        const char *at = strstr(text, libraries[i].mark);

        if (at == NULL)
            continue;
        l.kind = libraries[i].kind;
        l.name = libraries[i].name;
        while (*at != '\0' && !isdigit((unsigned char)*at))
            at++;
        if (sscanf(at, "%d.%d", &l.major, &l.minor) != 2)
            l.major = l.minor = 0;
        break;
    }
    l.is_ofi = l.kind == HEARTHI_MPI_INTEL || strstr(text, "ch4:ofi") != NULL;
    return l;
}

bool
hearthi_mpi_library_is_older(struct hearthi_mpi_library one,
                             struct hearthi_mpi_library than)
{
    if (one.kind != than.kind || one.major == 0 || than.major == 0)
        return false;
    return one.major != than.major ? one.major < than.major
                                   : one.minor < than.minor;
}
