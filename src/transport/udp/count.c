/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages and bytes by operation, and what was refused by reason.
 */
#include "config.h"

#include "base/stat.h"
#include "count.h"
#include "wire.h"

_Static_assert((int)HEARTHI_KINDS >= (int)HEARTHI_UDP_OPS &&
                   (int)HEARTHI_REASONS >= (int)HEARTHI_UDP_REASONS,
               "the tally has room for all");

void
hearthi_udp_count_sent(unsigned op, unsigned messages, size_t bytes)
{
    unsigned i = hearthi_udp_index(op);

    hearthi_stat_add(&hearthi_tally.sent[i], messages);
    hearthi_stat_add(&hearthi_tally.sent_bytes[i], bytes);
    hearthi_count(messages, messages);
    hearthi_count(message_bytes, bytes);
}

void
hearthi_udp_count_resent(unsigned op)
{
    hearthi_stat_add(&hearthi_tally.resent[hearthi_udp_index(op)], 1);
    hearthi_count(resends, 1);
}

void
hearthi_udp_count_refused(enum hearthi_udp_reason reason)
{
    hearthi_stat_add(&hearthi_tally.refused[reason], 1);
    hearthi_count(refused, 1);
}

const char *
hearthi_udp_reason_name(unsigned i)
{
    static const char *const names[HEARTHI_UDP_REASONS] = {
        "good",  "length", "operation", "rank",
        "place", "seal",   "sequence",  "address"
    };

    return i < HEARTHI_UDP_REASONS ? names[i] : NULL;
}
