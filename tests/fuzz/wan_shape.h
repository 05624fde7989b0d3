/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A world of three clusters of 2, 3 and 1 ranks, seen by the second, and bytes
 * brought into the shape of what is said there: of bytes as they are the judge
 * refuses nearly all at once.  For the targets that read such messages.
 */
#ifndef HEARTH_TEST_WAN_SHAPE_H
#define HEARTH_TEST_WAN_SHAPE_H

#include <string.h>

#include "life/liveness_line.h"
#include "notice/notice.h"
#include "transport/clusters/wan_validate.h"
#include "transport/log.h"

enum {
    WAN_PAGES = 4096,
    WAN_FRAMES = 1024,
    WAN_AT = 65536,
    WAN_SHIFT = 12,
    WAN_LONGEST = 1 << 20,
    WAN_SEGMENT = WAN_AT + (WAN_FRAMES << WAN_SHIFT),
    WAN_ME = 1,
    WAN_RANKS = 6
};

static const int wan_first[] = { 0, 2, 5, WAN_RANKS };

static const struct hearthi_bounds wan_bounds = { .clusters = 3,
                                                  .me = WAN_ME,
                                                  .first = wan_first,
                                                  .syncs = HEARTHI_SYNCS + 100,
                                                  .pages = WAN_PAGES,
                                                  .frames = WAN_FRAMES,
                                                  .frames_at = WAN_AT,
                                                  .segment = WAN_SEGMENT,
                                                  .shift = WAN_SHIFT,
                                                  .longest = WAN_LONGEST };

/* Numbers of the size that there is, or a little more: of inputs as they are
 * nearly all are refused at once. */
static inline void
wan_body_shape(const struct hearthi_wan_message *a, char *body)
{
    for (size_t at = 0; at + 32 <= a->len; at += 8) {
        struct hearthi_wan_run   r;
        struct hearthi_wan_bytes s;
        struct hearthi_notice    n;

        memcpy(&r, body + at, sizeof r);
        memcpy(&s, body + at, sizeof s);
        memcpy(&n, body + at, sizeof n);
        r.page %= WAN_PAGES + 8, r.frame %= WAN_FRAMES + 8, r.count %= 300;
        r.home %= 8;
        s.at %= WAN_SEGMENT + 64, s.len %= 100, s.home %= 8;
        n.page %= WAN_PAGES + 8, n.count %= 8, n.writer %= 8;
        if (a->op <= HEARTHI_WAN_KEEP)
            memcpy(body + at, &r, sizeof r), at += sizeof r - 8;
        else if (a->op <= HEARTHI_WAN_READ)
            memcpy(body + at, &s, sizeof s), at += s.len & 56;
        else
            memcpy(body + at, &n, sizeof n), at += sizeof n - 8;
    }
}

static inline void
wan_shape(struct hearthi_wan_message *a, size_t there)
{
    size_t body = there - sizeof *a;

    a->op %= HEARTHI_WAN_OPS;
    a->answer %= 2;
    a->narrow %= 2;
    a->rank %= 9;
    a->slot %= HEARTHI_WAN_SLOTS + 2;
    a->to %= 8;
    a->at %= WAN_SEGMENT + 16;
    a->len = (uint32_t)(body & ~(size_t)7) + a->len % 2 * 8;
    a->n = a->len / sizeof(struct hearthi_notice);
    if (a->len <= body)
        wan_body_shape(a, (char *)(a + 1));
}

#endif
