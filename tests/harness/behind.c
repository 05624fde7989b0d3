/* SPDX-License-Identifier: BSD-2-Clause */
#include "behind.h"

#include <pthread.h>

#include "fixture.h"

const struct hearthi_transport_ops *barrier_prompt;

void
barrier_by(exchange *instead)
{
    struct hearthi_transport_ops ops = *hearthi_transport;

    barrier_prompt = hearthi_transport;
    ops.collective.barrier = instead;
    hearthi_transport = &ops;
    barrier();
    hearthi_transport = barrier_prompt;
}

static struct {
    void *(*run)(void *);
    void *arg;
    int   tag;
} other;

static void
exchange_behind(const struct hearthi_notice *own, size_t n,
                bool invalidate_all, struct hearthi_barrier_notices *news)
{
    pthread_t thread;

    pthread_create(&thread, NULL, other.run, other.arg);
    pthread_join(thread, NULL);
    tell(ranks - 1, other.tag);
    (barrier_prompt->collective.barrier)(own, n, invalidate_all, news);
}

void
barrier_behind(void *(*run)(void *), void *arg, int tag)
{
    other.run = run;
    other.arg = arg;
    other.tag = tag;
    barrier_by(exchange_behind);
}
