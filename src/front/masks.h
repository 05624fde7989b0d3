/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Masks that leave SIGSEGV open.
 */
#ifndef HEARTHI_MASKS_H
#define HEARTHI_MASKS_H

#include <signal.h>

/* *set without SIGSEGV: in *room, or itself. */
const sigset_t *hearthi_mask_open(const sigset_t *set, sigset_t *room);

#endif
