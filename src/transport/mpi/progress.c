/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Waits that drive progress, yield the core, and ring the doorbell of a
 * target that may be computing.
 */
#include "config.h"

#include "progress.h"

#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "front/direct.h"
#include "life/life.h"
#include "mpi.h"

struct hearthi_help hearthi_help;

/* In nanoseconds.  A target inside MPI answers well before RING; sending the
 * datagram costs a microsecond or two, and waking the helper some 10 us of the
 * target's core.  A ring may find a thread of the target that is about to
 * leave MPI, or get lost, so it is repeated.  Where ranks share cores a wait
 * rings early and yields only then: whoever gets the core may compute on it
 * for milliseconds. */
enum { RING = 6000, RING_CROWDED = 2000, AGAIN = 50000, AGAIN_MOST = 400000 };

/* Turns between looks at the clock, and between yields. */
enum { LOOK = 8, YIELD = 512, YIELD_CROWDED = 32 };

/* MPI_Fetch_and_op has no request.  Its result is looked at instead: it holds
 * a random value at first.  That it changed is a hint; the flush decides. */
static uint64_t absent;

/* Turns after which a result that cannot be seen is asked for by a call that
 * blocks: seconds. */
enum { TURNS_MOST = 1 << 24 };

/* ---- the progress engine ---- */

/* Looking at a pending receive enters the progress engine; of the calls that
 * serve others' RMA on both MPIs it is the cheapest (0.03 us), and unlike
 * MPI_Test several threads may look at one request.  Not MPI_Iprobe, which
 * with UCX in Open MPI 4.1.4 serves RMA only now and then, nor MPI_Win_sync,
 * which in MPICH 4.0.2 never does. */
static MPI_Request never = MPI_REQUEST_NULL;
static char        nothing;
static atomic_uint count;

enum { TAG_NEVER = 32000 };

uint64_t
hearthi_word_unlikely(void)
{
    uint64_t r;

    if (getrandom(&r, sizeof r, GRND_NONBLOCK) != sizeof r)
        r = hearthi_clock_kernel() * UINT64_C(0x9e3779b97f4a7c15);
    return r;
}

void
hearthi_progress_open(void)
{
    hearthi_help = (struct hearthi_help){ .bells = false };
    absent = hearthi_word_unlikely();
    HEARTHI_MPI(MPI_Irecv(&nothing, 1, MPI_BYTE, hearthi_cluster.rank,
                          TAG_NEVER, hearthi_cluster.comm, &never));
}

void
hearthi_progress_close(void)
{
    MPI_Cancel(&never);
    MPI_Wait(&never, MPI_STATUS_IGNORE);
}

void
hearthi_progress_look(void)
{
    int arrived;

    MPI_Request_get_status(never, &arrived, MPI_STATUS_IGNORE);
}

/* A count lost between two threads does no harm, so it costs no atomic
 * addition. */
static void
count_one(void)
{
    unsigned c = atomic_load_explicit(&count, memory_order_relaxed);

    atomic_store_explicit(&count, c + 1, memory_order_relaxed);
}

void
hearthi_progress_drive(void)
{
    count_one();
    hearthi_progress_look();
}

uint32_t
hearthi_progress_count(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed);
}

/* ---- waiting ---- */

/* The bytes are given 8 GB/s, and what is usual twice. */
struct hearthi_wait
hearthi_wait_begin(size_t bytes)
{
    struct hearthi_wait w = { .again = AGAIN };
    uint64_t            least = hearthi_crowded() ? RING_CROWDED : RING;
    uint64_t            usual = 2 * hearthi_help.page_time;

    if (hearthi_help.bells)
        w.ring_at =
            hearthi_now() + (usual > least ? usual : least) + bytes / 8;
    return w;
}

static bool
ring_due(struct hearthi_wait *w)
{
    uint64_t now;

    if (!hearthi_help.bells ||
        (w->turn < HEARTHI_WAIT_LONG && w->turn % LOOK != 0))
        return false;
    now = hearthi_now();
    if (now < w->ring_at)
        return false;
    w->ring_at = now + w->again;
    if (w->again < AGAIN_MOST)
        w->again *= 2;
    return true;
}

bool
hearthi_wait_turn(struct hearthi_wait *w)
{
    bool ring;

    w->turn++;
    count_one();
    ring = ring_due(w);
    if (!ring && w->turn % (hearthi_crowded() ? YIELD_CROWDED : YIELD) == 0)
        sched_yield();
    return ring;
}

