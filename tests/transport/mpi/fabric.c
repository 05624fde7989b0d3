/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What each fabric owes (transport/mpi/fabric.h), without the engine: ranks,
 * nodes and segments are those of a job over udp, which leaves home memory
 * alone, and beside that the fabric is opened by itself.  A new fabric is one
 * more line in main(); what holds here is what the suite relies on.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "cluster.h"
#include "fixture.h"
#include "space/heap.h"
#include "space/segment.h"
#include "transport/mpi/fabric.h"
#include "transport/mpi/progress.h"

enum { MIB = 1 << 20, SYNC = 4096, ROUNDS = 20, THREADS = 2 };

static size_t free_at; /* behind the arena: home memory that nobody uses */
static char  *sync_own;

static void
fabric_start(const char *name)
{
    setenv("HEARTH_TRANSPORT", "udp", 1);
    setenv("HEARTH_MALLOC", "16m", 1);
    fixture_start_with("FABRIC", name);
    if (hearth_nodes() == 1)
        return;
    free_at = hearthi_frame_at(hearthi_segments.arena, hearthi_heap.shift);
    hearthi_fabric_open();
    hearthi_fabric->home_open();
    sync_own = hearthi_fabric->sync_open(SYNC);
    memset(sync_own, 0, SYNC);
    hearthi_fabric->sync_ready();
    hearthi_fabric->probe();
}

static void
mpi_start(void)
{
    fabric_start("mpi");
}

static void
shm_start(void)
{
    fabric_start("shm");
}

static void
fabric_stop(void)
{
    if (hearth_nodes() > 1) {
        mpi_barrier();
        hearthi_fabric->sync_close();
        hearthi_fabric->home_close();
        hearthi_fabric_close();
    }
    fixture_stop();
}

static char *
own(size_t at)
{
    return hearthi_segments.base[hearthi_cluster.node_rank] + at;
}

static int
next_rank(int i)
{
    return (me + i) % ranks;
}

/* What a rank writes at a byte, in one test or another. */
static uint8_t
byte_of(int rank, size_t i, unsigned salt)
{
    return (uint8_t)(i * 7 + i / 251 + (unsigned)rank * 31 + salt);
}

static void
fill(uint8_t *to, int rank, size_t len, unsigned salt)
{
    for (size_t i = 0; i < len; i++)
        to[i] = byte_of(rank, i, salt);
}

static bool
is_filled(const uint8_t *at, int rank, size_t len, unsigned salt)
{
    for (size_t i = 0; i < len; i++)
        if (at[i] != byte_of(rank, i, salt))
            return false;
    return true;
}

static void
put(struct hearthi_fabric_batch *b, int rank, size_t at, const void *from,
    size_t len)
{
    hearthi_fabric_put(b, rank, at, from, len);
}

static void
get(struct hearthi_fabric_batch *b, int rank, size_t at, void *to, size_t len)
{
    hearthi_fabric_get(b, rank, at, to, len, false);
}

/* ---- batches ---- */

static const size_t lengths[] = { 1, 3, 8, 9, 64, 4095, 4096, 70000, MIB };

/* At offset `at` of each rank, its own included, there and back. */
static void
round_trips(enum hearthi_fabric_batch_kind kind, size_t at)
{
    static uint8_t              there[MIB], back[MIB];
    struct hearthi_fabric_batch b;

    hearthi_fabric_batch_begin(&b, kind);
    for (int i = 0; i < ranks; i++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            size_t to = at + (size_t)me * 2 * MIB + k % 3;

            fill(there, me, lengths[k], (unsigned)k);
            memset(back, 0, lengths[k]);
            put(&b, next_rank(i), to, there, lengths[k]);
            hearthi_fabric_wait(&b);
            get(&b, next_rank(i), to, back, lengths[k]);
            expect(b.count > 0 && b.bytes == lengths[k]);
            hearthi_fabric_wait(&b);
            expect(b.count == 0 && b.bytes == 0);
            expect(is_filled(back, me, lengths[k], (unsigned)k));
        }
}

START_TEST(what_was_put_is_got_by_any_kind_of_batch)
{
    for (int k = 0; hearth_nodes() > 1 && k < HEARTHI_BATCH_KINDS; k++)
        round_trips((enum hearthi_fabric_batch_kind)k, free_at);
    mpi_barrier();
    all_expected();
}
END_TEST

enum { PIECES = 3000, LEN = 5 };

