/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The travelling salesman of the papers on TreadMarks: a queue of tours in
 * shared memory, filled with tours that process 0 allocates one by one, and
 * the shortest length under a lock of its own.  A process leaves when it finds
 * the queue empty, and others go on.
 */
#include <stdio.h>
#include <stdlib.h>

#include "Tmk.h"

#define CITIES 9
#define DEEP   3 /* cities in the tours of the queue */

struct tour {
    struct tour *next;
    int length, n;
    int city[CITIES];
};

struct tour **Queue;
int *Shortest_length, *Left;
int queue_lock_id, min_lock_id;
int distance[CITIES][CITIES];

void push(const struct tour *t)
{
    struct tour *new = (struct tour *)Tmk_malloc(sizeof(*new));

    *new = *t;
    new->next = *Queue;
    *Queue = new;
}

/* Every way to go on from a tour: into the queue while it is short, and else
 * to the end; the length of the shortest. */
int search(struct tour *t, int queue, int best)
{
    int c, i, sum;

    if (queue && t->n == DEEP) {
        push(t);
        return best;
    }
    if (t->n == CITIES) {
        sum = t->length + distance[t->city[CITIES - 1]][t->city[0]];
        return sum < best ? sum : best;
    }
    for (c = 0; c < CITIES; c++) {
        for (i = 0; i < t->n && t->city[i] != c; i++)
            ;
        sum = t->length + distance[t->city[t->n - 1]][c];
        if (i < t->n || sum >= best)
            continue;
        struct tour longer = *t;
        longer.city[longer.n++] = c;
        longer.length = sum;
        best = search(&longer, queue, best);
    }
    return best;
}

struct tour start = { 0, 0, 1, { 0 } };

void work()
{
    struct tour *path;
    int length, best;

    for (;;) {
        Tmk_lock_acquire(queue_lock_id);
        path = *Queue;
        if (path != NULL)
            *Queue = path->next;
        Tmk_lock_release(queue_lock_id);
        if (path == NULL)
            return;
        best = *Shortest_length; /* may be old: it is only a bound */
        length = search(path, 0, best);
        Tmk_free(path);
        Tmk_lock_acquire(min_lock_id);
        if (length < *Shortest_length)
            *Shortest_length = length;
        Tmk_lock_release(min_lock_id);
    }
}

int main()
{
    int i, j, want;

    Tmk_startup();
    queue_lock_id = 0;
    min_lock_id = 1;
    for (i = 0; i < CITIES; i++)
        for (j = 0; j < CITIES; j++)
            distance[i][j] = 1 + (i * 7 + j * 7 + i * j * 5) % 23;
    if (Tmk_proc_id == 0) {
        Queue = (struct tour **)Tmk_malloc(sizeof(*Queue));
        Shortest_length = (int *)Tmk_malloc(sizeof(int));
        Left = (int *)Tmk_malloc(sizeof(int));
        *Queue = NULL;
        *Shortest_length = 1 << 20;
        *Left = 0;
        search(&start, 1, 1 << 20);
        Tmk_distribute(&Queue, sizeof(Queue));
        Tmk_distribute(&Shortest_length, sizeof(Shortest_length));
        Tmk_distribute(&Left, sizeof(Left));
    }
    Tmk_barrier(0);
    work();
    Tmk_lock_acquire(2);
    ++*Left;
    Tmk_lock_cond_signal(2, 7);
    if (Tmk_proc_id != 0) {
        Tmk_lock_release(2);
        Tmk_exit();
    }
    while (*Left < (int)Tmk_nprocs)
        Tmk_lock_cond_wait(2, 7);
    Tmk_lock_release(2);
    want = search(&start, 0, 1 << 20);
    printf("shortest %d, processes %d\n", *Shortest_length, (int)Tmk_nprocs);
    printf("%s\n", *Shortest_length == want ? "right" : "WRONG");
    return 0;
}
