/* SPDX-License-Identifier: BSD-2-Clause
 *
 * MPI's calls on heap memory: rows of calls, and what is done with each.
 *
 * A row is run twice with the same bytes, on private memory and on the heap:
 * what MPI makes of private memory is what the heap must show.
 */
#ifndef CALLS_H
#define CALLS_H

#include "config.h"
#include "fixture.h"

enum { CALL_REQUESTS = 8, CALL_RANKS = 16 };

struct call;

/* One operation, on buffers that are private or of the heap. */
struct operation {
    const struct call *call;
    unsigned char     *send, *recv; /* so many bytes each */
    size_t             bytes;
    bool               pending; /* start only begins what finish ends */
    unsigned           turn;    /* varies what is not worth a row */
    MPI_Comm           comm;
    int                left, right, root;
    MPI_Request        requests[CALL_REQUESTS]; /* what finish waits for */
    int                count;
    void              *own; /* a row's, from start to finish */
};

/* How far a row can be pending. */
enum call_kind {
    CALL_PENDS,    /* start returns at once */
    CALL_TOGETHER, /* the same, after all ranks have come to it */
    CALL_BLOCKS    /* start does it all */
};

struct call {
    const char    *name; /* NULL ends a table */
    enum call_kind kind;
    void (*start)(struct operation *o);
    void (*finish)(struct operation *o); /* NULL: wait for the requests */
    const void *what;                    /* the table's own */
    int         how;
};

extern const struct call calls_blocking[], calls_pending[], calls_completion[],
    calls_types[], calls_collectives[], calls_neighbours[], calls_rma[],
    calls_files[], calls_newer[];

/* Some turns make the call with large counts, where there is one. */
#if HAVE_DECL_MPI_TYPE_GET_CONTENTS_C
#define EITHER(o, call, ...) \
    ((o)->turn / 4 % 2 == 0 ? call##_c(__VA_ARGS__) : call(__VA_ARGS__))
#else
#define EITHER(o, call, ...) call(__VA_ARGS__)
#endif

/* What some tables need around their rows; for operations on comm. */
void calls_neighbours_begin(MPI_Comm comm);
void calls_neighbours_end(void);
void calls_rma_begin(MPI_Comm comm);
void calls_rma_end(void);
void calls_files_begin(MPI_Comm comm);
void calls_files_end(void);

/* The next request that is waited for. */
MPI_Request *request_new(struct operation *o);
void         requests_wait(struct operation *o);

/* The same, and free what is the row's own. */
void own_end(struct operation *o);

/* Pages of a buffer, as its rank has them when the call is made. */
enum state {
    OWN,     /* at home here, and never read by others */
    READ,    /* at home here, and read by others */
    ABSENT,  /* at home elsewhere and not here */
    CLEAN,   /* a copy, read */
    WRITTEN, /* a copy, written */
    HELD,    /* a copy, held by another thread */
    LAST,    /* absent, and the buffer ends where its allocation does */
    STATES
};

/* What happens between the beginning and the end of an operation. */
enum meanwhile {
    BLOCKING,
    NOTHING,
    ACQUIRE, /* of a lock, which shows what others wrote beside the buffers */
    RELEASE, /* which shows others what was written beside the buffers */
    BARRIER, /* both */
    MEANWHILES
};

struct trial {
    const struct call *call;
    size_t             bytes;
    enum state         send, recv;
    enum meanwhile     meanwhile;
    unsigned           turn;
};

/* Play it and expect that all is right.  Collective. */
void trial_run(const struct trial *t, MPI_Comm comm);

/* Lists, names, handles and numbers.  Collective. */
void calls_small_run(MPI_Comm comm);

TCase *calls_orphans(void (*start)(void), void (*stop)(void));

/* Wait until every rank is here, in words of MPI: no acquire, no release. */
void all_here(void);

#endif
