/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_TESTS_BEHIND_H
#define HEARTH_TESTS_BEHIND_H

/* hearth_barrier() of this rank, which says what it has to tell, and then
 * waits inside until a thread of it has run that and the last rank was told
 * so: what the thread writes is not in the barrier. */
void barrier_behind(void *(*run)(void *), void *arg, int tag);

#endif
