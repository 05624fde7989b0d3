/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The memory of a trial: regions of the heap, and what must be in them.
 */
#ifndef CALLS_REGION_H
#define CALLS_REGION_H

#include "calls.h"

/* Bytes beside a buffer: its rank writes mine, the right neighbour his. */
enum side { MINE, HIS };

struct region {
    unsigned char *base; /* whole pages */
    size_t         span;
    size_t         at, bytes; /* the buffer in it */
    enum state     state;
    int            home;
    unsigned char *shadow; /* what must be in the region; only my own's */
};

struct sides {
    const char   *text; /* of the trial, for messages */
    int           left, shift;
    struct region send[CALL_RANKS], recv[CALL_RANKS];
    bool          written[2]; /* by side: on all ranks */
    bool          seen;       /* his, in mine: ordered before what follows */
};

/* Regions of all ranks, filled, in their states.  Collective, as are all but
 * side_write and side_expect. */
void sides_new(struct sides *s, const struct trial *t, const char *text);
void sides_free(struct sides *s);

/* Write, and look at, the bytes beside a rank's buffers. */
void side_write(struct sides *s, int rank, enum side side);
void side_expect(struct sides *s, int rank, enum side side);

/* After the operation: every byte of mine, but those that nothing has ordered;
 * and after a barrier what others see of mine. */
void sides_expect_here(struct sides *s);
void sides_expect_everywhere(struct sides *s, MPI_Comm comm);

#endif
