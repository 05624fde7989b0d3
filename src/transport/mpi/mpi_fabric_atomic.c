/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Atomic steps on windows: Fetch_and_op with SUM, REPLACE and NO_OP, and
 * Compare_and_swap (mpi_fabric_window.c).  Others are broken somewhere:
 * MPI_BAND and the like are not atomic to MPI_SUM in Open MPI 4.1.4 over UCX,
 * which gets, works out and puts them under a lock that MPI_SUM does not take,
 * and Get_accumulate is wrong in several 4.x and 5.x.  And how the progress
 * engine is entered.
 */
#include "config.h"

#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "base/mpi_call.h"
#include "cluster.h"
#include "front/direct.h"
#include "mpi.h"
#include "mpi_fabric.h"
#include "node/relax.h"
#include "progress.h"
#include "space/segment.h"

/* ---- the progress engine ---- */

/* Looking at a pending receive enters the progress engine; of the calls that
 * serve others' RMA on both MPIs it is the cheapest (0.03 us), and unlike
 * MPI_Test several threads may look at one request.  Not MPI_Iprobe, which
 * with UCX in Open MPI 4.1.4 serves RMA only now and then, nor MPI_Win_sync,
 * which in MPICH 4.0.2 never does. */
static MPI_Request never = MPI_REQUEST_NULL;
static char        nothing;
enum { TAG_NEVER = 32000 };

/* MPI_Fetch_and_op has no request.  Its result is looked at instead: it holds
 * a random value at first.  That it changed is a hint; the flush decides. */
static uint64_t absent;

void
hearthi_mpi_look_open(void)
{
    absent = hearthi_word_unlikely();
    HEARTHI_MPI(MPI_Irecv(&nothing, 1, MPI_BYTE, hearthi_cluster.rank,
                          TAG_NEVER, hearthi_cluster.comm, &never));
}

void
hearthi_mpi_look_close(void)
{
    MPI_Cancel(&never);
    MPI_Wait(&never, MPI_STATUS_IGNORE);
}

void
hearthi_fabric_look(void)
{
    int arrived;

    MPI_Request_get_status(never, &arrived, MPI_STATUS_IGNORE);
}

/* ---- how many at a time ---- */

/* The first threads have one each for good, so that their steps cost no count
 * of all; those of threads that came later are counted. */
enum {
    OWN_MOST = HEARTHI_ATOMIC_OPS_MOST / 2,
    COUNTED_MOST = HEARTHI_ATOMIC_OPS_MOST - OWN_MOST
};

/* `counted` is relaxed: it is a bound, and orders nothing. */
static atomic_int threads, counted;

_Thread_local enum hearthi_atomic_right hearthi_atomic_right;

/* Of a thread that has none of its own, or does not know yet. */
void
hearthi_atomic_ops_count(void)
{
    unsigned turn = 0;

    if (hearthi_atomic_right == HEARTHI_RIGHT_UNKNOWN)
        hearthi_atomic_right = atomic_fetch_add(&threads, 1) < OWN_MOST
                                   ? HEARTHI_RIGHT_OWN
                                   : HEARTHI_RIGHT_COUNTED;
    if (hearthi_atomic_right == HEARTHI_RIGHT_OWN)
        return;
    while (atomic_fetch_add_explicit(&counted, 1, memory_order_relaxed) >=
           COUNTED_MOST) {
        hearthi_atomic_ops_uncount();
        do
            hearthi_relax(&turn);
        while (atomic_load_explicit(&counted, memory_order_relaxed) >=
               COUNTED_MOST);
    }
}

void
hearthi_atomic_ops_uncount(void)
{
    atomic_fetch_sub_explicit(&counted, 1, memory_order_relaxed);
}

/* ---- steps ---- */

/* Turns after which a result that cannot be seen is asked for by a call that
 * blocks: seconds. */
enum { TURNS_MOST = 1 << 24 };

static void
result_wait(const volatile uint64_t *result, int rank)
{
    struct hearthi_wait w = hearthi_wait_begin(0);

    while (*result == absent && w.turn < TURNS_MOST) {
        hearthi_fabric_look();
        if (hearthi_wait_turn(&w))
            hearthi_doorbell_ring(rank);
    }
}

static enum hearthi_operation
operation_on(MPI_Win win)
{
    return win == hearthi_windows.sync ? HEARTHI_LOCK : HEARTHI_WORD;
}