void
hearthi_wait_warn(int rank, uint64_t waited)
{
    static atomic_bool said;

    if (waited < hearthi_opt.udp_giveup || said ||
        hearthi_life_is_told(rank) || atomic_exchange(&said, true))
        return;
    hearthi_warn("job",
                 "this rank has waited for rank %d for %" PRIu64
                 " s, which has not taken what was written to its memory or "
                 "asked of it: let that process go on if it is stopped, and "
                 "give it a core if others have it; HEARTH_UDP_GIVEUP is how "
                 "long to wait before this line",
                 rank, waited / 1000000000);
}

/* ---- atomics ---- */

static void
result_wait(const volatile uint64_t *result, int rank)
{
    struct hearthi_wait w = hearthi_wait_begin(0);

    while (*result == absent && w.turn < TURNS_MOST) {
        hearthi_progress_look();
        if (hearthi_wait_turn(&w))
            hearthi_doorbell_ring(rank);
    }
}

/* What a step needs while its home is elsewhere. */
static enum hearthi_need
step_begin(MPI_Win win, int rank, size_t bytes)
{
    enum hearthi_need need = hearthi_need_at(
        win == hearthi_mpi.sync ? HEARTHI_LOCK : HEARTHI_WORD, rank);

    hearthi_mpi_count(rank, bytes);
    if (need == HEARTHI_BLOCKS)
        hearthi_doorbell_announce(rank);
    return need;
}

static uint64_t
step_end(MPI_Win win, int rank, enum hearthi_need need,
         const volatile uint64_t *old)
{
    if (need == HEARTHI_WAITS)
        result_wait(old, rank);
    HEARTHI_MPI(MPI_Win_flush(rank, win));
    /* Open MPI 4.1.4 over UCX holds a lock at the target meanwhile.  Where the
     * target's processor does the steps of others, inside its own step only,
     * they would find that lock taken every time.  Where the probe saw that
     * they need nobody at the target, they do not need this. */
    if (rank == hearthi_cluster.rank)
        hearthi_progress_own(win);
    return *old;
}

void
hearthi_progress_own(MPI_Win win)
{
    if (hearthi_help
            .need[win == hearthi_mpi.sync ? HEARTHI_LOCK : HEARTHI_WORD] !=
        HEARTHI_FREE)
        hearthi_progress_look();
}

uint64_t
hearthi_fetch_op(MPI_Win win, int rank, size_t offset, MPI_Op op,
                 uint64_t value)
{
    enum hearthi_need need = step_begin(win, rank, sizeof value);
    volatile uint64_t old = absent;

    HEARTHI_MPI(MPI_Fetch_and_op(&value, (void *)&old, MPI_UINT64_T, rank,
                                 (MPI_Aint)offset, op, win));
    return step_end(win, rank, need, &old);
}

/* The lower half of a word, whatever the order of its bytes. */
static volatile uint32_t *
half_of(volatile uint64_t *word)
{
    const union {
        uint64_t word;
        uint32_t half[2];
    } one = { .word = 1 };

    return (volatile uint32_t *)word + (one.half[0] == 0);
}

uint64_t
hearthi_fetch_atomic_op(MPI_Win win, int rank, size_t offset,
                        const struct hearthi_atomic_op *s)
{
    enum hearthi_need need = step_begin(win, rank, hearthi_atomic_op_bytes(s));
    MPI_Datatype      type = s->narrow ? MPI_UINT32_T : MPI_UINT64_T;
    uint64_t          value = s->value, expected = s->expected;
    volatile uint64_t old = absent;
    void             *to = s->narrow ? (void *)half_of(&old) : (void *)&old;
    const void       *v = s->narrow ? (void *)half_of(&value) : &value;
    const void       *e = s->narrow ? (void *)half_of(&expected) : &expected;

    if (s->kind == HEARTHI_CAS)
        HEARTHI_MPI(
            MPI_Compare_and_swap(v, e, to, type, rank, (MPI_Aint)offset, win));
    else
        HEARTHI_MPI(MPI_Fetch_and_op(
            v, to, type, rank, (MPI_Aint)offset,
            s->kind == HEARTHI_ADD ? MPI_SUM : MPI_REPLACE, win));
    step_end(win, rank, need, &old);
    return s->narrow ? (uint32_t)old : old;
}
