/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where a run is, whether it gets on, and what it did in numbers.
 */
#ifndef HEARTH_RANDOM_WATCH_H
#define HEARTH_RANDOM_WATCH_H

#include <stddef.h>
#include <stdint.h>

/* What is counted: its name in the line of numbers. */
#define TALLIES(TALLY)              \
    TALLY(CHECKED, "checked")       \
    TALLY(WORLDS, "worlds")         \
    TALLY(STEPS, "steps")           \
    TALLY(SCENES, "scenes")         \
    TALLY(ALLOCS, "allocations")    \
    TALLY(OBJECTS, "objects")       \
    TALLY(SECTIONS, "sections")     \
    TALLY(TRIES, "tries")           \
    TALLY(TAKEN, "taken")           \
    TALLY(FLAGS, "flag_waits")      \
    TALLY(ATOMICS_DONE, "atomics")  \
    TALLY(ATOMICS_32, "atomics32")  \
    TALLY(CONDS, "cond_waits")      \
    TALLY(CROWDED, "crowded")       \
    TALLY(INSIDE, "edges_inside")   \
    TALLY(NAMED, "named_sections")  \
    TALLY(HOLDS, "holds")           \
    TALLY(CANCELS, "cancellations") \
    TALLY(EVERYTHING, "everything") \
    TALLY(DATAGRAMS, "datagrams")   \
    TALLY(RESENDS, "resends")       \
    TALLY(REPEATS, "repeats")       \
    TALLY(REFUSED, "refused")

enum tally {
#define TALLY(name, text) TALLY_##name,
    TALLIES(TALLY)
#undef TALLY
        TALLY_COUNT
};

void tally_add(enum tally which, uint64_t n);

/* Collective: one line on rank 0, summed over ranks. */
void tally_print(void);

/* What all ranks of a machine count together: `steps` moves as long as
 * anybody gets on.  Own memory where it cannot be shared. */
struct gauge {
    _Atomic uint64_t steps;
    _Atomic uint64_t turns; /* of the lock that a scene of tries is about */
};
extern struct gauge *gauge;

/* From now on a run of which no rank completes a step for a minute
 * (MPI_TEST_PATIENCE seconds) hangs: each rank says where it is, and ends.
 * Counts of this rank are in its page of the file MPI_TEST_TALLY, if that is
 * set, however the run ends. */
void watch_start(int rank);

/* This rank says where it is and is killed after so many seconds. */
void watch_kill(double seconds);

/* A step is done. */
void watch_step(void);

/* Part of a step is done, which may have taken long. */
void watch_alive(void);

/* What the main thread does next; a constant text. */
void watch_at(const char *what);

/* Where the main thread is, for a message. */
void watch_place(char *text, size_t room);

#endif
