/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What else can be asked of objects: alignment, NULL, sizes, counts.
 */
#include <config.h>

#include <string.h>

#include "fixture.h"
#include "malloc.h"
#include "malloc/arena_map.h"
#include "transport/transport.h"

START_TEST(objects_are_aligned_as_asked_for)
{
    static const size_t size[] = { 1, 24, 100, 5000, 20000, 300000 };
    enum { SIZES = sizeof size / sizeof *size, MOST = 1 << 18 };
    unsigned char *p[SIZES];

    for (size_t align = 1; align <= MOST; align *= 4) {
        for (int i = 0; i < SIZES; i++) {
            p[i] = i % 2 ? hearth_aligned_alloc(align, size[i])
                         : hearth_aligned_alloc_on(align, size[i],
                                                   (me + 1) % ranks);
            expect((uintptr_t)p[i] % align == 0);
            expect((uintptr_t)p[i] % 16 == 0);
            memset(p[i], i, size[i]);
        }
        for (int i = 0; i < SIZES; i++) {
            expect(p[i][0] == i && p[i][size[i] - 1] == i);
            hearth_free(p[i]);
        }
    }
    barrier();
    all_expected();
}
END_TEST

START_TEST(all_ranks_are_told_the_bytes_of_an_object)
{
    static const size_t size[] = { 1, 16, 17, 5000, 16384, 16385, 100000 };

    expect_eq(hearth_malloc_usable_size(NULL), 0);
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        char  *p = me == 0 ? hearth_malloc(size[i]) : NULL;
        size_t here, there;

        MPI_Bcast(&p, sizeof p, MPI_BYTE, 0, MPI_COMM_WORLD);
        there = here = hearth_malloc_usable_size(p);
        MPI_Bcast(&there, sizeof there, MPI_BYTE, 0, MPI_COMM_WORLD);
        expect_eq(here, there);
        expect(here >= size[i] &&
               here < size[i] + size[i] / 4 + page_bytes() + 16);
        barrier();
        if (me == 0) {
            memset(p, 1, here);
            hearth_free(p);
        }
    }
    all_expected();
}
END_TEST

/* With others it would wait for them. */
START_TEST(who_tries_gets_null_where_there_is_no_memory)
{
    enum { SMALL = 1000, MOST = 1 << 16 };
    static void *p[MOST];
    int          n = 0;

    expect(hearth_try_malloc(hearthi_arena_map.room + 1) == NULL);
    while (ranks == 1 && n < MOST &&
           (p[n] = hearth_try_malloc(SMALL << n % 8)) != NULL)
        n++;
    expect(n < MOST);
    while (n > 0)
        hearth_free(p[--n]);
    expect((p[0] = hearth_try_malloc(SMALL)) != NULL);
    hearth_free(p[0]);
    barrier();
    all_expected();
}
END_TEST

static hearth_malloc_stats
counts(void)
{
    hearth_malloc_stats s;

    hearth_get_malloc_stats(&s, sizeof s);
    return s;
}

START_TEST(objects_are_counted)
{
    enum { SMALL = 10, BYTES = 64, LARGE = 1 << 20 };
    hearth_malloc_stats before = counts(), during, after, fewer;
    void               *p[SMALL], *large = hearth_malloc(LARGE);

    for (int i = 0; i < SMALL; i++)
        p[i] = hearth_malloc_on(BYTES, (me + i) % ranks);
    during = counts();
    expect_eq(during.live, before.live + SMALL + 1);
    expect_eq(during.live_bytes, before.live_bytes + SMALL * BYTES +
                                     hearth_malloc_usable_size(large));
    expect(during.peak_bytes >= during.live_bytes);
    expect(during.carved_bytes >= during.live_bytes);
    for (int i = 0; i < SMALL; i++)
        hearth_free(p[i]);
    hearth_free(large);
    after = counts();
    expect_eq(after.live, before.live);
    expect_eq(after.live_bytes, before.live_bytes);
    expect_eq(after.peak_bytes, during.peak_bytes);
    fewer.to_take = 7;
    hearth_get_malloc_stats(&fewer, offsetof(hearth_malloc_stats, to_take));
    expect_eq(fewer.to_take, 7);
    expect_eq(fewer.live, after.live);
    all_expected();
}
END_TEST

