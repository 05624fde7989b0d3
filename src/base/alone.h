/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Operations of the program's in which MPI must be left alone by threads of
 * Hearth's: file requests of Open MPI 4.1, whose progress engine walks their
 * list without a lock.  The thread of a gateway between clusters does not do
 * that: who takes part in such an operation may wait for it (doc/beside.md).
 */
#ifndef HEARTHI_ALONE_H
#define HEARTHI_ALONE_H

#include <stdbool.h>

/* Around such an operation, by any thread: the first waits until a thread of
 * Hearth's has left MPI, which it does in microseconds. */
void hearthi_alone_begin(void);
void hearthi_alone_end(void);

/* Before Hearth's thread is there: none is known of. */
void hearthi_alone_open(void);

/* Around what Hearth's one thread does in MPI: it does not if that is false. */
bool hearthi_alone_enter(void);
void hearthi_alone_leave(void);

#endif
