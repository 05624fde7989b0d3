/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A program in the ANL macros: a matrix product whose rows are drawn from a
 * counter under a lock, bins with an array of locks, and a barrier.
 */
#include <stdio.h>
#include <stdlib.h>

#include "jia.h"

MAIN_ENV

#define N    48
#define BINS 5

struct shared {
    LOCKDEC(next_lock)
    LOCKDEC(done_lock)
    ALOCKDEC(bin_lock, BINS)
    BARDEC(start)
    GSDEC(rows)
    int next, done;
    int bin[BINS], drawn;
    double a[N][N], b[N][N], c[N][N];
};

struct shared *gl;

void worker(void);
void count(void);

void fill(void)
{
    int i, j;

    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++) {
            gl->a[i][j] = i + j;
            gl->b[i][j] = i == j ? 2 : 0;
        }
}

void row(int i)
{
    int j, k;

    for (j = 0; j < N; j++) {
        gl->c[i][j] = 0;
        for (k = 0; k < N; k++)
            gl->c[i][j] += gl->a[i][k] * gl->b[k][j];
    }
}

void worker(void)
{
    int i, mine = 0;

    BARRIER(gl->start, jiahosts)
    for (;;) {
        LOCK(gl->next_lock)
        i = gl->next++;
        UNLOCK(gl->next_lock)
        if (i >= N)
            break;
        row(i);
        ALOCK(gl->bin_lock, i % BINS)
        gl->bin[i % BINS]++;
        AULOCK(gl->bin_lock, i % BINS)
    }
    for (;;) {
        GETSUB(gl->rows, i, 99, jiahosts)
        if (i < 0)
            break;
        mine += i;
    }
    LOCK(gl->done_lock);
    gl->done++;
    gl->drawn += mine;
    UNLOCK(gl->done_lock);
}

void count(void)
{
    LOCK(gl->done_lock)
    gl->done++;
    UNLOCK(gl->done_lock)
}

int right(void)
{
    int i, j, n = 0;

    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++)
            if (gl->c[i][j] != 2.0 * (i + j))
                return 0;
    for (i = 0; i < BINS; i++)
        n += gl->bin[i];
    return n == N && gl->done == jiahosts + 1 && gl->drawn == 99 * 100 / 2;
}

/* More locks than have numbers are others, which two hosts may nest. */
#define MANY 1200
int many(void)
{
    ALOCKDEC(lock, MANY)
    int i, n = 0;

    ALOCKINIT(lock, MANY)
    for (i = 0; i + 1024 < MANY; i++) {
        ALOCK(lock, i)
        ALOCK(lock, i + 1024)
        n += lock[i] != lock[i + 1024];
        AULOCK(lock, i + 1024)
        AULOCK(lock, i)
    }
    return n == MANY - 1024;
}

int main(int argc, char **argv)
{
    int i, ok = 1;
    int rows;
    float t1, t2;

    MAIN_INITENV(, 80000000)
    jia_init(argc, argv);
    gl = (struct shared *)G_MALLOC(sizeof(struct shared));
    ok = many();
    /* Every host numbers its locks in the same way; one writes them down. */
    GSINIT(rows)
    if (jiapid == 0) {
        gl->rows = rows;
        LOCKINIT(gl->next_lock);
        LOCKINIT(gl->done_lock)
        ALOCKINIT(gl->bin_lock, BINS)
        BARINIT(gl->start)
        fill();
    }
    jia_barrier();
    CLOCK(t1)
    for (i = 1; i < jiahosts; i++)
        CREATE(worker)
    worker();
    WAIT_FOR_END(jiahosts - 1)
    CLOCK(t2);
    CREATE(count, 1)
    jia_barrier();
    if (jiapid == 0) {
        ok = ok && right() && t2 >= t1;
        printf("%s\n", ok ? "right" : "WRONG");
    }
    G_FREE(gl)
    jia_exit();
    MAIN_END
    return ok ? 0 : 1;
}
