/* SPDX-License-Identifier: BSD-2-Clause
 *
 * hearth-run: a job is started, and started again from its last checkpoint
 * when it has failed.
 */
#ifndef HEARTH_RUN_H
#define HEARTH_RUN_H

#include <stdbool.h>

enum { BAD_USAGE = 2, MOST_RANKS = 1 << 24 };

struct run {
    bool        restarts; /* HEARTH_ON_FAILURE=restart */
    const char *folder;   /* HEARTH_CHECKPOINT, or NULL */
    long        tries;    /* starts after the first */
    const char *option;   /* the launcher's, before a number of ranks */
    long        least;    /* ranks; 0: as many as at first */
    char      **launcher; /* and its arguments */
};

/* The command line and the environment (command.c): the status to end with,
 * or -1. */
int run_read(struct run *r, int argc, char **argv);

/* "hearth-run: WHAT: WHY" on stderr; returns the status. */
int wrong(int status, const char *what, const char *why);

/* Signals are taken from now on, for the launcher (launcher.c). */
void launcher_prepare(void);

/* Start it and wait for its end: the status, 128 + N where signal N ended it.
 * *asked is the signal that asked this process to end the job, or 0. */
int launcher_run(char **launcher, int *asked);

/* Did a signal ask so while no launcher ran?  Else 0. */
int launcher_asked(void);

/* The number of ranks among the launcher's arguments (ranks.c): 0 if the
 * option is not there, or has no number. */
long ranks_find(char **launcher, const char *option);

/* Replace it.  False if there is no memory. */
bool ranks_replace(char **launcher, const char *option, long ranks);

#endif
