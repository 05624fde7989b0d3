/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory that is free is found, whatever it was used for before.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "malloc.h"
#include "malloc/arena_map.h"
#include "transport/transport.h"

/* As many as take about so many bytes, or all there is. */
static size_t
take_many(void **p, size_t bytes, size_t size)
{
    size_t n = 0;

    for (; n * size < bytes; n++)
        p[n] = hearth_malloc(size);
    return n;
}

static void
free_many(void **p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hearth_free(p[i]);
}

static void **
room_for(size_t objects)
{
    void **p = malloc(objects * sizeof *p);

    ck_assert(p != NULL);
    return p;
}

START_TEST(where_small_objects_were_there_is_room_for_a_large_one)
{
    size_t half = hearthi_arena_map.room / 2;
    void **p = room_for(half / 64 + 1);

    for (int round = 0; round < 3; round++) {
        free_many(p, take_many(p, half, 64));
        hearth_free(hearth_malloc(half));
    }
    free(p);
    all_expected();
}
END_TEST

START_TEST(objects_of_all_sizes_in_turn_may_each_take_most_of_the_memory)
{
    size_t most = hearthi_arena_map.room / 4 * 3;
    void **p = room_for(most / 8 + 1);

    for (int round = 0; round < 2; round++)
        for (size_t size = 8; size <= most; size *= 2)
            free_many(p, take_many(p, most / size * size / 2, size));
    free(p);
    all_expected();
}
END_TEST

/* Blocks of free memory between objects that stay. */
START_TEST(a_single_free_block_between_large_objects_serves_small_ones)
{
    enum { BLOCK = HEARTHI_ARENA_BLOCK };
    size_t blocks = hearthi_arena_map.room / BLOCK, n;
    void **p = room_for(blocks), **small;

    for (n = 0; n < blocks - 1; n++) /* one is left for what is cached */
        p[n] = hearth_malloc(BLOCK);
    for (size_t i = 0; i < n; i += 2)
        hearth_free(p[i]);
    small = room_for(n / 2 * (BLOCK / 1024));
    free_many(small, take_many(small, n / 2 * BLOCK, 1024));
    for (size_t i = 1; i < n; i += 2)
        hearth_free(p[i]);
    free(small);
    free(p);
    all_expected();
}
END_TEST

/* A rank has freed small objects of a block, and remembers whose they were.
 * Then a large object begins there, which it writes and frees; what it wrote
 * behind the first block must not come later. */
static void
blocks_turn(int owner, int freer)
{
    enum { SMALL = 4096 };
    const size_t   large = hearthi_arena_map.room / 4 * 3;
    size_t         n = large / SMALL / 64 * 64;
    void         **p = room_for(n);
    unsigned char *q = NULL;

    if (me == owner)
        for (size_t i = 0; i < n; i++)
            p[i] = hearth_malloc(SMALL);
    MPI_Bcast(p, (int)(n * sizeof *p), MPI_BYTE, owner, MPI_COMM_WORLD);
    if (me == freer)
        free_many(p, n);
    barrier();
    if (me == owner)
        q = hearth_malloc(large);
    MPI_Bcast(&q, sizeof q, MPI_BYTE, owner, MPI_COMM_WORLD);
    if (me == freer) {
        memset(q, 2, large);
        hearth_free(q);
        tell(owner, 1);
        told_by(owner, 2);
    }
    if (me == owner) {
        told_by(freer, 1);
        q = hearth_malloc(large);
        memset(q, 3, large);
        tell(freer, 2);
    }
    barrier();
    for (size_t i = 0; i < large; i++)
        expect(q[i] == 3);
    barrier();
    if (me == owner)
        hearth_free(q);
    free(p);
}

START_TEST(a_block_that_turns_large_is_no_longer_remembered_as_small)
{
    for (int round = 0; round < 2 && ranks > 1; round++)
        blocks_turn(0, ranks - 1);
    all_expected();
}
END_TEST

/* Most of a home's memory, which the owner takes and another rank frees while
 * the owner waits: it finds all when it comes back. */
static void
most_goes_round(int owner, int freer, int home, size_t size)
{
    size_t n = hearthi_arena_map.room / 16 * 15 / (size + 16);
    void **p = room_for(n);

    if (me == owner)
        for (size_t i = 0; i < n; i++)
            p[i] = hearth_malloc_on(size, home);
    MPI_Bcast(p, (int)(n * sizeof *p), MPI_BYTE, owner, MPI_COMM_WORLD);
    if (me == freer)
        free_many(p, n);
    barrier();
    if (me == owner)
        hearth_free(hearth_malloc_on(n * size / 4 * 3, home));
    barrier();
    free(p);
}

