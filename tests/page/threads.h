/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Threads of a rank, and bytes of shared pages that have one writer each.
 */
#ifndef HEARTH_THREADS_H
#define HEARTH_THREADS_H

#include <stdatomic.h>

#include "fixture.h"

enum { THREADS = 3, PAGES = 48, ROUNDS = 4 };

struct job {
    void (*work)(struct job *);
    int            thread;
    int            round;
    unsigned char *p;
    _Atomic bool  *stop;
    long long      wrong; /* expectations are for the main thread only */
};

/* Run work on all threads at once, and main_work (if any) on this one
 * meanwhile; its end is told by *stop. */
void on_threads(void (*work)(struct job *), void (*main_work)(struct job *),
                unsigned char *p, int round);

/* Write this thread's bytes, from the first-th on, all or every other (by 1 or
 * 2), and look whether they stay. */
void write_some(struct job *job, size_t first, size_t by, int round);

/* All bytes of all threads are those of this round. */
void check_bytes(const unsigned char *p, int round);

void threads_sync_tests(TCase *tc);
void threads_late_tests(TCase *tc);      /* threads_late.c */
void threads_in_flight_tests(TCase *tc); /* threads_in_flight.c */
void threads_misses_tests(TCase *tc);    /* threads_misses.c */
void threads_messages_tests(TCase *tc);  /* threads_messages.c */
TCase *threads_arm_case(void);             /* threads_arm.c */

#endif
