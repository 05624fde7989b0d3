/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The words and the log of a managed object, a lock or a flag, in the window
 * of its manager, and the steps that are made on them.
 */
#ifndef HEARTHI_TRANSPORT_MPI_MANAGED_H
#define HEARTHI_TRANSPORT_MPI_MANAGED_H

#include "mpi.h"

/* Within a managed object: its words, moved by Fetch_and_op only, and its
 * log. */
enum { HEARTHI_NEXT = 0, HEARTHI_SERVING = 8, HEARTHI_LOG_AT = 64 };

/* A flag's value sits where a lock's ticket does not reach: flags are locked
 * by tickets too, so their serving word keeps 15 bits for the ticket. */
#define HEARTHI_FLAG_SET (UINT64_C(1) << 63)
#define HEARTHI_TICKETS  UINT16_C(0x7fff)

/* What the word SERVING says. */
struct hearthi_serving {
    bool               set;
    uint16_t           ticket;
    struct hearthi_log log;
};

struct hearthi_serving hearthi_serving_read(uint64_t word);
uint64_t               hearthi_serving_make(struct hearthi_serving s);

/* One step on a word, complete on return. */
uint64_t hearthi_word_op(int sync, size_t word, MPI_Op op, uint64_t value);
uint64_t hearthi_serving_get(int sync);

/* Read what is news for the caller of an acquire. */
void hearthi_log_get(int sync, uint64_t serving, struct hearthi_grant *g);

/* Append and return the serving word that says so. */
uint64_t hearthi_log_put(int sync, uint64_t serving, uint16_t epoch,
                         const struct hearthi_notice *n, size_t count);

#endif
