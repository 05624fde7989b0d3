/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Barriers of this rank in which something else happens.
 */
#ifndef HEARTH_TESTS_BEHIND_H
#define HEARTH_TESTS_BEHIND_H

#include "transport/transport.h"

/* hearth_barrier() by another exchange, which calls barrier_prompt's. */
typedef void exchange(const struct hearthi_notice *own, size_t n,
                      bool                            invalidate_all,
                      struct hearthi_barrier_notices *news);
void         barrier_by(exchange *instead);
extern const struct hearthi_transport_ops *barrier_prompt;

/* One that says what it has to tell, and then waits inside until a thread of
 * this rank has run that and the last rank was told so: what the thread writes
 * is not in the barrier. */
void barrier_behind(void *(*run)(void *), void *arg, int tag);

#endif
