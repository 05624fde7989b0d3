/* SPDX-License-Identifier: BSD-2-Clause */
#include "watch.h"

#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "random.h"

enum { LOOK_SECONDS = 5, HANGS = 3, ENDED = 4 };

/* As it stands in the file of MPI_TEST_TALLY, too. */
struct row {
    char             name[24];
    _Atomic uint64_t n;
};

static struct row   own_rows[TALLY_COUNT];
static struct row  *rows = own_rows;
static struct gauge own;
struct gauge       *gauge = &own;
static const char *volatile at = "the start";
static int      patience = 60; /* seconds */
static uint64_t seen;          /* of gauge->steps ... */
static int      quiet;         /* ... for so many seconds */

void
tally_add(enum tally which, uint64_t n)
{
    atomic_fetch_add_explicit(&rows[which].n, n, memory_order_relaxed);
}

void
tally_print(void)
{
    uint64_t mine[TALLY_COUNT], sum[TALLY_COUNT];
    int      rank;

    for (int i = 0; i < TALLY_COUNT; i++)
        mine[i] = rows[i].n;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(mine, sum, TALLY_COUNT, MPI_UINT64_T, MPI_SUM, 0,
               MPI_COMM_WORLD);
    if (rank != 0)
        return;
    printf("# tally");
    for (int i = 0; i < TALLY_COUNT; i++)
        printf(" %s=%llu", rows[i].name, (unsigned long long)sum[i]);
    printf("\n");
}

void
watch_place(char *text, size_t room)
{
    size_t n;

    world_place(text, room);
    n = strlen(text);
    snprintf(text + n, room - n, ", %s", at);
}

/* Async-signal-safe as long as the formatted text fits. */
static void
say(const char *how, int status)
{
    char text[300] = "random: ";
    int  n = (int)strlen(text);

    watch_place(text + n, sizeof text - (size_t)n - 32);
    strcat(text, how);
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(status + 1);
}

/* The others are about to say the same; whoever ends first ends all. */
static void
look(int sig)
{
    (void)sig;
    quiet = gauge->steps == seen ? quiet + LOOK_SECONDS : 0;
    seen = gauge->steps;
    if (quiet >= patience) {
        say(": hangs\n", HANGS);
        sleep(2 * LOOK_SECONDS);
        _exit(HANGS);
    }
    alarm(LOOK_SECONDS);
}

static void
ended(int sig)
{
    (void)sig;
    say(": ended\n", ENDED);
    _exit(ENDED);
}

/* A file outlives the rank that counts in it. */
static struct row *
rows_map(const char *path, int rank)
{
    const size_t bytes = sizeof own_rows;
    const off_t  from = rank * (off_t)sysconf(_SC_PAGESIZE);
    int          fd = open(path, O_RDWR | O_CREAT, 0600);
    void        *p = MAP_FAILED;

    _Static_assert(sizeof own_rows <= 4096, "a page for each rank");
    if (fd >= 0 && posix_fallocate(fd, from, (off_t)bytes) == 0)
        p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, from);
    if (fd >= 0)
        close(fd);
    return p == MAP_FAILED ? own_rows : p;
}

static void
rows_start(int rank)
{
    static const char *const names[] = {
#define TALLY(name, text) text,
        TALLIES(TALLY)
#undef TALLY
    };
    const char *path = getenv("MPI_TEST_TALLY");

    if (path != NULL)
        rows = rows_map(path, rank);
    for (int i = 0; i < TALLY_COUNT; i++)
        snprintf(rows[i].name, sizeof rows[i].name, "%s", names[i]);
}

static void *
killer(void *seconds)
{
    usleep((useconds_t)(*(const double *)seconds * 1e6));
    say(": killed\n", ENDED);
    kill(getpid(), SIGKILL);
    return NULL;
}

void
watch_kill(double seconds)
{
    static double after;
    pthread_t     thread;

    after = seconds;
    if (pthread_create(&thread, NULL, killer, &after) != 0)
        abort();
    pthread_detach(thread);
}

void
watch_start(int rank)
{
    const char *value = getenv("MPI_TEST_PATIENCE");

    rows_start(rank);
    if (value != NULL)
        patience = atoi(value);
    signal(SIGALRM, look);
    signal(SIGTERM, ended);
    alarm(LOOK_SECONDS);
}

void
watch_alive(void)
{
    gauge->steps++;
}

void
watch_step(void)
{
    watch_alive();
    tally_add(TALLY_STEPS, 1);
}

void
watch_at(const char *what)
{
    at = what;
}
