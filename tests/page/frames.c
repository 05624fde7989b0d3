/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Frames of cached copies: they pass from page to page, and no memory that a
 * network card may have seen goes back (tests/transport/mpi/registered.tap
 * runs this, too); other memory does, once the array is freed.
 */
#include <dlfcn.h>
#include <hearth/hearth.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster.h"
#include "fixture.h"
#include "page/frames.h"
#include "page/freed_frames.h"
#include "page/page.h"
#include "page/twins.h"
#include "space/heap.h"
#include "transport/transport.h"

enum { CACHE = 16, ROOMY = 4 * CACHE, PAGES = 12 * CACHE, OPENED = 8 };

static _Atomic bool stop;

static void
start(void)
{
    fixture_start_with("CACHE", bytes_of_pages(CACHE));
}

/* Where a few more twins than frames are less than twice the cache. */
static void
start_roomy(void)
{
    fixture_start_with("CACHE", bytes_of_pages(ROOMY));
}

/* What rank r writes into a word of its own in page i. */
static int64_t
value(int i, int r, int turn)
{
    return (int64_t)i * 1000003 + r * 1009 + turn + 1;
}

/* Order of pages: in sequence, backwards in steps, or scattered. */
static int
nth(int k, int way)
{
    switch (way) {
    case 0: return k;
    case 1: return (PAGES - 1) - k;
    default: return k * 61 % PAGES; /* 61 and PAGES have no common factor */
    }
}

static void
write_all(int64_t *p, int way, int turn)
{
    for (int k = 0; k < PAGES; k++) {
        int i = nth(k, way);

        word(p, i)[me] = value(i, me, turn);
    }
}

static int
wrong_of_all(int64_t *p, int way, int turn)
{
    int wrong = 0;

    for (int k = 0; k < PAGES; k++) {
        int i = nth(k, way);

        for (int r = 0; r < ranks; r++)
            wrong += word(p, i)[r] != value(i, r, turn);
    }
    return wrong;
}

