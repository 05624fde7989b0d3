/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parts of hearth_init() and hearth_finalize().
 */
#ifndef HEARTHI_INIT_H
#define HEARTHI_INIT_H

#include <mpi.h>

/* A communicator as Fortran has it. */
MPI_Comm hearthi_comm_of_integer(int comm);

/* ---- launch_check.c ---- */

/* Before any other call of MPI: the MPI library of the process must be the one
 * that this library was built with. */
void hearthi_loaded_check(const char *call);

/* ... and of a program in Fortran, which no header compares, by the integer
 * that it has for its communicator. */
void hearthi_integer_check(int comm);

/* Ends the job if this process is alone though the launcher started several.
 */
void hearthi_launcher_check(void);

/* A line if the MPI library is older than the one that this was built with;
 * the end of the job if it is too old. */
void hearthi_version_check(void);

/* Is what ranks of one job must have alike the same on all?  This rank's, as
 * text; a test says another. */
enum { HEARTHI_KIND = 80 };
extern char hearthi_kind[HEARTHI_KIND];
void        hearthi_kind_check(MPI_Comm comm);

/* Ends the job if it is of two groups. */
void hearthi_intercommunicator_check(MPI_Comm comm);

/* ---- layers.c: the order in which layers open and close ---- */

/* Collective.  Does not return on a rank that is not the program's. */
struct hearthi_job;
void hearthi_layers_open(const struct hearthi_job *job);
void hearthi_layers_close(void);

/* ---- leave.c and ending.c ---- */

/* This process is a rank, and is to call hearth_finalize() before it ends or
 * becomes another program. */
void hearthi_leave_watch(void);

/* MPI is up: its end is watched, whether the program or Hearth calls
 * MPI_Finalize, as it may wait for ever. */
void hearthi_ending_watch(void);
void hearthi_ending_begins(void);

/* ---- races.c: HEARTH_RACES ---- */

/* On rank 0, before the others have the options: those that do not go with it
 * end the job, and others that it needs get their values. */
void hearthi_races_options(void);

/* At the end of hearth_init(): words by which ranks count.  Collective. */
void hearthi_races_begin(void);

/* Behind the last barrier: the last lines, and the exit status.  Collective.
 */
void hearthi_races_end(void);

#endif
