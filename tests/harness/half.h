/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A thread that stores to the other half of a word of 8 bytes, again and
 * again.
 */
#ifndef HEARTH_HALF_H
#define HEARTH_HALF_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct half {
    volatile int32_t *at;
    int32_t           last;
    atomic_bool       begun, ended;
    pthread_t         thread;
};

/* Returns when it has stored once. */
void half_begin(struct half *h, int32_t *at);

/* Ends; what it has stored last is in `last`. */
void half_end(struct half *h);

#endif
