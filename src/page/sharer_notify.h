/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How homes are told of new sharer flags, before a copy is fetched from them
 * that may survive an acquire (coherence/sharer_flags.c).  The table lock is
 * held by callers.
 */
#ifndef HEARTHI_SHARER_NOTIFY_H
#define HEARTHI_SHARER_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

void hearthi_sharer_notify_open(void);
void hearthi_sharer_notify_close(void);

/* This home must be told of new flags before a copy is fetched from it that
 * may survive an acquire (coherence/sharer_flags.c). */
void hearthi_sharer_notify_later(int home);

/* How many are not told yet. */
extern int hearthi_sharers_untold;

/* Was it told of all first copies that were dropped? */
bool hearthi_sharer_is_notified(int home);

/* Tell the homes of these runs what they must know first.  First copies are
 * dropped at the next acquire in any case, so the word may travel with them;
 * it must have arrived before any other copy is fetched.  True if any was
 * told. */
bool hearthi_sharer_notify_homes(const struct hearthi_fetch *run, size_t n);

static inline bool
hearthi_sharer_notify_runs(const struct hearthi_fetch *run, size_t n)
{
    return hearthi_sharers_untold > 0 && hearthi_sharer_notify_homes(run, n);
}

/* Tell all homes that are not told yet, now, and wait until it has arrived. */
void hearthi_sharer_notify_all(void);

/* What was told has arrived: before the fetches to come. */
void hearthi_sharer_notify_fence(void);

#endif
