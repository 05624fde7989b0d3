/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a rank may still have of an object that is freed and taken again, and
 * what must not come of it (src/malloc/remote_free.c).  Ranks tell each other
 * by messages, which order nothing, so that each test shows what hearth_free
 * and hearth_malloc do by themselves.
 */
#include <config.h>

#include <string.h>

#include "base/test_limits.h"
#include "fixture.h"
#include "malloc.h"
#include "transport/transport.h"

/* So many are freed at a time that they are handed over, and a ring has room
 * for all. */
enum { OBJECTS = HEARTHI_TEST_LIMIT(128, 6), BYTES = 64, TRIES = 20000 };

static void
all_write(unsigned char **p, unsigned char value)
{
    for (int i = 0; i < OBJECTS; i++)
        memset(p[i], value, BYTES);
}

static void
all_free(unsigned char **p)
{
    for (int i = 0; i < OBJECTS; i++)
        hearth_free(p[i]);
}

static long
wrong(unsigned char **p, unsigned char value)
{
    long n = 0;

    for (int i = 0; i < OBJECTS; i++)
        for (int k = 0; k < BYTES; k++)
            n += p[i][k] != value;
    return n;
}

static void
all_acquire(unsigned char **p)
{
    for (int i = 0; i < OBJECTS; i++)
        hearth_acquire(p[i], BYTES);
}

static void
all_release(unsigned char **p)
{
    for (int i = 0; i < OBJECTS; i++)
        hearth_release(p[i], BYTES);
}

/* The very same objects: those that come in between stay for others. */
static void
take_again(unsigned char **p, int home)
{
    static unsigned char *other[TRIES];
    int                   n = 0, found = 0;

    while (found < OBJECTS && n < TRIES) {
        unsigned char *q = hearth_malloc_on(BYTES, home);
        int            i = 0;

        while (i < OBJECTS && p[i] != q)
            i++;
        if (i < OBJECTS)
            found++;
        else
            other[n++] = q;
    }
    expect_eq(found, OBJECTS);
    while (n > 0)
        hearth_free(other[--n]);
}

static void
take_on(unsigned char **p, int home)
{
    for (int i = 0; i < OBJECTS; i++)
        p[i] = hearth_malloc_on(BYTES, home);
}

/* The owner is at home and writes at once what the freer's late diff would
 * overwrite. */
START_TEST(what_the_freer_wrote_does_not_come_later)
{
    unsigned char *p[OBJECTS];
    int            owner = 0, freer = ranks - 1;

    for (int round = 0; round < 3; round++) {
        if (me == owner) {
            take_on(p, owner);
            all_write(p, 1);
        }
        MPI_Bcast(p, sizeof p, MPI_BYTE, owner, MPI_COMM_WORLD);
        barrier();
        if (me == freer && freer != owner) {
            all_write(p, 2);
            all_free(p);
            tell(owner, 1);
            told_by(owner, 2);
        }
        if (me == owner && freer != owner) {
            told_by(freer, 1);
            take_again(p, owner);
            all_write(p, 3);
            tell(freer, 2);
        } else if (me == owner) {
            all_write(p, 3);
        }
        barrier();
        expect_eq(wrong(p, 3), 0);
        barrier();
        if (me == owner)
            all_free(p);
    }
    all_expected();
}
END_TEST

/* The owner is not at home, and writes what its old copy has already. */
START_TEST(the_owner_does_not_write_on_an_old_copy)
{
    unsigned char *p[OBJECTS];
    int            owner = 0, freer = ranks - 1, home = ranks - 1;

    for (int round = 0; round < 3 && ranks > 1; round++) {
        if (me == owner) {
            take_on(p, home);
            all_write(p, 1);
        }
        MPI_Bcast(p, sizeof p, MPI_BYTE, owner, MPI_COMM_WORLD);
        barrier();
        expect_eq(wrong(p, 1), 0);
        barrier();
        if (me == owner)
            told_by(freer, 1);
        if (me == freer) {
            all_write(p, 2);
            all_free(p);
            tell(owner, 1);
        }
        if (me == owner) {
            take_again(p, home);
            all_write(p, 1);
        }
        barrier();
        expect_eq(wrong(p, 1), 0);
        barrier();
        if (me == owner)
            all_free(p);
    }
    all_expected();
}
END_TEST

/* The user has copies in which all is 1, which stay. */
static void
copies_begin(unsigned char **p, int owner, int user, int home)
{
    if (me == owner)
        take_on(p, home);
    MPI_Bcast(p, OBJECTS * (int)sizeof *p, MPI_BYTE, owner, MPI_COMM_WORLD);
    barrier();
    if (me == user)
        all_write(p, 1);
    barrier();
    for (int i = 0; i < 4; i++) {
        expect_eq(wrong(p, 1), 0);
        barrier();
    }
}

/* The owner passes the same objects on by a lock and writes nothing; the user
 * writes what its old copies have, and all see that. */
static void
copies_end(unsigned char **p, int owner, int user, int home)
{
    if (me == owner) {
        hearth_lock(7);
        take_again(p, home);
        hearth_unlock(7);
        tell(user, 2);
    }
    if (me == user) {
        told_by(owner, 2);
        hearth_lock(7);
        all_write(p, 1);
        hearth_unlock(7);
    }
    barrier();
    expect_eq(wrong(p, 1), 0);
    barrier();
    if (me == owner)
        all_free(p);
}