START_TEST(a_frame_that_another_page_gets_has_nothing_of_the_first)
{
    int64_t *p = pages_new(PAGES);

    for (int turn = 0; turn < 9; turn++) {
        write_all(p, turn % 3, turn);
        barrier();
        expect_eq(wrong_of_all(p, (turn + 1) % 3, turn), 0);
        expect_eq(wrong_of_all(p, (turn + 2) % 3, turn), 0);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Runs of pages meet a pool of single frames, and the other way round. */
START_TEST(ranges_are_fetched_into_frames_that_do_not_follow_each_other)
{
    int64_t *p = pages_new(PAGES);
    int      wrong = 0;

    write_all(p, 0, 0);
    barrier();
    wrong += wrong_of_all(p, 2, 0);
    for (int turn = 0; turn < 30; turn++) {
        int at = turn * 37 % (PAGES - 8);

        hearth_prefetch(word(p, at), 8 * page_bytes());
        for (int i = at; i < at + 8; i++)
            for (int r = 0; r < ranks; r++)
                wrong += word(p, i)[r] != value(i, r, 0);
    }
    expect_eq(wrong, 0);
    hearth_free(p);
    all_expected();
}
END_TEST

/* Pages are home pages and copies in turn, since the layout changes. */
START_TEST(what_is_freed_is_used_again)
{
    for (int turn = 0; turn < 12; turn++) {
        int64_t *p =
            hearth_alloc((size_t)PAGES * page_bytes() / sizeof *p, sizeof *p,
                         turn % 3 == 0   ? hearth_cyclic(1)
                         : turn % 3 == 1 ? hearth_block()
                                         : hearth_on(turn % ranks));
        int dirt = 0;

        for (int i = 0; i < PAGES; i++)
            dirt += word(p, i)[me] != 0;
        expect_eq(dirt, 0);
        write_all(p, turn % 3, turn);
        barrier();
        expect_eq(wrong_of_all(p, 2, turn), 0);
        hearth_free(p);
    }
    all_expected();
}
END_TEST

/* What copies and twins take now, in pages. */
static uint64_t
kept(void)
{
    return hearthi_frames.used + hearthi_twins.resident;
}

/* One store a page, in an order that no prefetch follows, so each opens one;
 * but a fetch may bring those beside it before twins are looked at again. */
START_TEST(twins_and_copies_stay_within_the_cache)
{
    enum { FETCHED = 8 };
    int64_t *p = pages_new(PAGES);
    uint64_t most = 0;

    for (int turn = 0; turn < 3; turn++) {
        for (int k = 0; k < PAGES; k++) {
            int i = nth(k, 2);

            word(p, i)[me] = value(i, me, turn);
            most = kept() > most ? kept() : most;
        }
        expect(most <= hearthi_twins_limit() + FETCHED);
        barrier();
        expect(kept() <= hearthi_twins_limit());
        expect_eq(wrong_of_all(p, 1, turn), 0);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Half in the page before. */
struct across {
    int64_t value;
} __attribute__((packed));

static struct across *
border(int64_t *p, int i)
{
    return (struct across *)((char *)word(p, i) - sizeof(int32_t));
}

/* A store across two pages needs both, and twins are more than there is room
 * for as long as these are held. */
START_TEST(pages_that_are_held_may_have_more_twins)
{
    enum { HELD = ROOMY / 2 };
    int64_t *p =
        hearth_alloc((size_t)PAGES * page_words(), sizeof *p, hearth_on(0));
    int wrong = 0;

    if (me == ranks - 1) {
        hearth_hold(p, HELD * page_bytes(), HEARTH_WRITE);
        for (int i = HELD; i < PAGES; i++)
            word(p, i)[1] = i;
        for (int i = HELD + 1; i < PAGES; i++)
            border(p, i)->value = value(i, 0, 1);
        for (int i = 0; i < HELD; i++)
            word(p, i)[1] = i;
        hearth_drop(p, HELD * page_bytes(), HEARTH_WRITE);
    }
    barrier();
    for (int i = 0; i < PAGES; i++)
        wrong += word(p, i)[1] != i;
    for (int i = HELD + 1; i < PAGES; i++)
        wrong += border(p, i)->value != value(i, 0, 1);
    expect_eq(wrong, 0);
    expect(kept() <= hearthi_twins_limit());
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Mappings that the kernel has for the heap. */
static long
mappings_of_heap(void)
{
    FILE         *maps = fopen("/proc/self/maps", "r");
    uintptr_t     base = (uintptr_t)hearthi_heap.base;
    unsigned long at;
    char          line[512];
    long          n = 0;

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        n += sscanf(line, "%lx-", &at) == 1 && at >= base &&
             at < base + hearthi_heap.bytes;
    if (maps != NULL)
        fclose(maps);
    return n;
}

/* Or the kernel's limit would be met without warning. */
START_TEST(the_kernel_has_no_more_mappings_than_are_counted)
{
    int64_t *p = hearth_alloc((size_t)PAGES * page_bytes() / sizeof *p,
                              sizeof *p, hearth_on(0));

    for (int turn = 0; turn < 9; turn++) {
        write_all(p, turn % 3, turn);
        expect(mappings_of_heap() > 0);
        expect(mappings_of_heap() <= hearthi_table.areas + 1);
        barrier();
        expect_eq(wrong_of_all(p, 2, turn), 0);
        expect(mappings_of_heap() <= hearthi_table.areas + 1);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Trouble below the page table: who lets a waiting thread have its lock stays
 * away for a moment. */
static _Thread_local bool away;

long
syscall(long number, ...)
{
    static long (*real)(long, ...);
    va_list list;
    long    arg[6], result;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        arg[i] = va_arg(list, long);
    va_end(list);
    if (real == NULL)
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    result = real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
    if (number == SYS_futex && away && arg[1] == FUTEX_WAKE_PRIVATE)
        sleep_ms(2);
    return result;
}

/* Fetches the pages of an allocation that comes and goes, again and again. */
static void *
prefetch_beside(void *arg)
{
    int64_t *p = arg;

    while (!stop)
        hearth_prefetch(p, (size_t)OPENED * page_bytes());
    return NULL;
}

/* Pages that were written before the barrier of hearth_free are open as soon
 * as they are fetched again: a copy that is freed then must leave its twin to
 * others, of which there are as many as frames. */
START_TEST(a_copy_that_another_thread_has_just_opened_may_be_freed)
{
    enum { ROUNDS = 20, THREADS = 2 };
    pthread_t thread[THREADS];
    int64_t  *p = NULL;

    if (!threads_allowed())
        return;
    stop = false;
    for (int turn = 0; turn < ROUNDS; turn++) {
        int64_t *q = pages_new(OPENED);

        for (int k = 0; p == NULL && k < THREADS; k++)
            pthread_create(&thread[k], NULL, prefetch_beside, q);
        expect(p == NULL || p == q);
        p = q;
        for (int i = 0; i < OPENED; i++)
            word(p, i)[me] = turn + 1;
        away = true;
        hearth_free(p);
        away = false;
    }
    stop = true;
    for (int k = 0; k < THREADS; k++)
        pthread_join(thread[k], NULL);
    all_expected();
}
END_TEST

/* ---- memory of arrays that were freed ---- */

enum { LARGE_MIB = 12 };

static void
start_large(void)
{
    fixture_start_with("CACHE", "64m");
    hearthi_freed_frames_wait = 0;
}

static void
start_large_as_ever(void)
{
    fixture_start_with("CACHE", "64m");
    hearthi_freed_frames_wait = UINT64_MAX;
}

/* Bytes that cached frames have. */
static size_t
memory_of_copies(void)
{
    struct stat now;

    expect_eq(fstat(hearthi_heap.fd, &now), 0);
    return (size_t)now.st_blocks * 512;
}

static int64_t *
large_new(void)
{
    return hearth_alloc(((size_t)LARGE_MIB << 20) / sizeof(int64_t),
                        sizeof(int64_t), hearth_on(0));
}

static int
large_pages(void)
{
    return (int)(((size_t)LARGE_MIB << 20) / page_bytes());
}

/* Rank 0 has written all of it; twice, as a first copy may go at the barrier
 * behind it. */
static int
large_wrong(int64_t *p, int turn)
{
    int wrong = 0;

    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < large_pages(); i++)
            wrong += word(p, i)[i % 7] != value(i, 0, turn);
        barrier();
    }
    return wrong;
}

static void
large_write(int64_t *p, int turn)
{
    for (int i = 0; me == 0 && i < large_pages(); i++)
        word(p, i)[i % 7] = value(i, 0, turn);
    barrier();
}

static bool
is_far(void)
{
    return hearthi_cluster.nodes > 1 &&
           hearth_node_of(me) != hearth_node_of(0);
}

START_TEST(copies_of_what_is_freed_give_their_memory_back)
{
    const size_t bytes = (size_t)LARGE_MIB << 20;
    size_t       before;
    int64_t     *p = large_new();

    large_write(p, 0);
    expect_eq(large_wrong(p, 0), 0);
    before = memory_of_copies();
    hearth_free(p);
    barrier();
    if (is_far() && !hearthi_transport->registers()) {
        expect(before >= bytes);
        expect(memory_of_copies() <= before - bytes / 10 * 9);
    } else
        expect(memory_of_copies() >= before);
    /* What comes next finds nothing of it, nor loses anything. */
    for (int turn = 1; turn < 4; turn++) {
        int wrong = 0;

        p = large_new();
        for (int i = 0; i < large_pages(); i += 3)
            wrong += word(p, i)[i % 7] != 0;
        expect_eq(wrong, 0);
        barrier();
        large_write(p, turn);
        expect_eq(large_wrong(p, turn), 0);
        for (int i = me; i < large_pages(); i += ranks)
            word(p, i)[8 + me] = value(i, me, turn);
        barrier();
        for (int i = 0; i < large_pages(); i++)
            wrong += word(p, i)[8 + i % ranks] != value(i, i % ranks, turn);
        expect_eq(wrong, 0);
        barrier();
        hearth_free(p);
    }
    all_expected();
}
END_TEST

START_TEST(memory_stays_for_what_is_allocated_at_once)
{
    int64_t *p;

    for (int turn = 0; turn < 3; turn++) {
        size_t before;

        p = large_new();
        large_write(p, turn);
        expect_eq(large_wrong(p, turn), 0);
        before = memory_of_copies();
        hearth_free(p);
        barrier();
        expect(memory_of_copies() >= before);
        if (!hearthi_transport->registers())
            expect(hearthi_freed_frames == 1);
    }
    /* Nor does it go when that array has its copies there. */
    p = large_new();
    large_write(p, 3);
    expect_eq(large_wrong(p, 3), 0);
    hearthi_freed_frames_wait = 0;
    barrier();
    expect_eq(large_wrong(p, 3), 0);
    hearth_free(p);
    all_expected();
}
END_TEST

/* A small array takes the beginning of what a large one had; behind it the
 * memory goes all the same.  More arrays than are remembered do no harm. */
START_TEST(a_small_array_where_a_large_one_was_keeps_little)
{
    enum { SMALL = 100 };
    const size_t bytes = (size_t)LARGE_MIB << 20;
    size_t       before;
    int64_t     *p = large_new(), *small[SMALL];

    hearthi_freed_frames_wait = UINT64_MAX;
    large_write(p, 0);
    expect_eq(large_wrong(p, 0), 0);
    before = memory_of_copies();
    hearth_free(p);
    for (int i = 0; i < SMALL; i++)
        small[i] = hearth_alloc(page_words(), sizeof(int64_t), hearth_on(0));
    hearthi_freed_frames_wait = 0;
    barrier();
    if (is_far() && !hearthi_transport->registers())
        expect(memory_of_copies() <= before - bytes / 10 * 8);
    for (int i = 0; me == 0 && i < SMALL; i++)
        small[i][5] = value(i, 0, 1);
    barrier();
    for (int i = 0; i < SMALL; i++)
        expect_eq(small[i][5], value(i, 0, 1));
    barrier();
    hearthi_freed_frames_wait = UINT64_MAX;
    for (int i = 0; i < SMALL; i += 2)
        hearth_free(small[i]);
    for (int i = 1; i < SMALL; i += 2)
        expect_eq(small[i][5], value(i, 0, 1));
    hearthi_freed_frames_wait = 0;
    barrier();
    for (int i = 1; i < SMALL; i += 2)
        expect_eq(small[i][5], value(i, 0, 1));
    barrier();
    for (int i = 1; i < SMALL; i += 2)
        hearth_free(small[i]);
    all_expected();
}
END_TEST

/* A child of fork(2) may read what is live, though memory of what is not has
 * gone meanwhile. */
START_TEST(a_child_reads_on_when_memory_of_others_goes)
{
    int64_t *p = large_new(), *live = pages_new(8);
    int      go[2], status = 0;
    pid_t    child;
    char     c = 0;

    hearthi_freed_frames_wait = UINT64_MAX;
    for (int i = 0; me == 0 && i < 8; i++)
        word(live, i)[0] = i + 1;
    large_write(p, 0);
    expect_eq(large_wrong(p, 0), 0);
    for (int i = 0; i < 4 * 8; i++) { /* copies that stay */
        expect_eq(word(live, i % 8)[0], i % 8 + 1);
        barrier();
    }
    hearth_free(p);
    expect_eq(pipe(go), 0);
    child = fork();
    if (child == 0) {
        if (read(go[0], &c, 1) != 1)
            _exit(1);
        for (int i = 0; i < 8; i++)
            if (word(live, i)[0] != i + 1)
                _exit(2);
        _exit(0);
    }
    hearthi_freed_frames_wait = 0;
    barrier();
    expect_eq(hearthi_freed_frames, 0);
    expect_eq(write(go[1], &c, 1), 1);
    expect_eq(waitpid(child, &status, 0), child);
    expect_eq(status, 0);
    close(go[0]);
    close(go[1]);
    barrier();
    hearth_free(live);
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("frames");
    TCase *tc = tcase_create("replaced"), *roomy = tcase_create("roomy");
    TCase *freed = tcase_create("freed"), *kept = tcase_create("kept");

    tcase_add_unchecked_fixture(tc, start, fixture_stop);
    tcase_add_test(tc,
                   a_frame_that_another_page_gets_has_nothing_of_the_first);
    tcase_add_test(
        tc, ranges_are_fetched_into_frames_that_do_not_follow_each_other);
    tcase_add_test(tc, what_is_freed_is_used_again);
    tcase_add_test(tc, the_kernel_has_no_more_mappings_than_are_counted);
    tcase_add_test(tc,
                   a_copy_that_another_thread_has_just_opened_may_be_freed);
    suite_add_tcase(s, tc);
    tcase_add_unchecked_fixture(roomy, start_roomy, fixture_stop);
    tcase_add_test(roomy, twins_and_copies_stay_within_the_cache);
    tcase_add_test(roomy, pages_that_are_held_may_have_more_twins);
    suite_add_tcase(s, roomy);
    tcase_add_unchecked_fixture(freed, start_large, fixture_stop);
    tcase_add_test(freed, copies_of_what_is_freed_give_their_memory_back);
    suite_add_tcase(s, freed);
    tcase_add_unchecked_fixture(kept, start_large_as_ever, fixture_stop);
    tcase_add_test(kept, memory_stays_for_what_is_allocated_at_once);
    tcase_add_test(kept, a_small_array_where_a_large_one_was_keeps_little);
    tcase_add_test(kept, a_child_reads_on_when_memory_of_others_goes);
    suite_add_tcase(s, kept);
    return mpi_main(argc, argv, s);
}
