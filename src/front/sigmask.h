/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Masks that leave open the signals by which page faults come.
 */
#ifndef HEARTHI_SIGMASK_H
#define HEARTHI_SIGMASK_H

#include <signal.h>

/* *set without these: in *room, or itself. */
const sigset_t *hearthi_sigmask_open(const sigset_t *set, sigset_t *room);

#endif
