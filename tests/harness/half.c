/* SPDX-License-Identifier: BSD-2-Clause */
#include "half.h"

#include <sched.h>

static void *
half_store(void *arg)
{
    struct half *h = arg;

    do {
        *h->at = ++h->last;
        h->begun = true;
        for (volatile int i = 0; i < 300; i++)
            ;
    } while (!h->ended);
    return NULL;
}

void
half_begin(struct half *h, int32_t *at)
{
    h->at = at;
    h->last = 0;
    h->begun = h->ended = false;
    pthread_create(&h->thread, NULL, half_store, h);
    while (!h->begun)
        sched_yield();
}

void
half_end(struct half *h)
{
    h->ended = true;
    pthread_join(h->thread, NULL);
}