/* Rank 0 stores, byte by byte, and all others put. */
static void
piece_write(struct hearthi_fabric_batch *b, volatile uint8_t *at,
            uint8_t *there, size_t from, unsigned round)
{
    for (size_t k = from; k < from + LEN; k++)
        if (me == 0)
            at[k] = byte_of(0, k, round);
        else
            there[k] = byte_of(0, k, round);
    if (me != 0)
        put(b, 0, free_at + from, there + from, LEN);
}

/* Each rank has every so-manieth piece of some bytes at rank 0: all in one
 * batch, which has more than a fabric may have under way.  What lies beside a
 * piece in its source is something else. */
START_TEST(puts_are_seen_by_loads_and_change_nothing_beside)
{
    static uint8_t              there[PIECES * LEN];
    struct hearthi_fabric_batch b = { .kind = HEARTHI_BATCH_TABLE };
    volatile uint8_t           *at;

    for (unsigned round = 0; hearth_nodes() > 1 && round < 3; round++) {
        memset(there, 0xee, sizeof there);
        at = (volatile uint8_t *)own(free_at);
        for (size_t i = (size_t)me; i < PIECES; i += (size_t)ranks)
            piece_write(&b, at, there, i * LEN, round);
        hearthi_fabric_wait(&b);
        mpi_barrier();
        if (me == 0)
            expect(is_filled((uint8_t *)own(free_at), 0, sizeof there, round));
        mpi_barrier();
    }
    all_expected();
}
END_TEST

START_TEST(a_home_region_grows_and_is_one_piece)
{
    uint64_t page = hearthi_heap.page;
    uint64_t more = hearthi_segments.arena + 96 * MIB / page;
    uint64_t most = hearthi_segments.arena + 224 * MIB / page;

    if (hearth_nodes() > 1 && hearthi_segments.frames >= most) {
        hearthi_fabric->home_grow(more);
        hearthi_fabric->home_grow(most);
        for (size_t i = 16; i < 208; i += 24) /* across each seam */
            round_trips(HEARTHI_BATCH_TABLE, free_at + i * MIB - MIB / 2);
    }
    mpi_barrier();
    all_expected();
}
END_TEST

START_TEST(few_bytes_of_the_head_are_read)
{
    if (hearth_nodes() > 1) {
        size_t   at = hearthi_segments.told_at;
        uint64_t word = 0, mine = 77 + (uint64_t)me;

        memcpy(own(at), &mine, sizeof mine);
        mpi_barrier();
        for (int i = 0; i < ranks; i++) {
            hearthi_fabric_home_read(next_rank(i), at, &word, sizeof word);
            expect_eq(word, 77 + next_rank(i));
        }
    }
    mpi_barrier();
    all_expected();
}
END_TEST

/* ---- steps ---- */

/* Enough that threads meet, and few where each takes its time. */
static int
steps_each(void)
{
    return hearthi_fabric_is_shm ? 20000 : 40;
}

static uint64_t
atomic_at(size_t word, bool narrow, enum hearthi_atomic_op_kind kind,
          uint64_t value, uint64_t expected)
{
    const struct hearthi_atomic_op s = { kind, narrow, value, expected };

    return hearthi_fabric_home_atomic(0, free_at + word, &s);
}

static void
one_swap_up(size_t word, bool narrow)
{
    uint64_t seen = atomic_at(word, narrow, HEARTHI_ADD, 0, 0), was;

    while ((was = atomic_at(word, narrow, HEARTHI_CAS, seen + 1, seen)) !=
           seen)
        seen = was;
}

/* On words of rank 0: a count by sums, one by compare-and-swap; and what is
 * summed up in a third and taken out again by swaps is all there in the end,
 * as the steps are atomic to each other. */
static void *
steps(void *taken)
{
    for (int i = 0; i < steps_each(); i++)
        for (size_t narrow = 0; narrow < 2; narrow++) {
            size_t at = 64 * narrow;

            atomic_at(at, narrow, HEARTHI_ADD, 1, 0);
            one_swap_up(at + 8, narrow);
            atomic_at(at + 16, narrow, HEARTHI_ADD, 1, 0);
            *(uint64_t *)taken +=
                atomic_at(at + 16, narrow, HEARTHI_SWAP, 0, 0);
        }
    return NULL;
}

static int
threads_run(void *(*body)(void *), void *arg, size_t bytes)
{
    pthread_t thread[THREADS];
    int       n = threads_allowed() ? THREADS : 0;

    for (int i = 0; i < n; i++)
        pthread_create(&thread[i], NULL, body,
                       (char *)arg + (size_t)(i + 1) * bytes);
    body(arg);
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    return n + 1;
}

