/* SPDX-License-Identifier: BSD-2-Clause */
#include "half.h"

static void *
half_store(void *arg)
{
    struct half *h = arg;

    while (!h->ended) {
        *h->at = ++h->last;
        for (volatile int i = 0; i < 300; i++)
            ;
    }
    return NULL;
}

void
half_begin(struct half *h, int32_t *at)
{
    h->at = at;
    h->last = 0;
    h->ended = false;
    pthread_create(&h->thread, NULL, half_store, h);
}

void
half_end(struct half *h)
{
    h->ended = true;
    pthread_join(h->thread, NULL);
}
