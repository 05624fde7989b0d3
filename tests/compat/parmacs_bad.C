/* SPDX-License-Identifier: BSD-2-Clause
 *
 * parmacs_bad CASE -- one thing that the macros do not allow; ways.tap looks at
 * how it ends.  The case `early' is allowed: it ends before CREATE.
 */
#include <string.h>

ifdef(`WITHOUT_MAIN', `EXTERN_ENV', `MAIN_ENV')

struct global {
    LOCKDEC(lock)
    LOCKDEC(other)
    BARDEC(bar)
    PAUSEDEC(pause)
    CONDVARDEC(cond)
} *gl;

const char *name;
long P;

/* The first of these and as many more. */
define(`ten', `long v$1`'0, v$1`'1, v$1`'2, v$1`'3, v$1`'4, v$1`'5, v$1`'6, v$1`'7, v$1`'8, v$1`'9;')
ten(0)
ten(1)
ten(2)
ten(3)
ten(4)
ten(5)
ten(6)
define(`change', `v$1`'0 = v$1`'1 = v$1`'2 = v$1`'3 = v$1`'4 = v$1`'5 = v$1`'6 = v$1`'7 = v$1`'8 = v$1`'9 = pid;')

int is(const char *what)
{
    return strcmp(name, what) == 0;
}

void work(void)
{
    long pid, *p;

    LOCK(gl->lock)
    UNLOCK(gl->lock)
    GET_PID(pid)
    if (pid != P - 1)
        return;
    if (is("lock"))
        LOCK(gl->other)
    if (is("unlock"))
        UNLOCK(gl->lock)
    if (is("twice")) {
        LOCK(gl->lock)
        LOCK(gl->lock)
    }
    if (is("barrier"))
        BARRIER(gl->bar, P + 1)
    if (is("pause"))
        WAITPAUSE(gl->pause)
    if (is("cond"))
        CONDVARSIGNAL(gl->cond)
    if (is("create"))
        CREATE(work)
    if (is("inside")) {
        p = (long *) G_MALLOC(100);
        G_FREE(p + 1);
    }
    if (is("few") || is("changes")) {
        change(0)
    }
    if (is("changes")) {
        change(1)
        change(2)
        change(3)
        change(4)
        change(5)
        change(6)
    }
    if (is("left")) {
        MAIN_END
    }
}

int main(int argc, char *argv[])
{
    long pid;

    name = argc > 1 ? argv[1] : "";
    P = atol(getenv("MPI_TEST_NP"));
    if (is("initenv"))
        GET_PID(pid)
    if (is("without"))
        gl = (struct global *) G_MALLOC(sizeof(*gl));
    MAIN_INITENV
    gl = (struct global *) G_MALLOC(sizeof(*gl));
    memset(gl, 0, sizeof(*gl));
    LOCKINIT(gl->lock)
    GET_PID(pid)
    if (is("malloc"))
        G_MALLOC(0);
    if (is("differs"))
        G_MALLOC((1 << 20) + 65536 * pid);
    if (is("status"))
        exit(3);
    if (is("early"))
        return 0;
    if (is("many"))
        CREATE(work, P + 1)
    if (is("end"))
        WAIT_FOR_END(P)
    CREATE(work, P)
    if (is("again"))
        WAIT_FOR_END(P)
    if (is("again"))
        CREATE(work, P)
    WAIT_FOR_END(P)
    printf("right\n");
    MAIN_END
}
