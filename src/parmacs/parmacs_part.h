/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which part of a PARMACS program this rank is in.
 *
 * Every rank runs main() up to the first CREATE, so that its own variables are
 * what they would be in a process that fork(2) made there.  Shared memory is
 * written by rank 0 alone meanwhile: the others have private memory at the
 * same addresses, which is forgotten (parmacs_main.h), and their locks do
 * nothing.
 */
#ifndef HEARTHI_PARMACS_PART_H
#define HEARTHI_PARMACS_PART_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum hearthi_parmacs_part {
    HEARTHI_OUTSIDE, /* no MAIN_ENV, or at the end */
    HEARTHI_ALONE,   /* in main(), before the first CREATE */
    HEARTHI_TOGETHER /* since then */
};

/* What is numbered, from 1 on. */
enum hearthi_numbered {
    HEARTHI_NUMBER_LOCK,
    HEARTHI_NUMBER_PAUSE,
    HEARTHI_NUMBER_COND,
    HEARTHI_NUMBERS
};

struct hearthi_parmacs {
    enum hearthi_parmacs_part part;
    bool                      owns_mpi;
    MPI_Comm                  comm;
    int                       rank, size;
    bool                      initenv; /* MAIN_INITENV was there */
};

extern struct hearthi_parmacs hearthi_parmacs;

/* Each macro but MAIN_ENV and MAIN_INITENV starts with this. */
void hearthi_parmacs_require(const char *macro);

/* Does rank 0 do this for all? */
static inline bool
hearthi_parmacs_is_rehearsing(void)
{
    return hearthi_parmacs.part == HEARTHI_ALONE && hearthi_parmacs.rank > 0;
}

/* Before a line that every rank has to say in main(): rank 0 is first, and
 * ends the job. */
void hearthi_parmacs_after_you(void);

/* Let the next rank enter its work, unless it was let in this round
 * (parmacs_process.c). */
void hearthi_parmacs_entry_pass(void);

/* main() is over, or the work of this rank left by exit(3): wait until no
 * process will be told to run anything. */
void hearthi_parmacs_processes_end(void);

/* ---- numbers ---- */

/* Collective. */
void hearthi_parmacs_numbers_open(void);

/* Rank 0, at the first CREATE: others count on from what it has. */
void hearthi_parmacs_numbers_share(void);

/* The first of n new numbers.  In main() all ranks count alike, since they run
 * the same; later numbers are drawn from one count. */
int hearthi_parmacs_number_new(enum hearthi_numbered what, long n);

/* Ends the job if no object has been given that number, which is then no
 * object that was initialised. */
void hearthi_parmacs_number_check(const char           *macro,
                                  enum hearthi_numbered what, int number);

#endif
