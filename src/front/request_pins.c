/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A persistent request holds its buffers from a start to its completion only:
 * in between they may be freed, and count for nothing in the cache.  Its
 * handle stays, so it is asked whether it is complete.
 *
 * The receiver's of a partitioned message holds them from the beginning to its
 * first completion: in Open MPI (5.0.7, 5.0.11) what the sender has made ready
 * arrives as soon as both have their requests, started or not.
 */
#include "config.h"

#include "request_pins.h"

#include <sched.h>
#include <stdlib.h>

#include "base/mpi_call.h"
#include "base/mutex.h"
#include "base/report.h"
#include "front/mpi_next.h"

enum { BUCKETS = 1024 };

struct hearthi_taken {
    int n;
    struct {
        int                        i; /* in the program's array */
        struct hearthi_buffer_pin *u;
    } item[];
};

/* Relaxed: hearthi_request_pins_any() says why. */
atomic_size_t hearthi_request_pins_n;

static struct hearthi_buffer_pin *bucket[BUCKETS], *orphans;
static atomic_int                 n_orphans, looking; /* threads, at those */
static pthread_mutex_t            lock = PTHREAD_MUTEX_INITIALIZER;

static struct hearthi_buffer_pin **
bucket_of(enum hearthi_request_pins kind, uintptr_t key)
{
    uint64_t h = ((uint64_t)key + kind) * UINT64_C(0x9e3779b97f4a7c15);

    return &bucket[h >> 54];
}

_Static_assert(BUCKETS == 1 << (64 - 54), "the hash's upper bits");

/* All of a chain have the same key: Open MPI gives one handle to all requests
 * that are complete from the beginning. */
static void
keep(struct hearthi_buffer_pin *u)
{
    struct hearthi_buffer_pin **b =
        bucket_of((enum hearthi_request_pins)u->kind, u->key);

    hearthi_mutex_lock(&lock, HEARTHI_MUTEX_REQUESTS);
    while (u != NULL) {
        struct hearthi_buffer_pin *next = u->next;

        u->next = *b;
        *b = u;
        u = next;
    }
    hearthi_mutex_unlock(&lock, HEARTHI_MUTEX_REQUESTS);
}

void
hearthi_buffer_pin_until(struct hearthi_buffer_pin *u, int code,
                         enum hearthi_request_pins kind, uintptr_t key,
                         intptr_t more)
{
    if (code != MPI_SUCCESS || (u->n == 0 && !u->alone) ||
        (kind == HEARTHI_PINS_REQUEST && key == (uintptr_t)MPI_REQUEST_NULL)) {
        hearthi_buffer_pin_end(u);
        return;
    }
    u->persistent =
        kind == HEARTHI_PINS_PERSISTENT || kind == HEARTHI_PINS_PARTITIONED;
    if (kind == HEARTHI_PINS_PERSISTENT)
        hearthi_buffer_unpin(u); /* what the call read of arrays */
    u->kind = u->persistent ? HEARTHI_PINS_REQUEST : kind;
    u->key = key;
    u->more = more;
    u->next = NULL;
    atomic_fetch_add_explicit(&hearthi_request_pins_n, 1,
                              memory_order_relaxed);
    keep(u);
}

static struct hearthi_buffer_pin *
take(struct hearthi_buffer_pin *rest, enum hearthi_request_pins kind,
     uintptr_t key, intptr_t more)
{
    struct hearthi_buffer_pin **at = bucket_of(kind, key), *u;

    hearthi_mutex_lock(&lock, HEARTHI_MUTEX_REQUESTS);
    while ((u = *at) != NULL) {
        if (u->kind == (int)kind && u->key == key &&
            (more == HEARTHI_ANY || u->more == more)) {
            *at = u->next;
            u->next = rest;
            rest = u;
        } else {
            at = &u->next;
        }
    }
    hearthi_mutex_unlock(&lock, HEARTHI_MUTEX_REQUESTS);
    return rest;
}

static void
count_down(const struct hearthi_buffer_pin *u,
           const struct hearthi_buffer_pin *end)
{
    HEARTHI_ASSERT(u == end || hearthi_request_pins_n > 0);
    for (; u != end; u = u->next)
        atomic_fetch_sub_explicit(&hearthi_request_pins_n, 1,
                                  memory_order_relaxed);
}

struct hearthi_buffer_pin *
hearthi_request_pins_take(struct hearthi_buffer_pin *rest,
                          enum hearthi_request_pins kind, uintptr_t key,
                          intptr_t more)
{
    struct hearthi_buffer_pin *u = take(rest, kind, key, more);

    count_down(u, rest);
    return u;
}

/* ---- requests ---- */

/* Looking at a request that is complete, or inactive, does not free it. */
static bool
is_complete(MPI_Request request)
{
    const char *outer = hearthi_mpi_call_enter("MPI_Request_get_status");
    int         done = 0;

    hearthi_next_pmpi.Request_get_status(request, &done, MPI_STATUS_IGNORE);
    hearthi_mpi_call_leave(outer);
    return done != 0;
}

struct hearthi_taken *
hearthi_requests_take(int n, const MPI_Request *request)
{
    struct hearthi_taken *t = NULL;

    hearthi_orphans_look();
    for (int i = 0; i < n; i++) {
        struct hearthi_buffer_pin *u;

        if (request[i] == MPI_REQUEST_NULL)
            continue;
        u = take(NULL, HEARTHI_PINS_REQUEST, (uintptr_t)request[i], 0);
        if (u == NULL)
            continue;
        if (t == NULL)
            t = calloc(1, sizeof *t + (size_t)n * sizeof *t->item);
        if (t == NULL)
            hearthi_fatal(u->call, "no memory to note %d requests", n);
        t->item[t->n].i = i;
        t->item[t->n++].u = u;
    }
    return t;
}

