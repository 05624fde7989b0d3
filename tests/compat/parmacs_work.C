/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The other file of parmacs_loop.
 */
EXTERN_ENV

#include "parmacs_loop.h"

void multiply(long me)
{
    long i;

    for (i = me; i < n * n; i += P)
        gl->a[n * n + i] = 2 * gl->a[i];
    BARRIER(gl->all, P)
    if (me == P - 1)
        gl->n = n;
}

void second(void)
{
    LOCK(gl->idlock)
    gl->id += 10;
    UNLOCK(gl->idlock)
}