/* What a step needs while its home is elsewhere. */
static enum hearthi_need
step_begin(MPI_Win win, int rank, size_t bytes)
{
    enum hearthi_need need = hearthi_need_at(operation_on(win), rank);

    hearthi_atomic_ops_enter();
    hearthi_mpi_count(rank, bytes);
    if (need == HEARTHI_BLOCKS) {
        hearthi_doorbell_step(rank);
        atomic_fetch_add_explicit(&hearthi_progress_blocked, 1,
                                  memory_order_relaxed);
    }
    return need;
}

/* After a step that needed no help: drive progress, if steps of others need
 * it, or if anything of theirs does and there is no helper, or that stays out
 * of MPI for a while.  MPI may have done this step without that, and a thread
 * that makes no other ones, as it takes and releases a lock that rests here,
 * would leave others' fetches of pages undone for ever: in Open MPI 5 steps on
 * the window of the locks are free, and gets on the heap's are not. */
static void
free_end(MPI_Win win)
{
    if (hearthi_help.need[operation_on(win)] != HEARTHI_FREE ||
        ((!hearthi_mpi.helper || hearthi_mpi_exclusion_is()) &&
         !hearthi_needs_nobody()))
        hearthi_progress_drive();
}

static uint64_t
step_end(MPI_Win win, int rank, enum hearthi_need need,
         const volatile uint64_t *old)
{
    hearthi_progress_count_one();
    if (need == HEARTHI_WAITS)
        result_wait(old, rank);
    HEARTHI_MPI(MPI_Win_flush(rank, win));
    hearthi_atomic_ops_leave();
    if (need == HEARTHI_BLOCKS) {
        atomic_fetch_sub_explicit(&hearthi_progress_blocked, 1,
                                  memory_order_relaxed);
        hearthi_doorbell_answered(rank);
    }
    /* Open MPI 4.1.4 over UCX holds a lock at the target meanwhile.  Where the
     * target's processor does the steps of others, inside its own step only,
     * they would find that lock taken every time.  Where the probe saw that
     * they need no help at the target, they do not need this. */
    if (need == HEARTHI_FREE)
        free_end(win);
    return *old;
}

