/* SPDX-License-Identifier: BSD-2-Clause */
#include "threads_seam.h"

#include "transport/transport.h"

static const struct hearthi_transport_ops *real;
static struct hearthi_transport_ops        ops;

static void (*before)(void), (*after)(void);
static _Atomic int    fetches, most_of_them;
static _Atomic bool   begun, go_on, landed;
static const int64_t *spare; /* another page of the home's */

static void
bring_slowly(int way, const struct hearthi_fetch *run, size_t n)
{
    bool mine = fetches++ < most_of_them;

    if (mine && before != NULL)
        before();
    real->data.fetch_concurrent(way, run, n);
    if (mine && after != NULL)
        after();
}

void
seam_open(void (*first)(void), void (*then)(void), int most)
{
    /* A home that is to be told of flags is so with the lock in hand. */
    (void)*(const volatile int64_t *)spare;
    before = first;
    after = then;
    fetches = 0;
    most_of_them = most;
    begun = go_on = landed = false;
    real = hearthi_transport;
    ops = *real;
    ops.data.fetch_concurrent = bring_slowly;
    hearthi_transport = &ops;
}

void
seam_close(void)
{
    hearthi_transport = real;
}

int
seam_fetches(void)
{
    return fetches;
}

void
seam_stop(void)
{
    begun = true;
    while (!go_on)
        sleep_ms(1);
    sleep_ms(20);
    landed = true;
}

void
seam_stopped(void)
{
    while (!begun)
        sleep_ms(1);
}

void
seam_go_on(void)
{
    go_on = true;
}

bool
seam_has_landed(void)
{
    return landed;
}

static void *
read_word(void *arg)
{
    struct reading *r = arg;

    r->value = *(const volatile int64_t *)r->p;
    return NULL;
}

void
reading_begin(struct reading *r, const int64_t *p)
{
    r->p = p;
    pthread_create(&r->thread, NULL, read_word, r);
}

int64_t
reading_end(struct reading *r)
{
    pthread_join(r->thread, NULL);
    return r->value;
}

void
reading_stopped(struct reading *r, const int64_t *p, bool brought)
{
    seam_open(brought ? NULL : seam_stop, brought ? seam_stop : NULL, 1);
    reading_begin(r, p);
    seam_stopped();
}

bool
is_reader(void)
{
    return me == ranks - 1;
}

bool
may_play(void)
{
    return threads_allowed() && apart(0, ranks - 1);
}

int64_t *
pages_of_zero(int n)
{
    int64_t *p = hearth_alloc((size_t)(n + 1) * page_bytes(), 1, hearth_on(0));

    spare = word(p, n);
    return p;
}
