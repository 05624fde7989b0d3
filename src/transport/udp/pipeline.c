/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "pipeline.h"

#include "base/assert.h"

/* Answers are taken in the order of the requests; what comes meanwhile waits
 * in its slot's socket. */
static void
oldest_end(struct hearthi_udp_pipeline *row, struct hearthi_udp_call *call)
{
    struct hearthi_udp_message answer;

    hearthi_udp_call_end(call, &answer);
    if (row->take != NULL)
        row->take(&call->ask, &answer);
}

/* A slot is taken when it is first needed: short rows need few. */
void
hearthi_udp_pipeline_ask(struct hearthi_udp_pipeline      *row,
                         const struct hearthi_udp_message *ask)
{
    struct hearthi_udp_call *call = &row->call[row->next];

    HEARTHI_ASSERT(row->next < HEARTHI_UDP_PIPELINE);
    row->next = (row->next + 1) % HEARTHI_UDP_PIPELINE;
    if (call->client != NULL)
        oldest_end(row, call);
    else
        call->client = hearthi_udp_client_take();
    call->ask = *ask;
    hearthi_udp_call_begin(call, row->rank, row->what);
}

void
hearthi_udp_pipeline_end(struct hearthi_udp_pipeline *row)
{
    for (unsigned i = 0; i < HEARTHI_UDP_PIPELINE; i++) {
        struct hearthi_udp_call *call =
            &row->call[(row->next + i) % HEARTHI_UDP_PIPELINE];

        if (call->client == NULL)
            continue;
        oldest_end(row, call);
        hearthi_udp_client_give(call->client);
        call->client = NULL;
    }
    row->next = 0;
}
