/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is pinned for operations that go on after the call that began them,
 * until another call says that they have ended.  Any thread may do either.
 */
#ifndef HEARTHI_REQUEST_PINS_H
#define HEARTHI_REQUEST_PINS_H

#include <limits.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "front/buffer_pin.h"

enum hearthi_request_pins {
    HEARTHI_PINS_REQUEST,     /* by request */
    HEARTHI_PINS_PERSISTENT,  /* by request, pinned while it is active */
    HEARTHI_PINS_PARTITIONED, /* the same, and from the beginning */
    HEARTHI_PINS_ORIGIN,      /* by window and target rank */
    HEARTHI_PINS_WINDOW,      /* by window; attached memory by its address */
    HEARTHI_PINS_SPLIT,       /* by file: a split collective */
    HEARTHI_PINS_ATTACHED     /* the buffer of MPI_Buffer_attach */
};

/* As `more`: any. */
#define HEARTHI_ANY INTPTR_MIN

extern atomic_size_t hearthi_request_pins_n;

/* The cheap question in front of every call that may end something.  The
 * thread that completes an operation knows of it from the thread that began
 * it, and so sees the count as well. */
static inline bool
hearthi_request_pins_any(void)
{
    return atomic_load_explicit(&hearthi_request_pins_n,
                                memory_order_relaxed) != 0;
}

/* After the call that began the operation, with its result: keep, or end if it
 * has failed. */
void hearthi_buffer_pin_until(struct hearthi_buffer_pin *u, int code,
                              enum hearthi_request_pins kind, uintptr_t key,
                              intptr_t more);

/* Before the call that ends it: take what is pinned out, in front of `rest`,
 * so that what is begun meanwhile, maybe with the same handle, is not taken
 * for it.  The caller drops it when the call has returned. */
struct hearthi_buffer_pin *
hearthi_request_pins_take(struct hearthi_buffer_pin *rest,
                          enum hearthi_request_pins kind, uintptr_t key,
                          intptr_t more);

/* The same for requests, any number of which may be complete then: those whose
 * handle is gone, or which are persistent and no longer active.  What is not
 * is kept.  The call has completed `n` of them, by their indices. */
enum { HEARTHI_EACH = INT_MAX, HEARTHI_NONE_TOLD = INT_MIN };

struct hearthi_taken;
struct hearthi_taken *hearthi_requests_take(int n, const MPI_Request *request);
void                  hearthi_requests_settle(struct hearthi_taken *t,
                                              const MPI_Request *request, int n,
                                              const int *indices);

/* Before persistent requests are started: pin what theirs are.  And after,
 * by the handles that they have then: Open MPI gives a new one to a buffered
 * send whose message is still on its way. */
struct hearthi_taken *hearthi_requests_start(int                n,
                                             const MPI_Request *request);
void                  hearthi_requests_started(struct hearthi_taken *t,
                                               const MPI_Request    *request);

/* A request that is freed before it is complete goes on, and nothing tells
 * when its buffer is no longer used.  So it is not freed until it is complete:
 * such orphans are looked at now and then.  After the third call none is left
 * that was complete before it. */
int  hearthi_request_free(int (*next)(MPI_Request *), MPI_Request *request);
void hearthi_orphans_look(void);
void hearthi_orphans_settle(void);

/* At the end of Hearth: drop everything. */
void hearthi_request_pins_close(void);

#endif