/* From the freer by mail to its owner. */
START_TEST(what_another_rank_freed_is_counted_until_it_is_taken_back)
{
    void *p = NULL;
    int   owner = 0, freer = ranks - 1;

    barrier();
    if (me == owner)
        p = hearth_malloc(64);
    MPI_Bcast(&p, sizeof p, MPI_BYTE, owner, MPI_COMM_WORLD);
    if (me == freer && freer != owner) {
        hearth_collect();
        hearth_free(p);
        expect_eq(counts().to_send, 1);
        hearth_collect();
        expect_eq(counts().to_send, 0);
        tell(owner, 1);
    }
    if (me == owner && freer != owner) {
        uint64_t live = counts().live;

        told_by(freer, 1);
        expect_eq(counts().to_take, 1);
        hearth_collect();
        expect_eq(counts().to_take, 0);
        expect_eq(counts().live, live - 1);
    }
    if (me == owner && freer == owner)
        hearth_free(p);
    barrier();
    all_expected();
}
END_TEST

START_TEST(memory_that_is_collected_goes_back_at_once)
{
    enum { MANY = 2 << 20, SMALL = 1024, EACH = 1000 };
    unsigned char *p = hearth_malloc(MANY), *small[EACH];

    for (int i = 0; i < EACH; i++)
        memset(small[i] = hearth_malloc(SMALL), 1, SMALL);
    memset(p, 1, MANY);
    for (int i = 0; i < EACH; i++)
        hearth_free(small[i]);
    hearth_free(p);
    hearth_collect();
    if (!hearthi_transport->registers()) {
        expect(!has_memory(p) && !has_memory(p + MANY - page_bytes()));
        if (page_bytes() <= HEARTHI_ARENA_BLOCK)
            expect(!has_memory(small[EACH / 2]));
    }
    p = hearth_calloc(MANY, 1);
    for (int i = 0; i < MANY; i++)
        expect(p[i] == 0);
    hearth_free(p);
    barrier();
    all_expected();
}
END_TEST

/* Its user has copies of it from before, and writes what these have.  There is
 * no other memory. */
START_TEST(what_was_given_back_to_its_arena_is_as_new_for_its_user)
{
    enum { BYTES = 2 << 20, MOST = 64 };
    unsigned char *p = NULL, *was = NULL;
    void          *other[MOST];
    int            n = 0;

    for (int round = 0; round < 2; round++) {
        if (me == 0)
            p = hearth_malloc(BYTES);
        while (me == 0 && round == 0 && n < MOST &&
               (other[n] = hearth_try_malloc(BYTES)) != NULL)
            n++;
        expect(round == 0 || me != 0 || p == was);
        was = p;
        MPI_Bcast(&p, sizeof p, MPI_BYTE, 0, MPI_COMM_WORLD);
        barrier();
        written_copies_take(p, BYTES, ranks - 1);
        if (me == 0) {
            hearth_free(p);
            hearth_collect();
        }
        barrier();
    }
    while (n > 0)
        hearth_free(other[--n]);
    barrier();
    all_expected();
}
END_TEST

void
malloc_calls(TCase *tc)
{
    tcase_add_test(tc, objects_are_aligned_as_asked_for);
    tcase_add_test(tc, all_ranks_are_told_the_bytes_of_an_object);
    tcase_add_test(tc, who_tries_gets_null_where_there_is_no_memory);
    tcase_add_test(tc, objects_are_counted);
    tcase_add_test(tc,
                   what_another_rank_freed_is_counted_until_it_is_taken_back);
    tcase_add_test(tc, memory_that_is_collected_goes_back_at_once);
    tcase_add_test(tc,
                   what_was_given_back_to_its_arena_is_as_new_for_its_user);
}
