/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A program in the macros of SPLASH-3, each of which it uses: processes take
 * their numbers under a lock, move through a pipeline of pauses, meet at a
 * barrier, build a list of what they allocate, and hand a token round by
 * conditions.  Its options come from the command line, as do `pauses', more
 * than Hearth has flags.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MAIN_ENV

#define BINS 7
#define MAX_PROCS 64

struct item {
    struct item *next;
    long of;
};

struct global {
    long id;
    LOCKDEC(idlock)
    LOCKDEC(listlock)
    ALOCKDEC(binlock, BINS)
    BARDEC(start)
    CONDVARDEC(turned)
    struct { PAUSEDEC(done) long sum; } stage[MAX_PROCS];
    struct item *list;
    long bin[BINS], token, rounds, main_ran, wrong;
    LOCKDEC(more)
} *gl;

long P = 1, pauses = 0;
long squares[MAX_PROCS]; /* private, the same in each process */
double *data;
char *text; /* shared, from a file */
struct pause_of { PAUSEDEC(pause) char pad[40]; } *many;
int *manylocks;

void check(long ok, const char *what)
{
    if (ok)
        return;
    printf("WRONG: %s\n", what);
    gl->wrong = 1;
}

void pipeline(long me)
{
    if (me > 0) {
        WAITPAUSE(gl->stage[me - 1].done)
        gl->stage[me].sum = gl->stage[me - 1].sum;
        CLEARPAUSE(gl->stage[me - 1].done)
    }
    gl->stage[me].sum += me + 1;
    SETPAUSE(gl->stage[me].done)
    BARRIER(gl->start, P)
    check(gl->stage[P - 1].sum == P * (P + 1) / 2, "pipeline");
}

void fill_bins(long me)
{
    long i;

    for (i = 0; i < 3 * BINS; i++) {
        ALOCK(gl->binlock, (i + me) % BINS)
        gl->bin[(i + me) % BINS]++;
        AULOCK(gl->binlock, (i + me) % BINS)
    }
}

void allocate(long me)
{
    struct item *new;
    long i;

    for (i = 0; i < 20; i++) {
        new = (struct item *) NU_MALLOC(sizeof(struct item), me);
        new->of = me;
        LOCK(gl->listlock)
        new->next = gl->list;
        gl->list = new;
        UNLOCK(gl->listlock)
    }
}

void hand_round(long me)
{
    long i;

    for (i = 0; i < 3; i++) {
        LOCK(gl->listlock)
        while (gl->token != me) {
            CONDVARWAIT(gl->turned, gl->listlock)
        }
        gl->token = (me + 1) % P;
        gl->rounds++;
        CONDVARBCAST(gl->turned)
        UNLOCK(gl->listlock)
    }
}

/* Beyond what Hearth has of flags and of locks without a name. */
void use_many(long me)
{
    long i;

    for (i = pauses - 1; i >= 0; i -= 200) {
        if (i % P == me) {
            SETPAUSE(many[i].pause)
        } else {
            WAITPAUSE(many[i].pause)
        }
        LOCK(manylocks[i])
        data[P]++;
        UNLOCK(manylocks[i])
        BARRIER(gl->start, P)
    }
}

void work(void)
{
    long me, pid;

    LOCK(gl->idlock)
    me = gl->id;
    gl->id = gl->id + 1;
    UNLOCK(gl->idlock)
    GET_PID(pid)
    check(pid == me, "numbers are not in the order of ranks");
    check(squares[P - 1] == (P - 1) * (P - 1), "private variables");
    check(data[me] == 2.5 * me, "shared memory of main");
    check(memcmp(text, "\177ELF", 4) == 0, "what main read");
    check(gl->main_ran == 1, "main ran several times");
    BARRIER(gl->start, P)
    if (me == P - 1) {
        LOCKINIT(gl->more)
    }
    pipeline(me);
    fill_bins(me);
    allocate(me);
    LOCK(gl->more)
    data[me] = -1.0;
    UNLOCK(gl->more)
    hand_round(me);
    use_many(me);
}

void results(void)
{
    struct item *i, *next;
    long n = 0, sum = 0, k;

    for (k = 0; k < P; k++) {
        n += data[k] == -1.0;
    }
    check(n == P, "data");
    for (n = 0, k = 0; k < BINS; k++) {
        n += gl->bin[k];
    }
    check(n == 3 * BINS * P, "bins");
    for (n = 0, i = gl->list; i != NULL; i = next, n++) {
        next = i->next;
        sum += i->of;
        G_FREE(i);
    }
    check(n == 20 * P && sum == 20 * P * (P - 1) / 2, "list");
    check(gl->rounds == 3 * P, "rounds");
    printf("%s\n", gl->wrong ? "WRONG" : "right");
}

void read_file(const char *name)
{
    FILE *f = fopen(name, "rb");

    setvbuf(f, NULL, _IONBF, 0);
    text = (char *) G_MALLOC(10000);
    check(fread(text, 1, 10000, f) == 10000, "fread");
    fclose(f);
}

int main(int argc, char *argv[])
{
    long i, t1, t2;

    P = argc > 1 ? atol(argv[1]) : 1;
    pauses = argc > 2 ? atol(argv[2]) : 0;
    MAIN_INITENV(,80000000)
    printf("%ld processes\n", P);
    gl = (struct global *) G_MALLOC(sizeof(struct global));
    memset(gl, 0, sizeof(struct global));
    data = (double *) G_MALLOC((1 << 20) * sizeof(double));
    many = (struct pause_of *) G_MALLOC((pauses + 1) * sizeof(struct pause_of));
    manylocks = (int *) G_MALLOC((pauses + 1) * sizeof(int));
    read_file(argv[0]);
    LOCKINIT(gl->idlock)
    LOCKINIT(gl->listlock)
    ALOCKINIT(gl->binlock, BINS)
    BARINIT(gl->start, P)
    CONDVARINIT(gl->turned)
    for (i = 0; i < P; i++) {
        PAUSEINIT(gl->stage[i].done)
        squares[i] = i * i;
        data[i] = 1.5 * i;
    }
    for (i = 0; i < pauses; i++) {
        PAUSEINIT(many[i].pause)
    }
    ALOCKINIT(manylocks, pauses)
    /* What was stored is read again and changed. */
    LOCK(gl->idlock)
    for (i = 0; i < P; i++) {
        data[i] += 1.0 * i;
    }
    gl->main_ran++;
    UNLOCK(gl->idlock)
    CLOCK(t1)
    CREATE(work, P)
    WAIT_FOR_END(P)
    CLOCK(t2)
    check(t2 > t1 && t2 - t1 < 60000000, "clock");
    check(gl->id == P, "processes");
    results();
    G_FREE(data);
    MAIN_END
}
