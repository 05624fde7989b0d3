/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the program calls a lock, and what it is inside.
 */
#ifndef HEARTHI_API_LOCK_H
#define HEARTHI_API_LOCK_H

#include "hearth/hearth.h"
#include "node/lock_names.h"

/* For a lock that may have a name; a number that none can have ends the job.
 * The first use of a name asks its manager. */
int hearthi_lock_find(const char *call, int lock);

static inline int
hearthi_lock_number(const char *call, int lock)
{
    return (unsigned)lock < HEARTH_LOCKS ? lock
                                         : hearthi_lock_find(call, lock);
}

/* What the user calls the i-th object, for a message. */
struct hearthi_lock_text {
    char text[HEARTHI_LOCK_KEY_TEXT];
};

static inline struct hearthi_lock_text
hearthi_lock_text(int sync)
{
    struct hearthi_lock_text t;

    hearthi_lock_key_text(hearthi_lock_names_key(sync), t.text, sizeof t.text);
    return t;
}

#endif
