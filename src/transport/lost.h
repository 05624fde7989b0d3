/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The locks that are lost with a rank that is gone, as far as those know who
 * are left: the lowest few.  Sent as it is; zeros are none.
 */
#ifndef HEARTHI_TRANSPORT_LOST_H
#define HEARTHI_TRANSPORT_LOST_H

#include <stddef.h>
#include <stdint.h>

enum { HEARTHI_LOST_LOCKS = 3 };

struct hearthi_lost {
    uint64_t lock[HEARTHI_LOST_LOCKS]; /* names (named.h), rising; then 0 */
    uint64_t more;                     /* not 0: and others */
};

/* Nothing if the name is not known. */
void hearthi_lost_add(struct hearthi_lost *l, uint64_t name);
void hearthi_lost_merge(struct hearthi_lost *l, const struct hearthi_lost *of);

/* "; lock 9 is lost with it", or nothing. */
void hearthi_lost_text(const struct hearthi_lost *l, char *text, size_t room);

#endif