uint64_t
hearthi_mpi_sync_step(int rank, size_t at, enum hearthi_fabric_op op,
                      uint64_t value)
{
    static const MPI_Op ops[] = { [HEARTHI_OP_READ] = MPI_NO_OP,
                                  [HEARTHI_OP_ADD] = MPI_SUM,
                                  [HEARTHI_OP_SWAP] = MPI_REPLACE };
    MPI_Win             win = hearthi_windows.sync;
    enum hearthi_need   need = step_begin(win, rank, sizeof value);
    volatile uint64_t   old = absent;

    HEARTHI_MPI(MPI_Fetch_and_op(&value, (void *)&old, MPI_UINT64_T, rank,
                                 (MPI_Aint)at, ops[op], win));
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

/* Of so many bytes, as MPI takes it. */
static void *
operand(volatile uint64_t *word, bool narrow)
{
    return narrow ? (void *)half_of(word) : (void *)word;
}

static uint64_t
window_atomic(MPI_Win win, int rank, size_t offset,
              const struct hearthi_atomic_op *s)
{
    enum hearthi_need need = step_begin(win, rank, hearthi_atomic_op_bytes(s));
    MPI_Datatype      type = s->narrow ? MPI_UINT32_T : MPI_UINT64_T;
    uint64_t          value = s->value, expected = s->expected;
    volatile uint64_t old = absent;
    void             *to = operand(&old, s->narrow);
    const void       *v = operand(&value, s->narrow);
    const void       *e = operand(&expected, s->narrow);

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

/* A half of a word of 8 bytes. */
static uint32_t
half_get(uint64_t word, size_t at)
{
    uint32_t half;

    memcpy(&half, (char *)&word + at, sizeof half);
    return half;
}

static uint64_t
half_put(uint64_t word, size_t at, uint32_t half)
{
    memcpy((char *)&word + at, &half, sizeof half);
    return word;
}

/* osc/rdma of Open MPI 4.1.4 does a compare-and-swap of 4 bytes by a get and a
 * put under a lock, which other steps do not take, unless the BTL has it as
 * such, which vader does not say; one of 8 bytes it does right.  Fetch_and_op
 * it does right on 4 bytes, too, the same way as this. */
static uint64_t
narrow_swap(MPI_Win win, int home, size_t offset,
            const struct hearthi_atomic_op *s)
{
    size_t                   word = offset & ~(size_t)7, at = offset - word;
    struct hearthi_atomic_op wide = { .kind = HEARTHI_ADD };
    uint64_t                 found = window_atomic(win, home, word, &wide);

    wide.kind = HEARTHI_CAS;
    do {
        if (half_get(found, at) != (uint32_t)s->expected)
            break;
        wide.expected = found;
        wide.value = half_put(found, at, (uint32_t)s->value);
        found = window_atomic(win, home, word, &wide);
    } while (found != wide.expected);
    return half_get(found, at);
}

uint64_t
hearthi_mpi_home_atomic(int home, size_t offset,
                        const struct hearthi_atomic_op *s)
{
    int      w = hearthi_window_of(offset);
    MPI_Win  win = hearthi_windows.win[w];
    size_t   at = offset - hearthi_window_begin(w);
    uint64_t old;

    if (!hearthi_windows.own_steps)
        return window_atomic(win, home, at, s);
    if (home != hearthi_cluster.rank)
        return s->narrow && s->kind == HEARTHI_CAS
                   ? narrow_swap(win, home, at, s)
                   : window_atomic(win, home, at, s);
    old = hearthi_atomic_op_here(
        hearthi_segments.base[hearthi_cluster.node_rank] + offset, s);
    free_end(win);
    return old;
}

/* ---- many adds ---- */

/* Adds that are under way at a time. */
enum { TOGETHER = 128 };

/* Each is a Fetch_and_op, as any other step: an accumulate is none in Open MPI
 * over UCX, which does it under a lock that steps do not take.  What they give
 * no thread asks for, and one flush waits for all.  All are on one window,
 * none is to a double. */
static void
window_adds(int window, int rank, const struct hearthi_add *a, size_t n)
{
    MPI_Win           win = hearthi_windows.win[window];
    enum hearthi_need need = step_begin(win, rank, sizeof a->value);
    volatile uint64_t old[TOGETHER];

    HEARTHI_ASSERT(n > 0 && n <= TOGETHER);
    for (size_t i = 0; i < n; i++) {
        bool      narrow = hearthi_add_kind_of(&a[i]) == HEARTHI_ADD_NARROW;
        uint64_t *value = (uint64_t *)&a[i].value;
        size_t at = hearthi_add_offset(&a[i]) - hearthi_window_begin(window);

        old[i] = absent;
        if (i > 0)
            hearthi_mpi_count(rank, sizeof *value);
        HEARTHI_MPI(MPI_Fetch_and_op(operand(value, narrow),
                                     operand(&old[i], narrow),
                                     narrow ? MPI_UINT32_T : MPI_UINT64_T,
                                     rank, (MPI_Aint)at, MPI_SUM, win));
    }
    step_end(win, rank, need, &old[n - 1]);
}

/* As far as one window has them, and none is to a double.  Where the call of
 * each blocks, none is under way with another, and each is announced as any
 * step is. */
static size_t
adds_alike(int home, const struct hearthi_add *a, size_t n)
{
    bool   blocks = hearthi_need_at(HEARTHI_WORD, home) == HEARTHI_BLOCKS;
    size_t most = blocks ? 1 : TOGETHER;
    int    w = hearthi_window_of(hearthi_add_offset(a));
    size_t i = 0;

    while (i < n && i < most &&
           hearthi_add_kind_of(&a[i]) != HEARTHI_ADD_REAL &&
           hearthi_window_of(hearthi_add_offset(&a[i])) == w)
        i++;
    return i;
}

/* Where a rank's own steps are the processor's (mpi_fabric_window.c), those of
 * any of its threads are. */
bool
hearthi_mpi_home_does_adds(void)
{
    return hearthi_windows.own_steps;
}

/* Which way a step goes is said at hearthi_mpi_home_atomic(). */
void
hearthi_mpi_home_adds(const struct hearthi_add_run *run)
{
    if (hearthi_windows.own_steps && run->home == hearthi_cluster.rank) {
        hearthi_adds_here(hearthi_segments.base[hearthi_cluster.node_rank],
                          run);
        free_end(hearthi_windows.win[0]);
        return;
    }
    for (size_t i = 0, n; i < run->n; i += n) {
        const struct hearthi_add *a = run->add + i;

        n = adds_alike(run->home, a, run->n - i);
        if (n > 0) {
            window_adds(hearthi_window_of(hearthi_add_offset(a)), run->home, a,
                        n);
        } else {
            hearthi_real_add(hearthi_mpi_home_atomic, run->home, a);
            n = 1;
        }
    }
}
