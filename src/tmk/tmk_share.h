/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the calls of Tmk.h share: what each of them checks first, what
 * processes tell each other of private variables, and which condition of
 * Hearth's is the one of a lock.
 */
#ifndef HEARTHI_TMK_SHARE_H
#define HEARTHI_TMK_SHARE_H

#include <mpi.h>
#include <stdbool.h>

struct hearthi_tmk {
    bool     up;       /* between Tmk_startup and Tmk_exit */
    bool     owns_mpi; /* Tmk_startup initialised MPI */
    MPI_Comm comm;     /* for the end */
};

extern struct hearthi_tmk hearthi_tmk;

/* Every call but Tmk_startup() starts with this. */
void hearthi_tmk_require(const char *call);

/* The same, and ends the job if a number is not one of 0 .. count - 1. */
void hearthi_tmk_number(const char *call, const char *what, unsigned number,
                        unsigned count);

/* Collective. */
void hearthi_tmk_share_open(void);

/* After each acquire of whatever kind: take in what was distributed before. */
void hearthi_tmk_look(void);

/* The number of a lock's condition. */
int hearthi_tmk_cond(const char *call, unsigned lock, unsigned cond);

#endif
