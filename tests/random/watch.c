/* SPDX-License-Identifier: BSD-2-Clause */
#include "watch.h"

#include <mpi.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random.h"

enum { LOOK_SECONDS = 5, HANGS = 3, ENDED = 4 };

static _Atomic uint64_t tally[TALLY_COUNT];
static struct gauge     own;
struct gauge           *gauge = &own;
static const char *volatile at = "the start";
static int      patience = 60; /* seconds */
static uint64_t seen;          /* of gauge->steps ... */
static int      quiet;         /* ... for so many seconds */

void
tally_add(enum tally which, uint64_t n)
{
    atomic_fetch_add_explicit(&tally[which], n, memory_order_relaxed);
}

void
tally_print(void)
{
    static const char *const names[] = {
#define TALLY(name, text) text,
        TALLIES(TALLY)
#undef TALLY
    };
    uint64_t mine[TALLY_COUNT], sum[TALLY_COUNT];
    int      rank;

    for (int i = 0; i < TALLY_COUNT; i++)
        mine[i] = tally[i];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(mine, sum, TALLY_COUNT, MPI_UINT64_T, MPI_SUM, 0,
               MPI_COMM_WORLD);
    if (rank != 0)
        return;
    printf("# tally");
    for (int i = 0; i < TALLY_COUNT; i++)
        printf(" %s=%llu", names[i], (unsigned long long)sum[i]);
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

void
watch_start(void)
{
    const char *value = getenv("MPI_TEST_PATIENCE");

    if (value != NULL)
        patience = atoi(value);
    signal(SIGALRM, look);
    signal(SIGTERM, ended);
    alarm(LOOK_SECONDS);
}

void
watch_step(void)
{
    gauge->steps++;
    tally_add(TALLY_STEPS, 1);
}

void
watch_at(const char *what)
{
    at = what;
}
