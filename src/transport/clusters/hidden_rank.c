/* SPDX-License-Identifier: BSD-2-Clause
 *
 * While it starts, the hidden rank hears what is exchanged of all ranks
 * (global_collective.c), since what it opens depends on it.  Its first
 * question for a call says that it will hear no more of it.
 */
#include "config.h"

#include "hidden_rank.h"

#include "base/stat.h"
#include "cluster.h"
#include "collective.h"
#include "front/direct.h"
#include "gateway_channel.h"
#include "gateway_server.h"
#include "message_stream.h"
#include "wan_transport.h"

enum call { REACH, CLOSE };

MPI_Comm
hearthi_hidden_rank_last(MPI_Comm comm, bool here)
{
    int      rank, size, mine, last;
    MPI_Comm own;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    mine = here ? rank : -1;
    hearthi_collective_reduce(&mine, &last, 1, MPI_INT, MPI_MAX, comm);
    if (last < 0)
        last = size - 1;
    HEARTHI_MPI_SPINS(
        MPI_Comm_split(comm, 0, rank == last ? size : rank, &own));
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    HEARTHI_MPI_SPINS(MPI_Comm_free(&comm));
    return own;
}

/* ---- on the ranks that the program sees ---- */

static bool
is_speaker(void)
{
    return hearthi_cluster.hides && hearthi_cluster.rank == 0;
}

/* It is answered, so that the next one comes later. */
static void
call(enum call kind, uint64_t frames)
{
    const struct hearthi_wan_message msg = { .op = HEARTHI_WAN_CALL,
                                             .kind = (uint8_t)kind,
                                             .at = frames };

    if (is_speaker())
        hearthi_gateway_channel_call(msg, NULL, 0, "hearth_alloc");
}

void
hearthi_hidden_rank_exposes(uint64_t frames)
{
    call(REACH, frames);
}

void
hearthi_hidden_rank_closes(void)
{
    call(CLOSE, 0);
}

void
hearthi_hidden_rank_counts(void)
{
    const struct hearthi_wan_message msg = { .op = HEARTHI_WAN_COUNTS };
    struct hearthi_gateway_channel  *c;
    struct hearthi_tally             tally;

    if (!is_speaker())
        return;
    c = hearthi_gateway_channel_take();
    hearthi_gateway_channel_ask(c, msg, NULL, 0, "hearth_get_stats");
    hearthi_gateway_channel_read(c, &tally, sizeof tally);
    hearthi_gateway_channel_give(c);
    hearthi_tally_add(&hearthi_tally, &tally);
}

/* ---- on that one ---- */

void
hearthi_hidden_rank_serve(void)
{
    const struct hearthi_wan_message next = { .op = HEARTHI_WAN_ATTEND };

    for (;;) {
        struct hearthi_wan_message answer =
            hearthi_gateway_channel_call(next, NULL, 0, "gateway");

        if (answer.kind == CLOSE)
            return;
        hearthi_local_transport->collective.expose(answer.at);
    }
}

/* ---- on the handler's thread ---- */

static struct {
    struct hearthi_message_stream calls; /* that it has not heard of */
    struct hearthi_wan_message    asked; /* its question, if it waits */
    bool                          waits;
} a;

static void
calls_tell(void)
{
    const struct hearthi_wan_message *c;

    if (!a.waits || (c = hearthi_message_stream_next(&a.calls)) == NULL)
        return;
    a.asked.kind = c->kind;
    a.asked.at = c->at;
    a.waits = false;
    hearthi_gateway_answer(a.asked, NULL, 0);
}

static void
counts_tell(const struct hearthi_wan_message *msg)
{
    struct hearthi_tally tally;

    hearthi_tally_take(&tally);
    hearthi_gateway_answer(*msg, &tally, sizeof tally);
}

void
hearthi_hidden_rank_take(const struct hearthi_wan_message *msg)
{
    switch ((enum hearthi_wan_op)msg->op) {
    case HEARTHI_WAN_ATTEND:
        a.asked = *msg;
        a.waits = true;
        hearthi_global_collectives_without();
        break;
    case HEARTHI_WAN_CALL:
        hearthi_message_stream_add(&a.calls, msg, sizeof *msg);
        hearthi_gateway_answer(*msg, NULL, 0);
        break;
    default: counts_tell(msg); break;
    }
    calls_tell();
}

void
hearthi_hidden_rank_close(void)
{
    hearthi_message_stream_free(&a.calls);
    a.waits = false;
}
