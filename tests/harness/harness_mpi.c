/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

enum { LINE = 4096, PATH = 4096, HARD_ERROR = 99 };

static MPI_Comm     world; /* ours alone: tests may use MPI_COMM_WORLD */
static int          world_rank;
static const char  *at_function = "the start";
static volatile int at_line;
static char         unexpected[LINE]; /* "" is nothing */
static bool         unexpected_timely; /* so it may be another's doing */

/* Places that this rank has come to, in a file where run-mpi looks whether the
 * job goes on. */
static _Atomic uint64_t  own_steps;
static _Atomic uint64_t *steps = &own_steps;

/* Async-signal-safe as long as the formatted text fits. */
static void
say_where(int sig)
{
    char text[200];
    int  n = snprintf(text, sizeof text, "rank %d was last at %s:%d\n",
                      world_rank, at_function, at_line);

    if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0)
        _exit(HARD_ERROR);
    signal(sig, SIG_DFL);
    raise(sig);
}

/* This rank's file of a kind in the folder that run-mpi has for the run: no
 * rank's words get into another's.  False if there is no folder. */
static bool
file_name(char *path, const char *kind)
{
    const char *folder = getenv("MPI_TEST_FILES");

    if (folder == NULL || access(folder, W_OK) != 0)
        return false;
    if (snprintf(path, PATH, "%s/%s.%d", folder, kind, world_rank) >= PATH)
        MPI_Abort(MPI_COMM_WORLD, HARD_ERROR);
    return true;
}

/* Check has its own handler for SIGTERM while a suite runs, so ours is set
 * again at every place; and what Check has written of the tests before is to be
 * in the file if this one hangs. */
void
harness_at(const char *function, int line)
{
    if (function != at_function)
        fflush(NULL);
    at_function = function;
    at_line = line;
    signal(SIGTERM, say_where);
    harness_step();
}

void
harness_step(void)
{
    atomic_fetch_add_explicit(steps, 1, memory_order_relaxed);
}

static void
steps_share(void)
{
    char  path[PATH];
    void *p = MAP_FAILED;
    int   fd;

    if (!file_name(path, "steps"))
        return;
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0 && ftruncate(fd, sizeof own_steps) == 0)
        p = mmap(NULL, sizeof own_steps, PROT_READ | PROT_WRITE, MAP_SHARED,
                 fd, 0);
    if (fd >= 0)
        close(fd);
    if (p != MAP_FAILED)
        steps = p;
}

/* A blocking collective need not serve the other ranks' one-sided operations;
 * a request that is tested does. */
static int
lowest(int mine)
{
    int         first = INT_MAX, done = 0;
    MPI_Request request;

    MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, world, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        sched_yield();
    }
    return first;
}

int
failing_rank(int ok)
{
    int first = lowest(ok ? INT_MAX : world_rank);

    return first == INT_MAX ? -1 : first;
}

/* The rank whose failure is told: one that time alone does not explain comes
 * before all that it may. */
static int
told_rank(bool ok, bool timely)
{
    enum { TIMELY_ONES = 1 << 24 };
    int first = lowest(ok ? INT_MAX : world_rank + timely * TIMELY_ONES);

    return first == INT_MAX ? -1 : first % TIMELY_ONES;
}

/* At once also into a file, should the others wait for this rank meanwhile. */
static void
unexpected_write(void)
{
    char  path[PATH];
    FILE *f;

    if (!file_name(path, "unexpected"))
        return;
    f = fopen(path, "a");
    if (f == NULL)
        return;
    fprintf(f, "not ok - %s\n", unexpected);
    fclose(f);
}

/* The first that does not hold is kept, but for one that time may explain. */
static bool
is_kept(bool ok, bool timely)
{
    if (ok || (unexpected[0] != '\0' && (timely || !unexpected_timely)))
        return false;
    unexpected_timely = timely;
    return true;
}

void
expect_at(bool ok, const char *function, int line, const char *text)
{
    if (!is_kept(ok, false))
        return;
    snprintf(unexpected, sizeof unexpected, "%s:%d: '%s' is false on rank %d",
             function, line, text, world_rank);
    unexpected_write();
}

void
expect_timely_at(bool ok, const char *function, int line, const char *text)
{
    if (is_kept(ok, true))
        snprintf(unexpected, sizeof unexpected,
                 "%s:%d: '%s' is false on rank %d" TIMELY, function, line,
                 text, world_rank);
}

void
expect_eq_at(long long got, long long want, const char *function, int line,
             const char *text)
{
    if (!is_kept(got == want, false))
        return;
    snprintf(unexpected, sizeof unexpected,
             "%s:%d: '%s' is %lld, not %lld, on rank %d", function, line, text,
             got, want, world_rank);
    unexpected_write();
}

void
all_expected(void)
{
    char text[LINE];
    int  failing = told_rank(unexpected[0] == '\0', unexpected_timely);

    if (failing < 0)
        return;
    memcpy(text, unexpected, sizeof text);
    unexpected[0] = '\0';
    MPI_Bcast(text, sizeof text, MPI_CHAR, failing, world);
    /* The report comes when all is over, if it does. */
    if (world_rank == failing)
        fprintf(stderr, "# %s\n", text);
    ck_abort_msg("%s", text);
}