START_TEST(all_that_another_rank_freed_before_a_barrier_is_found_behind_it)
{
    static const size_t size[] = { 16, 64, 3000, 16384 };

    for (int i = 0; i < 4; i++)
        most_goes_round(0, ranks - 1, 0, size[i]);
    all_expected();
}
END_TEST

START_TEST(so_is_what_was_taken_elsewhere)
{
    most_goes_round(0, ranks - 1, ranks - 1, 48);
    all_expected();
}
END_TEST

/* What one rank took of a home and freed serves another one. */
static void
home_passes(int first, int second, int home, size_t size)
{
    size_t         most = hearthi_arena_map.room / 8 * 5;
    size_t         n = most / size;
    void         **p = room_for(n);
    unsigned char *q = NULL;

    if (me == first)
        for (size_t i = 0; i < n; i++)
            memset(p[i] = hearth_malloc_on(size, home), 1, size);
    barrier();
    if (me == first)
        free_many(p, n);
    barrier();
    if (me == second) {
        q = hearth_malloc_on(most, home);
        memset(q, 2, most);
    }
    barrier();
    MPI_Bcast(&q, sizeof q, MPI_BYTE, second, MPI_COMM_WORLD);
    for (size_t i = 0; i < most; i++)
        expect(q[i] == 2);
    barrier();
    if (me == first) /* as a large object, at its new owner */
        hearth_free(q);
    barrier();
    free(p);
}

START_TEST(blocks_in_which_nothing_is_live_serve_another_rank)
{
    static const size_t size[] = { 32, 16384, 200000 };
    int                 last = ranks - 1;

    for (int i = 0; i < 3; i++) {
        home_passes(0, last, 0, size[i]);
        home_passes(last, 0, 0, size[i]);
        home_passes(0, last, last, size[i]);
    }
    all_expected();
}
END_TEST

