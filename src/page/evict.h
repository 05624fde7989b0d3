/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Replacement: what is given up where frames, or the kernel's mappings, come
 * to an end.  The table lock is held by callers.
 */
#ifndef HEARTHI_EVICT_H
#define HEARTHI_EVICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/min.h"
#include "base/mutex.h"
#include "frames.h"
#include "page.h"
#include "pin_count.h"
#include "twins.h"

/* Longest run of home pages whose mapping is given up, and made, as one. */
enum { HEARTHI_HOME_RUN = 64 };

/* A home page whose mapping was given up comes back, with those behind it, in
 * the state it would be in: tracked pages stay tracked.  `write`: it is about
 * to be written. */
void hearthi_home_back(uint64_t page, bool write);

/* Frames that are not kept by copies that are pinned, or are about to be. */
static inline uint64_t
hearthi_frames_free_to_go(void)
{
    uint64_t kept = hearthi_pin_count.copies + hearthi_pin_count.wanted;

    return hearthi_frames.bound - hearthi_min(kept, hearthi_frames.bound);
}

/* Most pages that one fetch may bring: some, however many are held. */
static inline uint64_t
hearthi_copies_most(void)
{
    uint64_t most = hearthi_frames_free_to_go() / 4;

    return most > 0 ? most : 1;
}

/* Where there is none. */
void hearthi_copies_make_room(uint64_t count);

/* Make room for frames of so many more pages, giving up the oldest copies, and
 * for a twin.  Afterwards the kernel's mappings are inside their budget as
 * well, so 0 is for callers that only split some. */
static inline void
hearthi_copies_reserve(uint64_t count)
{
    HEARTHI_ASSERT_HAS(TABLE);
    if (hearthi_frames.given + count > hearthi_frames.bound ||
        hearthi_areas_short() || hearthi_twins_short(1))
        hearthi_copies_make_room(count);
}

/* Look once more through all that could be given up, also where the last look
 * found nothing: are the kernel's mappings inside their budget then? */
bool hearthi_areas_suffice(void);

#endif
