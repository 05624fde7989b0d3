/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hearth-perf: figures of the library beside what they cost by hand.
 *
 * A figure is a function that measures, in one round, the library's figure
 * and its raw counterpart, one right after the other, so that a noisy machine
 * hits both.  perf.c runs the rounds and takes medians.
 *
 * Rank 0 is the actor: it faults, writes and times.  Its peer is a rank of
 * another node.  Everybody else waits inside MPI, in perf_meet() or in
 * hearth_barrier(), or asleep in perf_rest(), unless a figure says otherwise.
 */
#ifndef PERF_H
#define PERF_H

#include <hearth/hearth.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>

enum {
    PERF_ACTOR = 0,
    PERF_EXTRAS = 8,
    PERF_SAMPLE = 2 + PERF_EXTRAS, /* figure, raw counterpart, extras */
    PERF_PIECE = 2 << 20,          /* bytes of one large MPI_Get or MPI_Put */
    PERF_OUTSTANDING = 128,        /* small operations between two flushes */
    PERF_BATCH = 64                /* messages before the receiver answers */
};

/* The memory and windows of the raw side.  Both windows have a passive epoch
 * for the whole run and are large only at the peer. */
struct perf_raw {
    MPI_Comm comm;      /* the program's own, unknown to Hearth */
    MPI_Win  create;    /* MPI_Win_create over page-aligned shared memory */
    MPI_Win  allocate;  /* MPI_Win_allocate, small */
    char    *target;    /* memory under `create` */
    char    *buffer;    /* where the actor keeps what it gets; touched */
    size_t   bytes;     /* of target (at the peer) and buffer (at the actor) */
    size_t   allocated; /* bytes under `allocate` at the peer */
};

enum perf_over { PERF_OVER_ANY, PERF_OVER_MPI, PERF_OVER_UDP, PERF_OVER_LINK };

struct perf_figure;
struct perf_udp;

struct perf {
    int      rank;
    int      size;
    int      peer; /* first rank of another node than the actor's, or -1 */
    int      mate; /* first other rank of the actor's node, or -1 */
    bool     quick;
    bool     pin;          /* --pin */
    bool     crowded;      /* more ranks than cores */
    size_t   page;         /* the system page */
    size_t   fault_pages;  /* pages of a fault figure */
    size_t   stream_bytes; /* bytes of a scan */
    size_t   held_pages;   /* clean copies held over a barrier */
    size_t   turns;        /* of a short operation; whole hundreds */
    uint32_t salt;         /* changes every round, and so do written values */
    double   link;         /* MB/s of the network, as the user says, or 0 */

    cpu_set_t cores; /* that this process may use */

    enum perf_over            transport; /* mpi or udp */
    const struct perf_figure *figure;    /* the one at work */

    struct perf_raw  raw;
    struct perf_udp *udp; /* udp.h */
};

enum perf_sense { PERF_AT_MOST, PERF_AT_LEAST };
enum perf_need {
    PERF_ANY,
    PERF_PEER,
    PERF_MATE,
    PERF_CLUSTERS,
    PERF_CLUSTERS_PEER /* and two nodes in the first */
};

/* Several rows may have a name; the first that fits the run counts. */
struct perf_figure {
    const char     *name;
    const char     *unit;
    const char     *what;    /* the figure, in words */
    const char     *against; /* its raw counterpart, in words */
    double          bound;   /* of the ratio figure/raw; 0: none */
    enum perf_sense sense;
    enum perf_need  need;
    enum perf_over  over;  /* a transport, or any with --link */
    size_t          bytes; /* for rows that differ in a size only */
    /* Collective.  The actor's sample counts: [0] figure, [1] raw, then
     * extras, all in `unit`. */
    void (*round)(struct perf *p, double *sample);
    const char *extra[PERF_EXTRAS]; /* names of the extras, NULL after them */
    const char *words[PERF_EXTRAS]; /* for the table to show them, or NULL */
};

/* Tables, one per file; each ends with a row without a name. */
extern const struct perf_figure perf_fault_figures[];
extern const struct perf_figure perf_busy_figures[];
extern const struct perf_figure perf_pattern_figures[];
extern const struct perf_figure perf_stream_figures[];
extern const struct perf_figure perf_store_figures[];
extern const struct perf_figure perf_sync_figures[];
extern const struct perf_figure perf_atomic_figures[];
extern const struct perf_figure perf_word_figures[];
extern const struct perf_figure perf_lock_figures[];
extern const struct perf_figure perf_home_figures[];
extern const struct perf_figure perf_heap_figures[];
extern const struct perf_figure perf_trip_figures[];
extern const struct perf_figure perf_model_figures[];
extern const struct perf_figure perf_scatter_figures[];
extern const struct perf_figure perf_beside_figures[];
extern const struct perf_figure perf_malloc_figures[];
extern const struct perf_figure perf_idle_figures[];
extern const struct perf_figure perf_far_figures[];

/* measure.c */
double perf_now(void); /* microseconds */
double perf_median(double *values, int count);
bool   perf_acting(const struct perf *p);
bool   perf_is_peer(const struct perf *p);
/* Of the two, is this one?  And the other of them. */
bool perf_taking_part(const struct perf *p);
int  perf_other(const struct perf *p);
/* Wait for every rank, inside MPI and outside Hearth. */
void perf_meet(const struct perf *p);
/* The same, asleep where the transport needs nobody inside MPI. */
void perf_rest(const struct perf *p);
/* From now on all threads of this process, the library's too, run on the core
 * of this rank. */
void perf_pin(struct perf *p);
/* The core of this rank, one of those that the process may use. */
void perf_core(const struct perf *p, cpu_set_t *core);
/* Ends the job: the figure would be about wrong data. */
_Noreturn void perf_wrong(const char *figure, size_t offset);
/* 0 .. count-1 in random order; the same order every time. */
size_t *perf_shuffled(size_t count);
void   *perf_memory(size_t bytes); /* page-aligned, shared, untouched */
void    perf_memory_free(void *p, size_t bytes);
void    perf_fill(uint64_t *words, size_t count, uint64_t salt);
/* Index of the first word that differs from perf_fill()'s, or count. */
size_t perf_check(const uint64_t *words, size_t count, uint64_t salt);

/* raw.c: the raw side.  Times are microseconds for the whole call. */
void   perf_raw_open(struct perf *p);
void   perf_raw_close(struct perf *p);
double perf_raw_gets(struct perf *p, MPI_Win win, const size_t *order);
double perf_raw_puts(struct perf *p, MPI_Win win);
double perf_raw_twins(struct perf *p);
double perf_raw_atomics(struct perf *p, MPI_Win win, size_t count);
/* Collective, for messages between actor and peer. */
double perf_raw_bounce(const struct perf *p, size_t bytes, size_t turns,
                       double *sending);
double perf_raw_stream(const struct perf *p, size_t bytes, size_t count);
double perf_raw_receive(const struct perf *p, size_t bytes);

/* empty.c: faults that bring nothing, one per page of a new mapping, in
 * the given order (NULL: ascending). */
enum perf_touch { PERF_FIRST, PERF_AGAIN };
double perf_empty_faults(const struct perf *p, const size_t *order,
                         enum perf_touch touch);

/* report.c */
void perf_report_begin(const struct perf *p, int rounds);
/* `first` is the figure in the round before those that count: what a program
 * meets that does it once, with memory that the kernel has yet to bring. */
void perf_report(const struct perf_figure *f, const double *sample,
                 double first, int rounds);
void perf_report_skip(const struct perf_figure *f, const char *reason);
void perf_report_list(FILE *out, const struct perf_figure *const *tables,
                      int count);

#endif
