/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "shares.h"

#include "base/min.h"

static const struct {
    const char *name, *key;
} word[HEARTHI_SHARES] = {
    [HEARTHI_SHARE_COMPUTING] = { "computing", "computing" },
    [HEARTHI_SHARE_READ_FAULTS] = { "read faults", "read_faults" },
    [HEARTHI_SHARE_WRITE_FAULTS] = { "write faults", "write_faults" },
    [HEARTHI_SHARE_AHEAD] = { "fetching ahead", "fetching_ahead" },
    [HEARTHI_SHARE_DIFFS] = { "diffs", "diffs" },
    [HEARTHI_SHARE_BARRIERS] = { "waiting in barriers", "barriers" },
    [HEARTHI_SHARE_LOCKS] = { "waiting for locks", "locks" },
    [HEARTHI_SHARE_SERVED] = { "others served", "served" },
    [HEARTHI_SHARE_EXPLICIT] = { "hearth_read, hearth_write", "explicit" },
};

const char *
hearthi_share_name(enum hearthi_share which)
{
    return word[which].name;
}

const char *
hearthi_share_key(enum hearthi_share which)
{
    return word[which].key;
}

static uint64_t
beyond(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* diff_ns and predict_ns are parts of barrier_ns and lock_ns together.  What a
 * barrier does but wait holds those of barriers, and the notices; the rest of
 * them is in calls for locks.  A thread of the library's own that gives a lock
 * back brings diffs home, too, beside the program: no more is taken for those
 * of lock_ns than that is. */
static void
sync_split(struct hearthi_shares *to, const hearth_stats *s, int nodes)
{
    uint64_t wait = nodes == 1
                        ? s->barrier_ns
                        : hearthi_min(s->barrier_wait_ns, s->barrier_ns);
    uint64_t barrier = s->barrier_ns - wait;
    uint64_t lock =
        hearthi_min(beyond(s->diff_ns + s->predict_ns, barrier), s->lock_ns);
    uint64_t ahead = hearthi_min(s->predict_ns, barrier + lock);

    to->ns[HEARTHI_SHARE_BARRIERS] = wait;
    to->ns[HEARTHI_SHARE_LOCKS] = s->lock_ns - lock;
    to->ns[HEARTHI_SHARE_AHEAD] = ahead;
    to->ns[HEARTHI_SHARE_DIFFS] = barrier + lock - ahead;
}

struct hearthi_shares
hearthi_shares_of(const hearth_stats *s, uint64_t elapsed, int nodes)
{
    struct hearthi_shares to = { { 0 } };
    uint64_t calls = s->fault_ns + s->lock_ns + s->barrier_ns + s->explicit_ns;

    to.ns[HEARTHI_SHARE_WRITE_FAULTS] =
        hearthi_min(s->write_fault_ns, s->fault_ns);
    to.ns[HEARTHI_SHARE_READ_FAULTS] =
        s->fault_ns - to.ns[HEARTHI_SHARE_WRITE_FAULTS];
    to.ns[HEARTHI_SHARE_EXPLICIT] = s->explicit_ns;
    sync_split(&to, s, nodes);
    to.ns[HEARTHI_SHARE_SERVED] =
        hearthi_min(s->service_ns, beyond(elapsed, calls));
    to.ns[HEARTHI_SHARE_COMPUTING] =
        beyond(elapsed, calls + to.ns[HEARTHI_SHARE_SERVED]);
    return to;
}

void
hearthi_shares_permille(const struct hearthi_shares *s,
                        unsigned                     permille[HEARTHI_SHARES])
{
    double   whole = 0, cut[HEARTHI_SHARES];
    unsigned left = 1000;

    for (int i = 0; i < HEARTHI_SHARES; i++)
        whole += (double)s->ns[i];
    for (int i = 0; i < HEARTHI_SHARES; i++) {
        double part = whole > 0 ? (double)s->ns[i] * 1000 / whole : 0;

        permille[i] = (unsigned)part;
        cut[i] = part - permille[i];
        left -= permille[i];
    }
    for (; whole > 0 && left > 0; left--) {
        int most = 0;

        for (int i = 1; i < HEARTHI_SHARES; i++)
            if (cut[i] > cut[most])
                most = i;
        permille[most]++;
        cut[most] = -1;
    }
}
