/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "mpi_launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

/* Slurm's srun says the number of its step; SLURM_NTASKS is of the whole job,
 * and is there for the one process of a batch script, too.  It is the last
 * one, since other launchers start their own helpers by it. */
static const struct hearthi_mpi_launcher launchers[] = {
    { "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK" }, /* Open MPI */
    { "PMI_SIZE", "PMI_RANK" }, /* MPICH, Intel MPI, srun --mpi=pmi2 */
    { "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK" }, /* MVAPICH */
    { "FLUX_JOB_SIZE", "FLUX_TASK_RANK" },
    { "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK" }, /* jsrun */
    { "SLURM_STEP_NUM_TASKS", "SLURM_PROCID" },
};

enum { N_LAUNCHERS = sizeof launchers / sizeof *launchers };

/* Where one launcher has started another, the variables of both are there:
 * what this MPI's own says is what its library goes by. */
const struct hearthi_mpi_launcher *
hearthi_mpi_launcher_find(enum hearthi_mpi_kind kind)
{
    int own = kind == HEARTHI_MPI_MPICH || kind == HEARTHI_MPI_INTEL ? 1 : 0;

    if (getenv(launchers[own].count) != NULL)
        return &launchers[own];
    for (int i = 0; i < N_LAUNCHERS; i++)
        if (getenv(launchers[i].count) != NULL)
            return &launchers[i];
    return NULL;
}

int
hearthi_mpi_launcher_others(const struct hearthi_mpi_launcher *launcher)
{
    int count = launcher == NULL ? 0 : atoi(getenv(launcher->count));

    return count > 1 ? count : 0;
}

bool
hearthi_mpi_launcher_is_first(const struct hearthi_mpi_launcher *launcher)
{
    const char *number =
        getenv(launcher == NULL ? "PMIX_RANK" : launcher->number);

    return number == NULL || atoi(number) == 0;
}

/* Slurm's pmi2 says what MPICH's launcher would say. */
const char *
hearthi_mpi_launcher_remedy(const struct hearthi_mpi_launcher *launcher)
{
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");

    if (tasks != NULL && strcmp(tasks, getenv(launcher->count)) == 0)
        return "use the srun --mpi=... that this MPI takes (MPICH and Intel "
               "MPI: pmi2; Open MPI: pmix; srun --mpi=list says which are "
               "here), or this MPI's own mpirun";
    return "use the mpirun of the MPI that the program was built with";
}

bool
hearthi_mpi_launcher_takes_words(const char *name)
{
    char        first[4096];
    const char *base;

    snprintf(first, sizeof first, "%.*s", (int)strcspn(name, " "), name);
    base = hearthi_base_name(first);
    return strncmp(base, "mpiexec", 7) == 0 || strncmp(base, "mpirun", 6) == 0;
}
