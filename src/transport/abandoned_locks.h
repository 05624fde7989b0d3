/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The locks that are lost with a rank that is gone, as far as those know who
 * are left: the lowest few.  Sent as it is; zeros are none.
 */
#ifndef HEARTHI_ABANDONED_LOCKS_H
#define HEARTHI_ABANDONED_LOCKS_H

#include <stddef.h>
#include <stdint.h>

enum { HEARTHI_ABANDONED_LOCKS = 3 };

struct hearthi_abandoned_locks {
    uint64_t lock[HEARTHI_ABANDONED_LOCKS]; /* names (lock_names.h), rising;
                                               then 0 */
    uint64_t more;                          /* not 0: and others */
};

/* Nothing if the name is not known. */
void hearthi_abandoned_locks_add(struct hearthi_abandoned_locks *l,
                                 uint64_t                        name);
void hearthi_abandoned_locks_merge(struct hearthi_abandoned_locks       *l,
                                   const struct hearthi_abandoned_locks *of);

/* "; lock 9 is lost with it", or nothing. */
void hearthi_abandoned_locks_text(const struct hearthi_abandoned_locks *l,
                                  char *text, size_t room);

#endif
