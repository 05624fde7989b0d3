/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A program in the macros of SPLASH-2: main() makes the other processes one by
 * one and then works itself; what it computes is read from the standard input
 * before MAIN_INITENV; the work is in another file; and there is a second
 * round.
 */
#include <stdio.h>
#include <stdlib.h>

MAIN_ENV

#include "parmacs_loop.h"

struct global *gl;
long n, P;

void second(void);

void slave(void)
{
    long me;

    LOCK(gl->idlock);
    me = gl->id++;
    UNLOCK(gl->idlock);
    if (me > 0)
        printf("process %ld of %ld\n", me, P);
    multiply(me);
}

int main(void)
{
    long i;

    if (scanf("%ld %ld", &n, &P) != 2)
        exit(1);
    MAIN_INITENV();
    printf("n %ld\n", n);
    gl = (struct global *)G_MALLOC(sizeof(*gl) + 2 * n * n * sizeof(double));
    BARINIT(gl->all, P);
    LOCKINIT(gl->idlock);
    gl->id = 0;
    for (i = 0; i < n * n; i++)
        gl->a[i] = i;
    for (i = 1; i < P; i++)
        CREATE(slave)
    slave();
    WAIT_FOR_END(P - 1)
    for (i = 0; i < n * n && gl->a[n * n + i] == 2.0 * i; i++)
        ;
    gl->id = 0;
    for (n = 1; n < P; n++)
        CREATE(second)
    second();
    WAIT_FOR_END(P - 1)
    printf("%s\n", i == gl->n * gl->n && gl->id == 10 * P ? "right" : "WRONG");
    return 0;
}
