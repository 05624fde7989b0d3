/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parts of jia_init() and jia_exit(), and what has a limit.
 */
#ifndef HEARTHI_JIA_START_H
#define HEARTHI_JIA_START_H

/* ---- jia_arguments.c ---- */

/* What the command line asks for: -Q N and -S, up to --.  A number of hosts
 * that is none ends the job. */
struct hearthi_jia_wish {
    int hosts; /* 0: all ranks */
    int omit;  /* omit acknowledgements */
};
struct hearthi_jia_wish hearthi_jia_arguments(int argc, char **argv);

/* ---- jia_sync.c ---- */

/* Locks that a thread holds at once, conditions of jia_setcv, counters of
 * GSINIT. */
enum {
    HEARTHI_JIA_DEPTH = 8,
    HEARTHI_JIA_CONDITIONS = 64,
    HEARTHI_JIA_COUNTERS = 64
};

/* A start is outside of critical sections, and without counters of GSINIT. */
void hearthi_jia_sync_open(void);

/* ---- jia_alloc.c ---- */

/* Where jia_alloc() is in its turn of the hosts. */
void hearthi_jia_alloc_open(void);

/* ---- jia_hosts.c ---- */

/* The clock of jia.h, and the balancing of load. */
void hearthi_jia_tune_open(void);
void hearthi_jia_tune_close(void);

/* ---- jia_message.c ---- */

/* Messages that no host received must not hold up the end: take them, until
 * every host's own have gone.  Collective. */
void hearthi_jia_messages_close(void);

#endif
