/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Objects that get another size where they are, and memory that serves others.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "malloc.h"
#include "malloc/arena_map.h"
#include "transport/transport.h"

enum { STEP = 1 << 16 };

static unsigned char
value(size_t i, unsigned key)
{
    return (unsigned char)(i / page_bytes() * 7 + key);
}

/* A byte of each page that it got, and all that it had. */
static unsigned char *
grow(unsigned char *p, size_t had, size_t bytes, unsigned key)
{
    p = hearth_realloc(p, bytes);
    for (size_t i = 0; i < had; i += page_bytes())
        expect(p[i] == value(i, key));
    for (size_t i = had; i < bytes; i += page_bytes())
        p[i] = value(i, key);
    return p;
}

/* It could not move: there is no room for two. */
START_TEST(an_object_may_grow_step_by_step_to_most_of_the_memory)
{
    const size_t most = hearthi_arena_map.room / 8 * 7 / STEP * STEP;

    for (int home = 0; home < ranks; home += ranks - 1 + (ranks == 1)) {
        unsigned char *p = NULL, *first;

        barrier();
        if (me != 0)
            continue;
        p = first = hearth_malloc_on(STEP, home);
        memset(p, value(0, 1), page_bytes());
        for (size_t i = page_bytes(); i < STEP; i += page_bytes())
            p[i] = value(i, 1);
        for (size_t bytes = 2 * STEP; bytes <= most; bytes += STEP)
            p = grow(p, bytes - STEP, bytes, 1);
        expect(p == first);
        hearth_free(p);
    }
    barrier();
    all_expected();
}
END_TEST

/* None has room behind it. */
START_TEST(objects_that_grow_in_turn_move_seldom)
{
    enum { OBJECTS = 2 };
    const size_t   most = hearthi_arena_map.room / 4 / STEP * STEP;
    unsigned char *p[OBJECTS] = { NULL }, *was;
    int            steps = 0, moves = 0;

    for (size_t bytes = STEP; bytes <= most; bytes += STEP)
        for (int i = 0; i < OBJECTS; i++) {
            was = p[i];
            p[i] = grow(was, bytes - STEP, bytes, (unsigned)i);
            moves += was != p[i];
            steps++;
        }
    expect(moves < steps / 2);
    for (int i = 0; i < OBJECTS; i++)
        hearth_free(p[i]);
    all_expected();
}
END_TEST

START_TEST(what_an_object_no_longer_needs_serves_others)
{
    const size_t   most = hearthi_arena_map.room / 4 * 3;
    unsigned char *p = hearth_malloc(most), *q;

    memset(p, 5, page_bytes());
    expect(hearth_realloc(p, 2 * STEP) == p);
    q = hearth_malloc(most / 4 * 3); /* or the job ends */
    memset(q, 6, most / 4 * 3);
    for (size_t i = 0; i < page_bytes(); i++)
        expect(p[i] == 5);
    hearth_free(q);
    hearth_free(p);
    all_expected();
}
END_TEST

/* The user has copies of all of it when it shrinks and grows again, with other
 * memory; it writes what these have. */
static void
tail_goes_and_comes(unsigned char *p, size_t bytes, int owner, int user)
{
    if (me == owner) {
        memory_goes_soon(true);
        expect(hearth_realloc(p, bytes / 4) == p);
        if (!hearthi_transport->registers())
            memory_await(p + bytes - page_bytes());
        memory_goes_soon(false);
        hearth_lock(7);
        expect(hearth_realloc(p, bytes) == p);
        hearth_unlock(7);
        if (user != owner)
            tell(user, 2);
    }
    if (me == user) {
        if (user != owner)
            told_by(owner, 2);
        hearth_lock(7);
        memset(p, 1, bytes);
        hearth_unlock(7);
    }
}

START_TEST(what_an_object_grows_into_is_as_new_for_its_user)
{
    const size_t   bytes = 2 << 20;
    unsigned char *p = NULL;
    int            owner = 0, user = ranks - 1;

    for (int round = 0; round < 2; round++) {
        if (me == owner)
            p = hearth_malloc(bytes);
        MPI_Bcast(&p, sizeof p, MPI_BYTE, owner, MPI_COMM_WORLD);
        barrier();
        written_copies_take(p, bytes, user);
        tail_goes_and_comes(p, bytes, owner, user);
        barrier();
        expect_eq(differ(p, bytes, 1), 0);
        barrier();
        if (me == user) /* whole, with what was cut off once */
            hearth_free(p);
        barrier();
    }
    all_expected();
}
END_TEST

/* ---- memory that goes back, and serves small objects ---- */

enum { SMALL = 1024, SMALLS = 100, WHOLE = 1 << 20 };

/* All but a block is in use, so that the small ones lie in p, once its memory
 * has gone back. */
static void
small_ones_take(unsigned char *p, unsigned char **q)
{
    const size_t n = (hearthi_arena_map.room - WHOLE) / STEP - 1;
    void       **other = malloc(n * sizeof *other);
    int          inside = 0;

    ck_assert(other != NULL);
    for (size_t i = 0; i < n; i++)
        other[i] = hearth_malloc(STEP);
    memory_goes_soon(true);
    hearth_free(p);
    if (!hearthi_transport->registers())
        memory_await(p);
    memory_goes_soon(false);
    hearth_lock(7);
    for (int i = 0; i < SMALLS; i++) {
        q[i] = hearth_malloc(SMALL);
        inside += q[i] >= p && q[i] < p + WHOLE;
    }
    hearth_unlock(7);
    expect(inside > 0);
    for (size_t i = 0; i < n; i++)
        hearth_free(other[i]);
    free(other);
}

START_TEST(memory_that_went_back_is_as_new_for_small_objects_too)
{
    unsigned char *p = NULL, *q[SMALLS];
    int            owner = 0, user = ranks - 1;

    if (me == owner) {
        hearth_collect();
        p = hearth_malloc(WHOLE);
    }
    MPI_Bcast(&p, sizeof p, MPI_BYTE, owner, MPI_COMM_WORLD);
    barrier();
    written_copies_take(p, WHOLE, user);
    if (me == owner)
        small_ones_take(p, q);
    MPI_Bcast(q, sizeof q, MPI_BYTE, owner, MPI_COMM_WORLD);
    if (me == user) {
        hearth_lock(7);
        for (int i = 0; i < SMALLS; i++)
            memset(q[i], 1, SMALL);
        hearth_unlock(7);
    }
    barrier();
    for (int i = 0; i < SMALLS; i++)
        expect_eq(differ(q[i], SMALL, 1), 0);
    barrier();
    for (int i = 0; i < SMALLS && me == owner; i++)
        hearth_free(q[i]);
    all_expected();
}
END_TEST

void
malloc_resized(TCase *tc)
{
    tcase_add_test(tc, memory_that_went_back_is_as_new_for_small_objects_too);
    tcase_add_test(tc, an_object_may_grow_step_by_step_to_most_of_the_memory);
    tcase_add_test(tc, objects_that_grow_in_turn_move_seldom);
    tcase_add_test(tc, what_an_object_no_longer_needs_serves_others);
    tcase_add_test(tc, what_an_object_grows_into_is_as_new_for_its_user);
}