static uint64_t
sum_of_all(uint64_t mine)
{
    uint64_t all = 0;

    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

START_TEST(steps_on_home_words_are_atomic_to_each_other)
{
    uint64_t taken[THREADS + 1] = { 0 }, mine = 0, all, n = 0;

    if (hearth_nodes() > 1) {
        if (me == 0)
            memset(own(free_at), 0, 128);
        mpi_barrier();
        n = (uint64_t)threads_run(steps, taken, sizeof *taken) *
            (uint64_t)steps_each();
    }
    for (int i = 0; i <= THREADS; i++)
        mine += taken[i];
    mpi_barrier();
    n = sum_of_all(n);
    all = sum_of_all(mine);
    if (hearth_nodes() > 1 && me == 0)
        for (size_t narrow = 0; narrow < 2; narrow++) {
            expect_eq(atomic_at(64 * narrow, narrow, HEARTHI_ADD, 0, 0), n);
            expect_eq(atomic_at(64 * narrow + 8, narrow, HEARTHI_ADD, 0, 0),
                      n);
        }
    if (hearth_nodes() > 1 && me == 0)
        expect_eq(all + atomic_at(16, false, HEARTHI_ADD, 0, 0) +
                      atomic_at(80, true, HEARTHI_ADD, 0, 0),
                  2 * n);
    if (hearth_nodes() > 1 && me == 0) /* a word of 4 bytes is one */
        expect_eq(*(uint32_t *)(void *)own(free_at + 68), 0);
    mpi_barrier();
    all_expected();
}
END_TEST

static uint64_t
sync_step(int rank, size_t at, enum hearthi_fabric_op op, uint64_t value)
{
    return hearthi_fabric_sync_step(rank, at, op, value);
}

static void *
sync_steps(void *taken)
{
    for (int i = 0; i < steps_each(); i++) {
        sync_step(ranks - 1, 8, HEARTHI_OP_ADD, 3);
        *(uint64_t *)taken += sync_step(ranks - 1, 8, HEARTHI_OP_SWAP, 0);
        sync_step(ranks - 1, 16, HEARTHI_OP_ADD, 1);
        sync_step(ranks - 1, 16, HEARTHI_OP_READ, 99);
    }
    return NULL;
}

START_TEST(steps_on_sync_words_are_atomic_to_each_other)
{
    uint64_t taken[THREADS + 1] = { 0 }, mine = 0, n = 0;

    if (hearth_nodes() > 1)
        n = (uint64_t)threads_run(sync_steps, taken, sizeof *taken) *
            (uint64_t)steps_each();
    for (int i = 0; i <= THREADS; i++)
        mine += taken[i];
    mpi_barrier();
    n = sum_of_all(n);
    mine = sum_of_all(mine);
    if (hearth_nodes() > 1) {
        expect_eq(mine + sync_step(ranks - 1, 8, HEARTHI_OP_READ, 0), 3 * n);
        expect_eq(sync_step(ranks - 1, 16, HEARTHI_OP_READ, 0), n);
    }
    mpi_barrier();
    all_expected();
}
END_TEST

/* ---- order ---- */

/* A rank puts to its next, waits, and says so by a step; that one finds the
 * bytes by loads, and another rank by a get.  Answers go by gets and puts of
 * sync regions, and a step. */
static void
message_pass(uint64_t round)
{
    struct hearthi_fabric_batch b = { .kind = HEARTHI_BATCH_WAY };
    int                         from = next_rank(ranks - 1), to = next_rank(1);
    uint8_t                     out[200], in[200], log[64];
    const size_t                at = free_at + 4096;

    fill(out, me, sizeof out, (unsigned)round);
    put(&b, to, at, out, sizeof out);
    hearthi_fabric_wait(&b);
    sync_step(to, 256, HEARTHI_OP_SWAP, round);
    while (sync_step(me, 256, HEARTHI_OP_READ, 0) != round)
        continue;
    expect(is_filled((uint8_t *)own(at), from, sizeof out, (unsigned)round));
    fill(log, me, sizeof log, (unsigned)round);
    hearthi_fabric_sync_put(from, 512, log, sizeof log);
    hearthi_fabric_sync_wait(from);
    sync_step(from, 264, HEARTHI_OP_SWAP, round);
    while (sync_step(to, 264, HEARTHI_OP_READ, 0) != round)
        continue; /* the next has its answer: all is at rest there */
    get(&b, to, at, in, sizeof in);
    hearthi_fabric_wait(&b);
    expect(is_filled(in, me, sizeof in, (unsigned)round));
    while (sync_step(me, 264, HEARTHI_OP_READ, 0) != round)
        continue;
    expect(
        is_filled((uint8_t *)sync_own + 512, to, sizeof log, (unsigned)round));
    hearthi_fabric_sync_get(me, 512, log, sizeof log);
    hearthi_fabric_sync_wait(me);
    expect(is_filled(log, to, sizeof log, (unsigned)round));
}

START_TEST(what_was_waited_for_is_seen_before_what_came_later)
{
    for (uint64_t r = 1; hearth_nodes() > 1 && r <= ROUNDS; r++) {
        message_pass(r);
        mpi_barrier();
    }
    all_expected();
}
END_TEST

/* ---- threads ---- */

static void *
batches_of_one(void *number)
{
    struct hearthi_fabric_batch b;
    size_t  at = free_at + (size_t)(*(int *)number * ranks + me) * 64 * 1024;
    uint8_t there[3000], back[3000];

    for (unsigned round = 0; round < ROUNDS; round++) {
        hearthi_fabric_batch_begin(&b, HEARTHI_BATCH_WAY);
        fill(there, me, sizeof there, round);
        for (int i = 0; i < 4; i++)
            put(&b, next_rank(1), at + (size_t)i * 4096, there, sizeof there);
        hearthi_fabric_wait(&b);
        for (int i = 0; i < 4; i++)
            get(&b, next_rank(1), at + (size_t)i * 4096, back, sizeof back);
        hearthi_fabric_wait(&b);
        expect(is_filled(back, me, sizeof back, round));
    }
    return NULL;
}

START_TEST(threads_have_batches_of_their_own)
{
    int number[THREADS + 1] = { 0, 1, 2 };

    if (hearth_nodes() > 1)
        threads_run(batches_of_one, number, sizeof *number);
    mpi_barrier();
    all_expected();
}
END_TEST

/* ---- leaders ---- */

static void
exchange(unsigned round, size_t bytes)
{
    uint8_t all[64 * HEARTHI_EXCHANGE_MOST];
    int     n = hearthi_cluster.nodes;

    fill(all, hearthi_cluster.node, bytes, round);
    hearthi_fabric->exchange(all, bytes);
    for (int i = 0; i < n; i++)
        expect(is_filled(all + (size_t)i * bytes,
                         (hearthi_cluster.node + i) % n, bytes, round));
}

static void
gather(unsigned round)
{
    enum { EACH = 40000 };
    static uint8_t all[4 * EACH];
    int            counts[4] = { 0 }, starts[4] = { 0 };
    int            n = hearthi_cluster.nodes;

    for (int i = 0; i < n; i++) {
        counts[i] = (int)(round * 977 + (unsigned)i * 1311) % EACH;
        starts[i] = (n - 1 - i) * EACH;
    }
    memset(all, 0, sizeof all);
    fill(all + starts[hearthi_cluster.node], hearthi_cluster.node,
         (size_t)counts[hearthi_cluster.node], round);
    hearthi_fabric->gather(all, counts, starts);
    for (int i = 0; i < n; i++)
        expect(is_filled(all + starts[i], i, (size_t)counts[i], round));
}

START_TEST(leaders_exchange_and_gather)
{
    bool leads = hearth_nodes() > 1 && hearthi_cluster.node_rank == 0;

    for (unsigned round = 0; leads && round < ROUNDS; round++) {
        exchange(round, 1 + round * 13 % HEARTHI_EXCHANGE_MOST);
        if (round % 3 != 0)
            gather(round);
        if (round % 4 == 0)
            gather(round + 1);
    }
    mpi_barrier();
    all_expected();
}
END_TEST

static TCase *
fabric_case(const char *name, SFun setup)
{
    TCase *tc = tcase_create(name);

    tcase_add_unchecked_fixture(tc, setup, fabric_stop);
    tcase_add_test(tc, what_was_put_is_got_by_any_kind_of_batch);
    tcase_add_test(tc, puts_are_seen_by_loads_and_change_nothing_beside);
    tcase_add_test(tc, few_bytes_of_the_head_are_read);
    tcase_add_test(tc, steps_on_home_words_are_atomic_to_each_other);
    tcase_add_test(tc, steps_on_sync_words_are_atomic_to_each_other);
    tcase_add_test(tc, what_was_waited_for_is_seen_before_what_came_later);
    tcase_add_test(tc, threads_have_batches_of_their_own);
    tcase_add_test(tc, leaders_exchange_and_gather);
    tcase_add_test(tc, a_home_region_grows_and_is_one_piece);
    return tc;
}

int
main(int argc, char **argv)
{
    Suite *s = suite_create("fabric");

    suite_add_tcase(s, fabric_case("mpi", mpi_start));
    suite_add_tcase(s, fabric_case("shm", shm_start));
    return mpi_main(argc, argv, s);
}
