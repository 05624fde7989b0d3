/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks in distributed queues: one for each rank, at home with it and under
 * one of its locks.  A rank takes its own newest task; one that has none takes
 * half of another's, the oldest ones; and if nobody has any it waits for a
 * condition until somebody who has some later gives it a part, or nobody works
 * any more.
 *
 * All of it is right under scope consistency too: a task is a number, and
 * whatever a queue says is said under its lock.
 */
#ifndef APPS_TASKS_H
#define APPS_TASKS_H

#include "common.h"

/* The first of each rank's locks (app_lock()) is for its queue, as the last of
 * all is for all; so who has others does not take these inside. */
enum { TASKS_LOCKS = 1 };

struct queue; /* of a rank: shared */
struct idle;  /* who has nothing to do: shared */

struct tasks {
    const struct app_run *run;
    struct queue        **queue; /* of each rank */
    char                 *all;   /* where they lie */
    struct idle          *idle;
    int64_t               capacity; /* of a queue */
    int64_t              *moved;    /* room for those that change hands */
    long                  taken;    /* by this rank */
    long                  stolen;   /* times that it took from another */
};

/* Queues for so many tasks each.  Collective. */
void tasks_open(struct tasks *t, const struct app_run *run, size_t capacity);
void tasks_close(struct tasks *t);

/* Put a task into the queue of a rank. */
void tasks_push(struct tasks *t, int rank, int64_t task);

/*
 * Take a task, this rank's own or another's, and wait as long as there may be
 * one.  False when all tasks are done: no rank has one, and none is working on
 * one.  Every rank calls it until then; tasks are pushed between two calls, or
 * before the first and a barrier.  After another barrier it begins anew.
 */
bool tasks_take(struct tasks *t, int64_t *task);

/* Wait for a task in this rank's own queue, and take it. */
int64_t tasks_await(struct tasks *t);

#endif
