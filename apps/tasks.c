/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How it is known that all is done: who finds his own queue empty says that he
 * wants, in his queue and in the list of idle ranks, both under his queue's
 * lock.  Whoever brings him a task, he himself from another's queue or
 * somebody who gives, first strikes him off that list, holding the lock of the
 * queue where the task is or goes.  So a rank that is on the list has no task,
 * and who gives one is not on it: when all are on it, there are none.
 *
 * Locks nest in one order: a queue's, then that of the list.
 */
#include <config.h>

#include <stdlib.h>

#include <hearth/hearth.h>

#include "tasks.h"

struct queue {
    int64_t first, count; /* of the ring: the oldest, and how many */
    int64_t wants;        /* its rank is on the list of idle ones */
    int64_t asleep;       /* and waits for the condition */
    int64_t done;         /* there will be no more */
    int64_t marks;        /* so many of mark[] are set */
    int64_t mark[];       /* ranks that found nothing here; then the ring */
};

struct idle {
    int64_t count;
    int64_t is[]; /* of each rank: is it idle? */
};

/* Its rank's queue has the first of a rank's locks. */
static int
queue_lock(const struct tasks *t, int rank)
{
    return app_lock(t->run, rank, 0);
}

enum { IDLE_LOCK = HEARTH_LOCKS - 1 };

static int
condition(int rank)
{
    return rank % HEARTH_CONDS;
}

static int64_t *
ring(const struct tasks *t, struct queue *q, int64_t i)
{
    return &q->mark[t->run->ranks + (q->first + i) % t->capacity];
}

void
tasks_open(struct tasks *t, const struct app_run *run, size_t capacity)
{
    const size_t page = app_page_size(run), ranks = (size_t)run->ranks;
    size_t       bytes = sizeof(struct queue) + (ranks + capacity) * 8;

    bytes = (bytes + page - 1) / page * page;
    *t = (struct tasks){ .run = run, .capacity = (int64_t)capacity };
    t->all = app_alloc(run, ranks * bytes / 8, 8, hearth_block());
    t->idle = app_alloc(run, sizeof *t->idle / 8 + ranks, 8, hearth_on(0));
    t->queue = app_private(run, ranks, sizeof *t->queue);
    t->moved = app_private(run, capacity, sizeof *t->moved);
    for (size_t r = 0; r < ranks; r++)
        t->queue[r] = (struct queue *)(void *)(t->all + r * bytes);
}

void
tasks_close(struct tasks *t)
{
    free(t->moved);
    free(t->queue);
    hearth_free(t->idle);
    hearth_free(t->all);
}

/* On the list of idle ranks, or off it: are all on it now?  The caller holds
 * the lock of a queue. */
static bool
idle_say(struct tasks *t, int rank, bool is)
{
    bool all;

    hearth_lock(IDLE_LOCK);
    t->idle->count += is - t->idle->is[rank];
    t->idle->is[rank] = is;
    all = t->idle->count == t->run->ranks;
    hearth_unlock(IDLE_LOCK);
    return all;
}

/* Put tasks into a queue, and wake its rank. */
static void
queue_put(struct tasks *t, int rank, const int64_t *task, int64_t count)
{
    struct queue *q = t->queue[rank];
    bool          asleep;

    hearth_lock(queue_lock(t, rank));
    if (q->count + count > t->capacity)
        app_fail(t->run, "a queue has no room for more than %lld tasks",
                 (long long)t->capacity);
    if (q->wants)
        idle_say(t, rank, false);
    q->wants = false;
    for (int64_t i = 0; i < count; i++)
        *ring(t, q, q->count++) = task[i];
    asleep = q->asleep;
    hearth_unlock(queue_lock(t, rank));
    if (asleep)
        hearth_cond_broadcast(condition(rank));
}

void
tasks_push(struct tasks *t, int rank, int64_t task)
{
    queue_put(t, rank, &task, 1);
}

/* Take the oldest tasks out of a queue whose lock is held, to t->moved. */
static int64_t
queue_halve(struct tasks *t, struct queue *q)
{
    const int64_t half = (q->count + 1) / 2;

    for (int64_t i = 0; i < half; i++)
        t->moved[i] = *ring(t, q, i);
    q->first = (q->first + half) % t->capacity;
    q->count -= half;
    return half;
}

/* A rank that found nothing here, which is forgotten. */
static int
mark_take(const struct tasks *t, struct queue *q)
{
    int rank = t->run->rank;

    do
        rank = (rank + 1) % t->run->ranks;
    while (!q->mark[rank]);
    q->mark[rank] = false;
    q->marks--;
    return rank;
}

