/* SPDX-License-Identifier: BSD-2-Clause
 *
 * While it starts, the attendant hears what is exchanged of all ranks
 * (round.c), since what it opens depends on it.  Its first question for a call
 * says that it will hear no more of it.
 */
#include "config.h"

#include "attend.h"

#include "base/stat.h"
#include "bytes.h"
#include "channel.h"
#include "cluster.h"
#include "front/direct.h"
#include "gate.h"
#include "inner.h"
#include "round.h"
#include "together.h"

enum call { REACH, CLOSE };

MPI_Comm
hearthi_attendant_last(MPI_Comm comm, bool here)
{
    int      rank, size, mine, last;
    MPI_Comm own;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    mine = here ? rank : -1;
    hearthi_together_reduce(&mine, &last, 1, MPI_INT, MPI_MAX, comm);
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
    const struct hearthi_ask ask = { .op = HEARTHI_ASK_CALL,
                                     .kind = (uint8_t)kind,
                                     .at = frames };

    if (is_speaker())
        hearthi_channel_call(ask, NULL, 0, "hearth_alloc");
}

void
hearthi_attendant_reach(uint64_t frames)
{
    call(REACH, frames);
}

void
hearthi_attendant_close(void)
{
    call(CLOSE, 0);
}

void
hearthi_attendant_counts(void)
{
    const struct hearthi_ask ask = { .op = HEARTHI_ASK_COUNTS };
    struct hearthi_channel  *c;
    struct hearthi_tally     tally;

    if (!is_speaker())
        return;
    c = hearthi_channel_take();
    hearthi_channel_ask(c, ask, NULL, 0, "hearth_get_stats");
    hearthi_channel_read(c, &tally, sizeof tally);
    hearthi_channel_give(c);
    hearthi_tally_add(&hearthi_tally, &tally);
}

/* ---- on that one ---- */

void
hearthi_attend(void)
{
    const struct hearthi_ask next = { .op = HEARTHI_ASK_ATTEND };

    for (;;) {
        struct hearthi_ask answer =
            hearthi_channel_call(next, NULL, 0, "gateway");

        if (answer.kind == CLOSE)
            return;
        hearthi_inner->reach(answer.at);
    }
}

/* ---- on the handler's thread ---- */

static struct {
    struct hearthi_bytes calls; /* that it has not heard of */
    struct hearthi_ask   asked; /* its question, if it waits */
    bool                 waits;
} a;

static void
calls_tell(void)
{
    const struct hearthi_ask *c;

    if (!a.waits || (c = hearthi_bytes_next(&a.calls)) == NULL)
        return;
    a.asked.kind = c->kind;
    a.asked.at = c->at;
    a.waits = false;
    hearthi_gate_answer(a.asked, NULL, 0);
}

static void
counts_tell(const struct hearthi_ask *ask)
{
    struct hearthi_tally tally;

    hearthi_tally_take(&tally);
    hearthi_gate_answer(*ask, &tally, sizeof tally);
}

void
hearthi_attend_take(const struct hearthi_ask *ask)
{
    switch ((enum hearthi_ask_op)ask->op) {
    case HEARTHI_ASK_ATTEND:
        a.asked = *ask;
        a.waits = true;
        hearthi_rounds_without();
        break;
    case HEARTHI_ASK_CALL:
        hearthi_bytes_add(&a.calls, ask, sizeof *ask);
        hearthi_gate_answer(*ask, NULL, 0);
        break;
    default: counts_tell(ask); break;
    }
    calls_tell();
}

void
hearthi_attend_close(void)
{
    hearthi_bytes_free(&a.calls);
    a.waits = false;
}
