/* SPDX-License-Identifier: BSD-2-Clause
 *
 * parmacs_splash3 CASE -- what the programs of SPLASH-3 do with its macros and
 * those of SPLASH-2 do not: G_MALLOC brings its own semicolon, a condition is
 * waited for with a lock of an array, fences, PAGE_SIZE, marks around what is
 * measured.  As in its WATER, numbers are drawn from 1 on, and the process
 * that comes to be number 0 leaves the result in a global variable.
 *
 *   plain    nothing else
 *   result   main() needs the result
 *   table    shared memory has the address of a static table
 *   scratch  every process changes a global variable of its own
 *   large    arrays of 120 GiB, of which nearly nothing is touched
 */
MAIN_ENV
#include <stdio.h>
#include <string.h>

#define LARGE (120L << 30)
#define is(what) (strcmp(name, what) == 0)

struct global {
    LOCKDEC(IndexLock)
    ALOCKDEC(CellLock, 5)
    CONDVARDEC(Done_cv)
    BARDEC(start)
    long Index, done, sum;
    const long *table;
} *gl;

long *data;
char *padded, *large;
long P, Result, scratch;
static const long squares[] = { 0, 1, 4, 9 };
const char *name;

void count(long ProcID)
{
    ALOCK(gl->CellLock, 3);
    data[ProcID] = ProcID + 1;
    RELEASE_FENCE();
    gl->done++;
    CONDVARBCAST(gl->Done_cv);
    while (gl->done < P)
        CONDVARWAIT(gl->Done_cv, AGETL(gl->CellLock, 3));
    gl->sum += data[ProcID];
    AULOCK(gl->CellLock, 3);
    ACQUIRE_FENCE();
    FULL_FENCE();
    BARRIER(gl->start, P);
}

void WorkStart(void)
{
    long ProcID;

    LOCK(gl->IndexLock);
    ProcID = gl->Index++;
    UNLOCK(gl->IndexLock);
    ProcID = ProcID % P;
    if (is("scratch"))
        scratch = ProcID + 1;
    if (is("large")) {
        large[ProcID * (LARGE / P)] = 1;
        large[(ProcID + 1) * (LARGE / P) - 1] = 2;
    }
    count(ProcID);
    if (is("large") && large[LARGE - 1] + large[0] != 3)
        printf("WRONG on %ld\n", ProcID);
    if (is("result") && ProcID == 0) {
        Result = gl->sum;
    }
}

int main(int argc, char *argv[])
{
    long right;

    name = argc > 1 ? argv[1] : "";
    P = atol(getenv("MPI_TEST_NP"));
    MAIN_INITENV(,70000000,);
    gl = (struct global *) G_MALLOC(sizeof(struct global))
    memset(gl, 0, sizeof(struct global));
    data = (long *) NU_MALLOC(P * sizeof(long), 0)
    padded = (char *) G_MALLOC(64 + PAGE_SIZE)
    if (is("large"))
        large = (char *) G_MALLOC(LARGE)
    if (is("table"))
        gl->table = squares;
    BARINIT(gl->start, P);
    LOCKINIT(gl->IndexLock);
    ALOCKINIT(gl->CellLock, 5);
    CONDVARINIT(gl->Done_cv);
    gl->Index = 1;

    SPLASH3_ROI_BEGIN();
    CREATE(WorkStart, P);
    WAIT_FOR_END(P);
    SPLASH3_ROI_END();

    right = gl->sum == P * (P + 1) / 2 && gl->Index == P + 1 &&
            PAGE_SIZE == 4096;
    if (is("result"))
        right = right && Result == gl->sum;
    if (is("table"))
        right = right && gl->table[3] == 9;
    printf("%s\n", right ? "right" : "WRONG");
    MAIN_END;
}
