/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parts of hearth-info.
 */
#ifndef HEARTH_INFO_H
#define HEARTH_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/machine_part.h"
#include "base/mpi_library.h"

enum { INFO_GET, INFO_ATOMIC, INFO_OPERATIONS };

/* What the probe found, known on rank 0. */
struct info_probe {
    int  origin, target; /* ranks; target is on another machine if any is */
    bool same_machine;
    bool works;
    bool unified;       /* the memory model that Hearth needs */
    char why[1024];     /* at least MPI_MAX_ERROR_STRING */
    const char *failed; /* the call that says so */
    double      inside_us[INFO_OPERATIONS]; /* target inside MPI */
    double      computing_us[INFO_OPERATIONS];
    double helped_us[INFO_OPERATIONS]; /* computing, a helper thread in MPI */
    bool   multiple;                   /* a helper thread could be tried */
};

/* Time one-sided operations while their target is inside MPI and while it
 * computes.  Collective over MPI_COMM_WORLD, which has 2 or more ranks. */
void info_probe_run(int thread_level, struct info_probe *p);

/* True if an operation had to wait until its target called MPI. */
bool info_probe_waits(const struct info_probe *p, int operation);

/* One line for hearth-info --try; many for a reader. */
void info_probe_line(const struct info_probe *p);
void info_probe_print(const struct info_probe *p);

/* The limits, for a reader and for hearth-env(7). */
void info_limits_print(void);
void info_limits_man(void);

/* Number of machines.  Collective.  *first is the first rank on this one,
 * *ranks how many it has. */
int info_machines(int *first, int *ranks);

/* What each rank of a machine may have of it, known on the first of them; to
 * be freed.  Collective.  *ranks is how many they are. */
struct hearthi_machine_part *info_parts_gather(int *ranks);

/* What the machine, the container and the shell allow, and what it costs: to
 * the first of these ranks. */
void info_machine_print(const struct hearthi_machine_part *all, int ranks);

/* The MPI library that this runs with. */
struct hearthi_mpi_library info_library(void);

/* List the providers that libfabric finds here. */
void info_fabrics_print(void);

/* What to pass to the launcher here, for so many ranks on this machine; p is
 * what the probe found as this was started, NULL if it did not run. */
void info_recipes_print(int ranks, const struct info_probe *p);

/* Start the launcher with each recipe and print what the probe found;
 * more are words for the launcher.  Returns the exit status. */
int info_recipes_try(const char *self, char **more);

#endif
