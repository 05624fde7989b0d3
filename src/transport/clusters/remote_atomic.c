/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Atomic steps on words of all clusters.
 */
#include "config.h"

#include "cluster.h"
#include "gateway_channel.h"
#include "wan_transport.h"
#include "world.h"

static struct hearthi_wan_message
step_of(int home, size_t offset, const struct hearthi_atomic_op *s)
{
    return (struct hearthi_wan_message){ .op = HEARTHI_WAN_ATOMIC,
                                         .kind = (uint8_t)s->kind,
                                         .narrow = s->narrow,
                                         .to = (uint32_t)home,
                                         .at = offset,
                                         .value = s->value,
                                         .expected = s->expected };
}

uint64_t
hearthi_remote_atomic(int home, size_t offset,
                      const struct hearthi_atomic_op *s)
{
    if (!hearthi_is_far(home))
        return hearthi_local_transport_atomic(hearthi_local_rank(home), offset,
                                              s);
    return hearthi_gateway_channel_call(step_of(home, offset, s), NULL, 0,
                                        "atomic")
        .value;
}

/* Several are on their way at a time, and gateways send together what comes
 * together, but adds to doubles. */
static void
far_adds(const struct hearthi_add_run *r)
{
    enum { WAYS = 32 };
    struct hearthi_gateway_channel *ch = hearthi_gateway_channel_take();
    size_t                          asked = 0, heard = 0;

    while (heard < r->n) {
        const struct hearthi_add *a = &r->add[asked];

        if (asked == r->n || asked - heard == WAYS) {
            hearthi_gateway_channel_hear(ch, "atomic");
            heard++;
            continue;
        }
        asked++;
        if (hearthi_add_kind_of(a) == HEARTHI_ADD_REAL) {
            hearthi_real_add(hearthi_remote_atomic, r->home, a);
            heard++;
        } else {
            struct hearthi_atomic_op s = hearthi_add_step(a);

            hearthi_gateway_channel_send(
                ch, step_of(r->home, hearthi_add_offset(a), &s), NULL, 0);
        }
    }
    hearthi_gateway_channel_give(ch);
}

void
hearthi_remote_adds(const struct hearthi_add_run *run, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (hearthi_is_far(run[i].home))
            far_adds(&run[i]);
        else
            hearthi_local_transport_adds(&(struct hearthi_add_run){
                hearthi_local_rank(run[i].home), run[i].add, run[i].n });
}