/* Has the call completed the i-th?  MPI_Request_get_status could tell, but in
 * MPICH from 4.2 on, and in Intel MPI, it makes a persistent request inactive
 * that is complete, and the program's next wait does not find it.  So MPI is
 * asked only after an error. */
static bool
has_completed(int i, MPI_Request request, int n, const int *indices)
{
    if (n == HEARTHI_NONE_TOLD)
        return is_complete(request);
    if (n == HEARTHI_EACH)
        return true;
    for (int k = 0; k < n; k++) /* MPI_UNDEFINED is below zero */
        if (indices[k] == i)
            return true;
    return false;
}

void
hearthi_requests_settle(struct hearthi_taken *t, const MPI_Request *request,
                        int n, const int *indices)
{
    for (int k = 0; k < t->n; k++) {
        struct hearthi_buffer_pin *u = t->item[k].u;
        MPI_Request                now = request[t->item[k].i];

        if (now == MPI_REQUEST_NULL) {
            count_down(u, NULL);
            hearthi_buffer_pin_end(u);
            continue;
        }
        if (u->persistent && u->pinned &&
            has_completed(t->item[k].i, now, n, indices))
            hearthi_buffer_unpin(u);
        keep(u);
    }
    free(t);
}

struct hearthi_taken *
hearthi_requests_start(int n, const MPI_Request *request)
{
    struct hearthi_taken *t = hearthi_requests_take(n, request);

    for (int k = 0; t != NULL && k < t->n; k++)
        if (!t->item[k].u->pinned)
            hearthi_buffer_pin_take(t->item[k].u);
    return t;
}

void
hearthi_requests_started(struct hearthi_taken *t, const MPI_Request *request)
{
    for (int k = 0; k < t->n; k++) {
        struct hearthi_buffer_pin *u = t->item[k].u;

        for (; u != NULL; u = u->next)
            u->key = (uintptr_t)request[t->item[k].i];
        keep(t->item[k].u);
    }
    free(t);
}

/* ---- requests that were let go ---- */

static void
orphan_end(struct hearthi_buffer_pin *u)
{
    const char *outer = hearthi_mpi_call_enter("MPI_Request_free");

    hearthi_next_pmpi.Request_free(&u->request);
    hearthi_mpi_call_leave(outer);
    count_down(u, NULL);
    hearthi_buffer_pin_end(u);
}

static struct hearthi_buffer_pin *
orphans_take(void)
{
    struct hearthi_buffer_pin *u;

    hearthi_mutex_lock(&lock, HEARTHI_MUTEX_REQUESTS);
    u = orphans;
    orphans = NULL;
    n_orphans = 0;
    hearthi_mutex_unlock(&lock, HEARTHI_MUTEX_REQUESTS);
    return u;
}

static void
orphan_keep(struct hearthi_buffer_pin *u)
{
    hearthi_mutex_lock(&lock, HEARTHI_MUTEX_REQUESTS);
    HEARTHI_ASSERT(n_orphans >= 0 && (orphans == NULL) == (n_orphans == 0));
    u->next = orphans;
    orphans = u;
    n_orphans++;
    hearthi_mutex_unlock(&lock, HEARTHI_MUTEX_REQUESTS);
}

void
hearthi_orphans_look(void)
{
    struct hearthi_buffer_pin *u, *next;

    if (n_orphans == 0 || hearthi_mpi_call != NULL)
        return;
    looking++;
    for (u = orphans_take(); u != NULL; u = next) {
        next = u->next;
        u->next = NULL;
        if (is_complete(u->request))
            orphan_end(u);
        else
            orphan_keep(u);
    }
    looking--;
}

/* Another thread may have the list, and may have looked at a request before it
 * was complete.  When that has given the list back, who has it looks later.
 * What threads do with it does not wait. */
void
hearthi_orphans_settle(void)
{
    for (int i = 0; hearthi_mpi_call == NULL && i < 2; i++) {
        hearthi_orphans_look();
        while (looking > 0)
            sched_yield();
    }
}

int
hearthi_request_free(int (*next)(MPI_Request *), MPI_Request *request)
{
    struct hearthi_buffer_pin *u = NULL;

    if (*request != MPI_REQUEST_NULL && hearthi_request_pins_any())
        u = take(NULL, HEARTHI_PINS_REQUEST, (uintptr_t)*request, 0);
    /* Only requests that are complete have one handle for several: MPI's for
     * sends that it has done already. */
    if (u != NULL && u->next != NULL) {
        count_down(u, NULL);
        hearthi_buffer_pin_end(u);
        u = NULL;
    }
    if (u == NULL) {
        const char *outer = hearthi_mpi_call_enter("MPI_Request_free");
        int         code = next(request);

        hearthi_mpi_call_leave(outer);
        return code;
    }
    u->request = *request;
    *request = MPI_REQUEST_NULL;
    orphan_keep(u);
    hearthi_orphans_look();
    return MPI_SUCCESS;
}

/* Hearth's thread is there still, and stays out of MPI. */
static void
bucket_end(struct hearthi_buffer_pin *u)
{
    count_down(u, NULL);
    for (struct hearthi_buffer_pin *at = u; at != NULL; at = at->next)
        at->alone = false;
    hearthi_buffer_pin_end(u);
}

void
hearthi_request_pins_close(void)
{
    struct hearthi_buffer_pin *u, *next;

    for (u = orphans_take(); u != NULL; u = next) {
        next = u->next;
        u->next = NULL;
        orphan_end(u);
    }
    for (int i = 0; i < BUCKETS; i++) {
        bucket_end(bucket[i]);
        bucket[i] = NULL;
    }
}
