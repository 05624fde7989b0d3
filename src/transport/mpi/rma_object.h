/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The words and the log of a managed object, a lock or a flag, in the window
 * of its manager, and the steps that are made on them.
 *
 *   next     of a flag: the ticket that is drawn next (16 bits)
 *   serving  its value (1), ticket served (16), the log's epoch modulo
 *            HEARTHI_EPOCHS (7), how much is whole of the log (8), its end
 *            (32)
 *   epoch    of the log (64)
 *   waiters  of a flag or reader-writer lock, the last one (wait_slot.h)
 *   wakes    of a condition (cond.c)
 *
 * A reader-writer lock has more words of that kind (rw.c).  All these are its
 * head; its body, elsewhere in the window, is the log, or of a condition the
 * slots (cond.c).  For MPI may touch all of a window as it is made, and Hearth
 * writes the heads: so bodies are as short as can be, and heads lie together.
 *
 * The log and its epoch are moved by Get and Put, the other words by
 * Fetch_and_op only.  The rank that has the turn writes the log and flushes
 * that; then it writes `serving`, so that one Fetch_and_op there tells whether
 * it is our turn and whether the log has news.  A lock's `serving` goes with
 * it from holder to holder, as its token, without value and ticket; its other
 * words are with its places (mcs_lock.c).
 *
 * Tickets may count modulo 2^16: each node has at most one that is drawn and
 * not served, so that a ticket is told from every other that matters as long
 * as there are fewer nodes than that.
 *
 * `serving` has no room for a whole epoch, and needs none.  A log that could
 * have news is of the reader's epoch or of one of the next two (sync_ops.h);
 * any other is past, and these three are told from each other so.
 * What looks like one of the three may be older by a multiple of that, and so
 * it is `epoch`, read in one flush with the log, that says what it is.
 */
#ifndef HEARTHI_RMA_OBJECT_H
#define HEARTHI_RMA_OBJECT_H

#include "fabric.h"
#include "mpi.h"

/* Within a managed object. */
enum {
    HEARTHI_NEXT = 0,
    HEARTHI_SERVING = 8,
    HEARTHI_EPOCH = 16,
    HEARTHI_WAKES = 24,
    HEARTHI_WAITERS = 32,
    HEARTHI_BODY = 64
};

/* Added to `next`, it draws a ticket. */
#define HEARTHI_TICKET (UINT64_C(1) << 48)

/* The modulus of the epochs in `serving`: a log that rests looks like a newer
 * one for three barriers of so many, and costs a look at `epoch` then. */
enum { HEARTHI_EPOCHS = HEARTHI_TEST_LIMIT(1 << 7, 8) };

/* Threads that wait for one condition and have a word of its object each
 * (cond.c). */
enum { HEARTHI_COND_SLOTS = HEARTHI_TEST_LIMIT(56, 2) };

/* Has more nodes than tickets can tell apart. */
enum { HEARTHI_NODES_MOST = UINT16_MAX };

/* What `serving` says. */
struct hearthi_serving {
    bool     set;
    uint16_t ticket;
    uint8_t  epoch; /* modulo HEARTHI_EPOCHS */
    uint8_t  whole;
    uint32_t end;
};

struct hearthi_serving hearthi_serving_read(uint64_t word);
uint64_t               hearthi_serving_make(struct hearthi_serving s);

/* The ticket in a value of `next`. */
static inline uint16_t
hearthi_ticket(uint64_t next)
{
    return (uint16_t)(next >> 48);
}

/* A lock that gets a name, before any rank uses it. */
void hearthi_mpi_begin(int sync);

/* One step on a word, complete on return. */
uint64_t hearthi_word_op(int sync, size_t word, enum hearthi_fabric_op op,
                         uint64_t value);
uint64_t hearthi_serving_get(int sync);

/* Of one that this rank manages, while no rank changes it: without MPI. */
struct hearthi_serving hearthi_serving_own(int sync);

static inline struct hearthi_serving
hearthi_serving_now(int sync)
{
    return hearthi_serving_read(hearthi_serving_get(sync));
}

/* Begin to fill a grant, after `serving` was read: the caller may have waited
 * while its rank passed barriers. */
void hearthi_grant_refresh(struct hearthi_grant *g);

/* Read what is news for a grant, and what log that is: epoch 0 stands for any
 * that is past.  True if `epoch` or the log were read.  They stand still for
 * the rank that has the turn; others must find out whether they did. */
bool hearthi_log_get(int sync, struct hearthi_serving s,
                     struct hearthi_grant *g, struct hearthi_log *log);

/* For the rank that has the turn.  Append to the log, known from
 * hearthi_log_get() in this turn or not (NULL), what is told of an epoch of
 * this rank; *s becomes what is true then. */
void hearthi_log_put(int sync, struct hearthi_serving *s,
                     const struct hearthi_log *known, uint64_t now,
                     const struct hearthi_notice *n, size_t count);

#endif