/* Calls that answer who is in need, but order nothing. */
static void
calls_until_told(int by)
{
    int there = 0;

    while (!there) {
        hearth_free(hearth_calloc(1, 8));
        sleep_ms(1);
        MPI_Iprobe(by, 2, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    }
    told_by(by, 2);
}

/* Waits for what the rank in need does when it has its memory. */
enum { WAITED_FLAG = 40, WAITED_LOCK = 41 };

static void
flag_wait_until_told(int by)
{
    hearth_flag_wait(WAITED_FLAG);
    told_by(by, 2);
}

static void
lock_wait_until_told(int by)
{
    hearth_lock(WAITED_LOCK);
    hearth_unlock(WAITED_LOCK);
    told_by(by, 2);
}

static void
waits_end(int other)
{
    hearth_flag_set(WAITED_FLAG);
    hearth_unlock(WAITED_LOCK);
    tell(other, 2);
}

/* The second rank has copies of what it freed.  The first one gets that
 * memory, writes and frees it, and gives it back when it is asked.  The second
 * writes what its copies have; nothing of the first comes later. */
static void
home_passes_on_demand(int first, int second, int home,
                      void (*until_told)(int by))
{
    const size_t   most = hearthi_arena_map.room / 8 * 5;
    unsigned char *q = NULL;

    if (me == second)
        memset(q = hearth_malloc_on(most, home), 2, most);
    barrier();
    for (int i = 0; i < 4; i++) {
        if (me == second)
            expect_eq(differ(q, most, 2), 0);
        barrier();
    }
    if (me == second)
        hearth_free(q);
    barrier();
    if (me == second)
        hearth_lock(WAITED_LOCK);
    mpi_barrier();
    if (me == first) {
        memset(q = hearth_malloc_on(most, home), 1, most);
        hearth_free(q);
        tell(second, 1);
        until_told(second);
    }
    if (me == second) {
        told_by(first, 1);
        memset(q = hearth_malloc_on(most, home), 2, most);
        waits_end(first);
    }
    MPI_Bcast(&q, sizeof q, MPI_BYTE, second, MPI_COMM_WORLD);
    barrier();
    expect_eq(differ(q, most, 2), 0);
    barrier();
    if (me == second) {
        hearth_flag_reset(WAITED_FLAG);
        hearth_free(q);
    }
    barrier();
}

START_TEST(a_rank_in_need_gets_what_another_one_has_no_use_for)
{
    for (int round = 0; round < 2 && ranks > 1; round++) {
        home_passes_on_demand(0, ranks - 1, 0, calls_until_told);
        home_passes_on_demand(0, ranks - 1, ranks - 1, calls_until_told);
        home_passes_on_demand(0, ranks - 1, ranks / 2, calls_until_told);
    }
    all_expected();
}
END_TEST

/* No call of its own answers, and no thread may where only one may call MPI.
 */
START_TEST(a_rank_in_need_gets_what_one_that_waits_for_it_has_no_use_for)
{
    if (ranks > 1 && threads_allowed())
        home_passes_on_demand(0, ranks - 1, 0, lock_wait_until_told);
    all_expected();
}
END_TEST

/* The owner's memory is all in use when the freer begins its part; then the
 * owner wants all of it. */
static void
need_is_met(void (*part)(int owner, void **p, size_t n))
{
    size_t n = hearthi_arena_map.room / 16384;
    void **p = room_for(n);
    int    owner = 0, freer = ranks - 1;

    if (me == owner && freer != owner)
        for (size_t i = 0; i < n; i++)
            p[i] = hearth_malloc(16384);
    MPI_Bcast(p, (int)(n * sizeof *p), MPI_BYTE, owner, MPI_COMM_WORLD);
    if (me == owner && freer != owner)
        hearth_lock(WAITED_LOCK);
    mpi_barrier();
    if (me == freer && freer != owner)
        part(owner, p, n);
    if (me == owner && freer != owner) {
        told_by(freer, 1);
        hearth_free(hearth_malloc(hearthi_arena_map.room));
        waits_end(freer);
    }
    barrier();
    if (me == owner)
        hearth_flag_reset(WAITED_FLAG);
    barrier();
    free(p);
    all_expected();
}

/* The freer comes to no barrier; it has freed so few that it gathers more. */
static void
free_before_it_is_asked(int owner, void **p, size_t n)
{
    free_many(p, n);
    tell(owner, 1);
    calls_until_told(owner);
}

START_TEST(an_owner_in_need_asks_for_what_others_have_freed)
{
    need_is_met(free_before_it_is_asked);
}
END_TEST

/* What it waits for the owner does later. */
static void
free_before_a_flag(int owner, void **p, size_t n)
{
    free_many(p, n);
    tell(owner, 1);
    flag_wait_until_told(owner);
}

START_TEST(an_owner_in_need_gets_what_was_freed_before_a_wait_for_a_flag)
{
    need_is_met(free_before_a_flag);
}
END_TEST

static void
free_before_a_lock(int owner, void **p, size_t n)
{
    free_many(p, n);
    tell(owner, 1);
    lock_wait_until_told(owner);
}

START_TEST(an_owner_in_need_is_answered_while_the_freer_waits_for_its_lock)
{
    if (threads_allowed())
        need_is_met(free_before_a_lock);
}
END_TEST

/* Neither a call nor a wait: it computes. */
static void
free_and_compute(int owner, void **p, size_t n)
{
    free_many(p, n);
    tell(owner, 1);
    told_by(owner, 2);
}

START_TEST(an_owner_in_need_is_answered_by_a_rank_that_makes_no_call)
{
    if (threads_allowed())
        need_is_met(free_and_compute);
}
END_TEST

/* The freer answers, and frees after that. */
static void
free_after_an_answer(int owner, void **p, size_t n)
{
    uint64_t was = hearthi_arena_map.need;

    tell(owner, 1);
    while (hearthi_arena_map.need == was) {
        hearth_free(hearth_calloc(1, 8));
        hearthi_transport->progress(); /* without threads nobody else does */
        sleep_ms(1);
    }
    free_many(p, n);
    calls_until_told(owner);
}

START_TEST(an_owner_in_need_gets_what_is_freed_after_it_has_asked)
{
    need_is_met(free_after_an_answer);
}
END_TEST

void
malloc_need(TCase *tc)
{
    tcase_add_test(tc, an_owner_in_need_gets_what_is_freed_after_it_has_asked);
    tcase_add_test(tc, an_owner_in_need_asks_for_what_others_have_freed);
    tcase_add_test(
        tc, an_owner_in_need_gets_what_was_freed_before_a_wait_for_a_flag);
    tcase_add_test(
        tc, an_owner_in_need_is_answered_while_the_freer_waits_for_its_lock);
    tcase_add_test(tc,
                   an_owner_in_need_is_answered_by_a_rank_that_makes_no_call);
}

void
malloc_found(TCase *tc)
{
    tcase_add_test(tc, where_small_objects_were_there_is_room_for_a_large_one);
    tcase_add_test(
        tc, objects_of_all_sizes_in_turn_may_each_take_most_of_the_memory);
    tcase_add_test(
        tc, a_single_free_block_between_large_objects_serves_small_ones);
    tcase_add_test(tc,
                   a_block_that_turns_large_is_no_longer_remembered_as_small);
    tcase_add_test(
        tc, all_that_another_rank_freed_before_a_barrier_is_found_behind_it);
    tcase_add_test(tc, so_is_what_was_taken_elsewhere);
    tcase_add_test(tc, blocks_in_which_nothing_is_live_serve_another_rank);
    tcase_add_test(tc, a_rank_in_need_gets_what_another_one_has_no_use_for);
    tcase_add_test(
        tc, a_rank_in_need_gets_what_one_that_waits_for_it_has_no_use_for);
}
