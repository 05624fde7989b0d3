/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Fetches beside the lock of the page table (page/page_in_flight.h) that are
 * slow.  Rank 0 is the home of the pages; the last rank reads.
 */
#ifndef HEARTH_THREADS_SEAM_H
#define HEARTH_THREADS_SEAM_H

#include <pthread.h>

#include "threads.h"

#define SECOND UINT64_C(1000000000)

/* Until the seam is closed: what is done before a fetch is sent and when it
 * has brought its pages, by as many of them as this. */
void seam_open(void (*first)(void), void (*then)(void), int most);
void seam_close(void);

/* Fetches since it was opened. */
int seam_fetches(void);

/* For a seam: the first fetch stops until another thread says that it may go
 * on, and then long enough for that one to come to where it has to wait. */
void seam_stop(void);
void seam_stopped(void); /* wait until it has */
void seam_go_on(void);
bool seam_has_landed(void);

/* Another thread, which reads a word. */
struct reading {
    const int64_t *p;
    int64_t        value;
    pthread_t      thread;
};

void    reading_begin(struct reading *r, const int64_t *p);
int64_t reading_end(struct reading *r);

/* Open the seam and begin: return when the fetch has stopped, before it is
 * sent or when it has brought the page. */
void reading_stopped(struct reading *r, const int64_t *p, bool brought);

bool is_reader(void);
bool may_play(void);

/* Pages of rank 0 alone, and a spare one. */
int64_t *pages_of_zero(int n);

#endif