static bool
queue_wants(const struct tasks *t, int rank)
{
    bool wants;

    hearth_lock(queue_lock(t, rank));
    wants = t->queue[rank]->wants;
    hearth_unlock(queue_lock(t, rank));
    return wants;
}

/* Give half of what is left here to a rank that found nothing before and
 * still wants.  My queue's lock is held, and released. */
static void
queue_give(struct tasks *t, struct queue *q)
{
    const int hungry = mark_take(t, q);
    int64_t   count;

    hearth_unlock(queue_lock(t, t->run->rank));
    if (!queue_wants(t, hungry))
        return;
    hearth_lock(queue_lock(t, t->run->rank));
    count = queue_halve(t, q);
    hearth_unlock(queue_lock(t, t->run->rank));
    if (count > 0)
        queue_put(t, hungry, t->moved, count);
}

/* The newest task of my queue, whose lock is held. */
static int64_t
queue_pop(struct tasks *t, struct queue *q)
{
    t->taken++;
    return *ring(t, q, --q->count);
}

/* Nobody has a task: tell all. */
static void
all_done(struct tasks *t)
{
    for (int r = 0; r < t->run->ranks; r++) {
        hearth_lock(queue_lock(t, r));
        t->queue[r]->done = true;
        hearth_unlock(queue_lock(t, r));
        hearth_cond_broadcast(condition(r));
    }
}

/* A rank that wants looks into another's queue, and is marked there. */
static int64_t
queue_rob(struct tasks *t, int victim)
{
    const int     me = t->run->rank;
    struct queue *q = t->queue[victim];
    int64_t       count = 0;

    hearth_lock(queue_lock(t, victim));
    if (q->count > 0) {
        idle_say(t, me, false);
        count = queue_halve(t, q);
        t->stolen++;
    } else if (!q->mark[me]) {
        q->mark[me] = true;
        q->marks++;
    }
    hearth_unlock(queue_lock(t, victim));
    return count;
}

/* Look into all other queues; true: there is something in mine now. */
static bool
others_rob(struct tasks *t)
{
    const int ranks = t->run->ranks, me = t->run->rank;

    for (int r = (me + 1) % ranks; r != me; r = (r + 1) % ranks) {
        int64_t count = queue_rob(t, r);

        if (count > 0) {
            queue_put(t, me, t->moved, count);
            return true;
        }
    }
    return false;
}

/* Wait until somebody has changed my queue, whose lock is held. */
static void
queue_sleep(struct tasks *t, struct queue *q)
{
    q->asleep = true;
    hearth_cond_wait(condition(t->run->rank), queue_lock(t, t->run->rank));
    q->asleep = false;
}

/*
 * My queue is empty, and its lock is held: come back with it when somebody has
 * brought something, which others may have taken since, or all is done.
 */
static void
work_find(struct tasks *t, struct queue *q)
{
    const int me = t->run->rank;
    bool      all;

    q->wants = true;
    all = idle_say(t, me, true);
    hearth_unlock(queue_lock(t, me));
    if (all)
        all_done(t);
    else
        others_rob(t);
    hearth_lock(queue_lock(t, me));
    while (q->count == 0 && !q->done && q->wants)
        queue_sleep(t, q);
}

/* All is done, and my queue's lock is held: as it was before the first. */
static void
queue_reset(struct tasks *t, struct queue *q)
{
    q->done = false;
    q->wants = false;
    idle_say(t, t->run->rank, false);
}

bool
tasks_take(struct tasks *t, int64_t *task)
{
    const int     me = t->run->rank;
    struct queue *q = t->queue[me];
    bool          found;

    hearth_lock(queue_lock(t, me));
    while (q->count == 0 && !q->done)
        work_find(t, q);
    found = q->count > 0;
    if (found)
        *task = queue_pop(t, q);
    else
        queue_reset(t, q);
    if (found && q->marks > 0 && q->count > 0)
        queue_give(t, q);
    else
        hearth_unlock(queue_lock(t, me));
    return found;
}

int64_t
tasks_await(struct tasks *t)
{
    const int     me = t->run->rank;
    struct queue *q = t->queue[me];
    int64_t       task;

    hearth_lock(queue_lock(t, me));
    while (q->count == 0)
        queue_sleep(t, q);
    task = queue_pop(t, q);
    hearth_unlock(queue_lock(t, me));
    return task;
}
