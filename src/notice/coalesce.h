/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What several ranks tell at a barrier: gathered, and joined for ranks to
 * which it is all one which of them wrote a page.  Pure data, as notice.h.
 */
#ifndef HEARTHI_COALESCE_H
#define HEARTHI_COALESCE_H

#include "notice.h"

/* Make one run of those that overlap or adjoin, whichever ranks wrote them:
 * the writer of the first counts as the writer of all.  The pages are the
 * same, neither more nor less; "invalidate_all" stays as it is, and notices of
 * no pages go.  They are sorted lists, one behind the other; many short ones
 * cost more than few long ones.
 *
 * Returns where they are now, and how many: in `to`, which may be `notice`; or
 * in `notice`, untouched, where hardly any would be joined.  `to` and `spare`
 * have room for *n. */
struct hearthi_notice *hearthi_notices_coalesce(struct hearthi_notice *notice,
                                                size_t                *n,
                                                struct hearthi_notice *to,
                                                struct hearthi_notice *spare);

/* Call them one rank's. */
void hearthi_notices_sign(struct hearthi_notice *notice, size_t n,
                          uint32_t writer);

/* One list behind the other, at most `most` notices (at least 1): of more the
 * nearest of each writer are merged, and where there are too many writers for
 * that it is `invalidate_all`, until it is cleared, and n is 0. */
struct hearthi_gathered {
    struct hearthi_notice *notice; /* room for `most`, the caller's */
    uint32_t               n, most;
    bool                   invalidate_all;
};

void hearthi_gathered_add(struct hearthi_gathered     *g,
                          const struct hearthi_notice *notice, size_t n,
                          bool invalidate_all);
void hearthi_gathered_clear(struct hearthi_gathered *g);

#endif