int
rounds_of(int n)
{
    const char *times = getenv("MPI_TEST_SLOWER");
    int         few = times != NULL && atoi(times) > 1 ? n / atoi(times) : n;

    return few >= 2 || n < 2 ? few : 2;
}

bool
threads_allowed(void)
{
    int level;

    MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
}

/* A launcher of another MPI gives n worlds of one rank; refuse to "pass". */
static void
require_world_size(void)
{
    const char *want = getenv("MPI_TEST_NP");
    int         size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (want != NULL && atoi(want) != size) {
        printf("Bail out! %d ranks instead of %s: launcher and library "
               "are not the same MPI\n",
               size, want);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, HARD_ERROR);
    }
}

static void
initialise(int *argc, char ***argv)
{
    static const struct {
        const char *name;
        int         level;
    } levels[] = { { "single", MPI_THREAD_SINGLE },
                   { "funneled", MPI_THREAD_FUNNELED },
                   { "serialized", MPI_THREAD_SERIALIZED },
                   { "multiple", MPI_THREAD_MULTIPLE } };
    const char *name = getenv("MPI_TEST_THREADS");
    int         want = MPI_THREAD_MULTIPLE, got;

    for (size_t i = 0; name != NULL && i < 4; i++)
        if (strcmp(name, levels[i].name) == 0)
            want = levels[i].level;
    MPI_Init_thread(argc, argv, want, &got);
    require_world_size();
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_rank(world, &world_rank);
    steps_share();
}

/* Run the suite on this rank; return its TAP report, as a file that stays in
 * run-mpi's folder or is unlinked, and the number of its tests. */
static FILE *
run_suite(Suite *suite, int *tests)
{
    char     path[PATH];
    bool     stays = file_name(path, "tap");
    int      fd;
    FILE    *tap;
    SRunner *sr;

    if (!stays)
        snprintf(path, sizeof path, "/tmp/hearth-tap-XXXXXX");
    fd = stays ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666)
               : mkstemp(path);
    tap = fd < 0 ? NULL : fdopen(fd, "r");
    if (tap == NULL)
        MPI_Abort(MPI_COMM_WORLD, HARD_ERROR);
    sr = srunner_create(suite);
    srunner_set_fork_status(sr, CK_NOFORK); /* beats CK_FORK=yes */
    srunner_set_tap(sr, path);
    srunner_run_all(sr, CK_SILENT);
    *tests = srunner_ntests_run(sr);
    srunner_free(sr);
    if (!stays)
        unlink(path);
    return tap;
}

static bool
is_timely(const char *text)
{
    size_t len = strlen(text), end = strlen(TIMELY);

    return len >= end && strcmp(text + len - end, TIMELY) == 0;
}

/* "not ok 3 - text" -> 0 and "text"; "ok 3 - text" -> 1 and "text". */
static int
parse(char *line, const char **text)
{
    char *dash = strstr(line, " - ");

    line[strcspn(line, "\n")] = '\0';
    *text = dash == NULL ? line : dash + 3;
    return strncmp(line, "ok", 2) == 0;
}

/* The next verdict of this rank, past the plan. */
static bool
line_read(FILE *tap, char *line)
{
    while (fgets(line, LINE, tap) != NULL)
        if (strstr(line, " - ") != NULL)
            return true;
    return false;
}

/* Merge the reports line by line: rank 0 prints how many verdicts there will
 * be and then each, with the text of the first rank that failed or has none. */
static void
merge(FILE *tap, int tests, FILE *out)
{
    MPI_Bcast(&tests, 1, MPI_INT, 0, world);
    if (world_rank == 0)
        fprintf(out, "1..%d\n", tests);
    for (int i = 1; i <= tests; i++) {
        char        line[LINE], own[LINE];
        const char *text;
        int         good, failed;

        if (!line_read(tap, line))
            snprintf(line, sizeof line,
                     "not ok %d - rank %d has no verdict of test %d", i,
                     world_rank, i);
        good = parse(line, &text);
        failed = told_rank(good, is_timely(text));
        snprintf(own, sizeof own, "%s", text);
        MPI_Bcast(own, sizeof own, MPI_CHAR, failed < 0 ? 0 : failed, world);
        if (world_rank == 0)
            fprintf(out, "%s - %s\n", failed < 0 ? "ok" : "not ok", own);
    }
    if (world_rank == 0)
        fprintf(out, "done\n");
}

/* Where rank 0 writes what all say. */
static FILE *
verdicts_open(void)
{
    char  path[PATH];
    FILE *out = stdout;

    if (world_rank == 0 && file_name(path, "verdicts"))
        out = fopen(path, "w");
    if (out == NULL)
        MPI_Abort(MPI_COMM_WORLD, HARD_ERROR);
    return out;
}

int
mpi_main(int argc, char **argv, Suite *suite)
{
    FILE *tap, *out;
    int   tests;

    initialise(&argc, &argv);
    tap = run_suite(suite, &tests);
    out = verdicts_open();
    merge(tap, tests, out);
    fclose(tap);
    fflush(NULL);
    MPI_Comm_free(&world);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