START_TEST(the_next_user_does_not_write_on_an_old_copy)
{
    unsigned char *p[OBJECTS];
    int            owner = 0, writer = 1, user = ranks - 1;

    for (int round = 0; round < 3 && ranks > 2; round++) {
        copies_begin(p, owner, user, owner);
        if (me == writer) {
            all_write(p, 2);
            all_free(p);
            tell(owner, 1);
        }
        if (me == owner)
            told_by(writer, 1);
        copies_end(p, owner, user, owner);
    }
    all_expected();
}
END_TEST

/* The owner frees what another rank wrote last, by an order that it took part
 * in. */
START_TEST(what_the_owner_frees_itself_is_as_new_for_the_next_user)
{
    unsigned char *p[OBJECTS];
    int            owner = 0, writer = 1, user = ranks - 1, home;

    for (int round = 0; round < 4 && ranks > 2; round++) {
        home = round % 2 ? owner : user;
        copies_begin(p, owner, user, home);
        if (me == writer) {
            hearth_lock(8);
            all_write(p, 2);
            hearth_unlock(8);
            tell(owner, 1);
        }
        if (me == owner) {
            told_by(writer, 1);
            hearth_lock(8);
            all_free(p);
            hearth_unlock(8);
        }
        copies_end(p, owner, user, home);
    }
    all_expected();
}
END_TEST

/* Large objects go back one by one, with all that was written there. */
START_TEST(a_large_object_goes_back_with_all_that_was_written)
{
    const size_t   large = 50 * page_bytes();
    unsigned char *p = NULL, *q;
    int            owner = 0, freer = ranks - 1;

    for (int round = 0; round < 3 && ranks > 1; round++) {
        if (me == owner)
            p = hearth_malloc(large);
        MPI_Bcast(&p, sizeof p, MPI_BYTE, owner, MPI_COMM_WORLD);
        barrier();
        if (me == freer) {
            memset(p, 2, large);
            hearth_free(p);
            tell(owner, 1);
            told_by(owner, 2);
        }
        if (me == owner) {
            told_by(freer, 1);
            q = hearth_malloc(large);
            expect(q == p);
            memset(q, 3, large);
            tell(freer, 2);
        }
        barrier();
        for (size_t i = 0; i < large; i++)
            expect(p[i] == 3);
        barrier();
        if (me == owner)
            hearth_free(p);
    }
    all_expected();
}
END_TEST

/* Its memory may have gone back to the system, where copies have what it
 * held. */
START_TEST(what_went_back_to_the_system_is_as_new_for_the_next_user)
{
    enum { MANY = 1 << 20 };
    unsigned char *p = NULL, *q;
    int            owner = 0, user = ranks - 1;

    for (int round = 0; round < 3; round++) {
        if (me == owner)
            p = hearth_malloc(MANY);
        MPI_Bcast(&p, sizeof p, MPI_BYTE, owner, MPI_COMM_WORLD);
        barrier();
        written_copies_take(p, MANY, user);
        if (me == owner) {
            memory_goes_soon(true);
            hearth_free(p);
            if (!hearthi_transport->registers())
                memory_await(p);
            memory_goes_soon(false);
            hearth_lock(7);
            q = hearth_calloc(MANY, 1);
            expect(q == p);
            expect_eq(differ(p, MANY, 0), 0);
            hearth_unlock(7);
        }
        if (me == owner && user != owner)
            tell(user, 2);
        if (me == user) {
            if (user != owner)
                told_by(owner, 2);
            hearth_lock(7);
            memset(p, 1, MANY);
            hearth_unlock(7);
        }
        barrier();
        expect_eq(differ(p, MANY, 1), 0);
        barrier();
        if (me == owner)
            hearth_free(p);
    }
    all_expected();
}
END_TEST

/* Who is not the owner may give an object another size. */
START_TEST(another_rank_resizes)
{
    unsigned char *p[OBJECTS];

    for (int round = 0; round < 3; round++) {
        int by = (round + 1) % ranks;

        if (me == 0) {
            take_on(p, round % ranks);
            all_write(p, 1);
            all_release(p);
        }
        MPI_Bcast(p, sizeof p, MPI_BYTE, 0, MPI_COMM_WORLD);
        if (me == by) {
            all_acquire(p);
            for (int i = 0; i < OBJECTS; i++)
                p[i] = hearth_realloc(p[i], (size_t)BYTES << i % 12);
        }
        MPI_Bcast(p, sizeof p, MPI_BYTE, by, MPI_COMM_WORLD);
        barrier();
        expect_eq(wrong(p, 1), 0);
        for (int i = 0; i < OBJECTS; i++)
            expect_eq(hearth_home(p[i]), round % ranks);
        barrier();
        if (me == by)
            all_free(p);
    }
    all_expected();
}
END_TEST

void
malloc_reused(TCase *tc)
{
    tcase_add_test(tc, what_the_freer_wrote_does_not_come_later);
    tcase_add_test(tc, the_owner_does_not_write_on_an_old_copy);
    tcase_add_test(tc, the_next_user_does_not_write_on_an_old_copy);
    tcase_add_test(tc,
                   what_the_owner_frees_itself_is_as_new_for_the_next_user);
    tcase_add_test(tc, a_large_object_goes_back_with_all_that_was_written);
    tcase_add_test(tc,
                   what_went_back_to_the_system_is_as_new_for_the_next_user);
    tcase_add_test(tc, another_rank_resizes);
}
