/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What this rank has learnt and written since the last barrier, between the
 * files of this layer.  The table's lock guards it.
 */
#ifndef HEARTHI_KNOWN_NOTICES_H
#define HEARTHI_KNOWN_NOTICES_H

#include <stdbool.h>
#include <stdint.h>

#include "coherence.h"
#include "notice/notice.h"

struct hearthi_known_notices {
    struct hearthi_notice_store known; /* since the last barrier */
    struct hearthi_notice_store
             section;  /* own writes, for scope consistency */
    uint64_t interval; /* of this rank */
    bool     ahead;    /* of the barrier to come (coherence.c) */
};

extern struct hearthi_known_notices hearthi_known_notices;

/* End the interval, and know what was written in it. */
void hearthi_interval_next(enum hearthi_end how);

/* lock_sync.c: what this rank keeps of each lock and flag. */
void hearthi_sync_views_open(void);
void hearthi_sync_views_close(void);

#endif
