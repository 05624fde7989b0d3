/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Homes and frames that are worked out, against tables that are filled page by
 * page.
 */
#include "page/page_map.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "fixture.h"
#include "home/home.h"
#include "page/evict.h"
#include "page/page.h"
#include "space/segment.h"
#include "world.h"

enum { LIVE = 40, MOST = 300, STEPS = 1200 };

/* What an allocation should be: the home of each page, worked out alone. */
struct expected {
    char  *p;
    size_t pages, bytes;
    int    home[MOST];
};

static struct expected live[LIVE];
static uint64_t       *page_in; /* of each frame of each rank: page + 1 */

static size_t
draw(uint64_t *random, size_t n)
{
    return (size_t)(hearthi_random(random) % n);
}

/* The i-th rank of those that the layout's clusters have. */
static int
rank_within(hearth_layout l, size_t i)
{
    int r = 0;

    while ((l.clusters >> hearth_cluster_of(r) & 1) == 0 || i-- > 0)
        r++;
    return r;
}

static size_t
ranks_within(hearth_layout l)
{
    size_t n = 0;

    for (int r = 0; r < ranks; r++)
        n += l.clusters >> hearth_cluster_of(r) & 1;
    return n;
}

static int
naive_home(hearth_layout l, size_t bytes, size_t i)
{
    size_t n = ranks_within(l);
    size_t r =
        bytes < page_bytes()
            ? 0
            : (size_t)((__uint128_t)(i * page_bytes() + page_bytes() / 2) * n /
                       bytes);

    switch (l.kind) {
    case HEARTH_CYCLIC: return rank_within(l, i / l.pages % n);
    case HEARTH_ON: return l.rank;
    case HEARTH_BLOCK:
    case HEARTH_FIRST_TOUCH: break;
    }
    return rank_within(l, r < n ? r : n - 1);
}

/* With some of the clusters, if there are several. */
static hearth_layout
layout_draw(uint64_t *random)
{
    static const size_t blocks[] = { 1, 2, 3, 5, 16, 100, 1000, SSIZE_MAX };
    size_t              sets = ((size_t)1 << hearth_clusters()) - 1;
    uint64_t            set = 1 + draw(random, sets);

    switch (draw(random, 4)) {
    case 0: return hearth_within(hearth_block(), set);
    case 1: return hearth_on((int)draw(random, (size_t)ranks));
    default: return hearth_within(hearth_cyclic(blocks[draw(random, 8)]), set);
    }
}

/* By a list of homes, as jia.h has it. */
static char *
list_new(struct expected *e, uint64_t *random)
{
    struct hearthi_stretch list[MOST];
    size_t                 n = 0;

    for (e->pages = 0; n < 20; n++) {
        size_t len = 1 + draw(random, 9);
        int    home = (int)draw(random, (size_t)ranks);

        list[n] = (struct hearthi_stretch){ len, (uint32_t)home };
        while (len-- > 0)
            e->home[e->pages++] = home;
    }
    e->bytes = e->pages * page_bytes();
    return hearthi_alloc(e->bytes, 4,
                         &(struct hearthi_placing){ .stretch = list, .n = n });
}

static void
live_new(struct expected *e, uint64_t *random)
{
    hearth_layout l = layout_draw(random);

    e->bytes = 1 + draw(random, (size_t)MOST * page_bytes());
    e->pages = (e->bytes + page_bytes() - 1) / page_bytes();
    if (draw(random, 5) == 0) {
        e->p = list_new(e, random);
        return;
    }
    for (size_t i = 0; i < e->pages; i++)
        e->home[i] = naive_home(l, e->bytes, i);
    e->p = hearth_alloc(e->bytes, 1, l);
}

static uint64_t *
frame_at(int home, uint64_t frame)
{
    return &page_in[(size_t)home * hearthi_segments.frames + frame];
}

static void
frames_forget(const struct expected *e)
{
    for (size_t i = 0; i < e->pages; i++)
        *frame_at(e->home[i],
                  hearthi_home_frame_of(hearthi_page_of(e->p) + i)) = 0;
}

/* No frame belongs to two pages, and this node's know theirs. */
static void
frames_note(const struct expected *e)
{
    for (size_t i = 0; i < e->pages; i++) {
        uint64_t  page = hearthi_page_of(e->p) + i;
        uint64_t  frame = hearthi_home_frame_of(page);
        uint64_t *in = frame_at(e->home[i], frame);

        expect_eq(*in, 0);
        *in = page + 1;
    }
}

static void
place_expect(const struct expected *e, size_t i)
{
    uint64_t                  page = hearthi_page_of(e->p) + i;
    struct hearthi_page_place r = *hearthi_page_place_of(page);
    uint64_t                  frame = r.frame + (page - r.page);
    bool near = hearthi_world.node_of[e->home[i]] == hearthi_world.node;
    bool follows = i + 1 < e->pages && e->home[i + 1] == e->home[i] &&
                   *frame_at(e->home[i], frame + 1) == page + 2;

    expect_eq(r.home, e->home[i]);
    expect(page >= r.page && page < r.page + r.count);
    expect_eq(*frame_at(e->home[i], frame), page + 1);
    expect_eq(hearthi_follows(page), follows);
    expect_eq(hearthi_is_home(hearthi_state_of(page)), near);
    if (near)
        expect_eq(
            hearthi_page_in(hearthi_world.node_rank_of[e->home[i]], frame),
            page);
}

static void
live_expect(const struct expected *e)
{
    hearthi_table_lock();
    for (size_t i = 0; i < e->pages; i++)
        place_expect(e, i);
    hearthi_table_unlock();
    expect_eq(hearth_home(e->p + e->bytes - 1), e->home[e->pages - 1]);
}

/* The kernel's mappings are counted by allocation. */
static void
areas_expect(void)
{
    long sum = 0;

    for (size_t i = 0; hearthi_page_map_get(i) != NULL; i++)
        sum += hearthi_page_map_get(i)->areas;
    expect_eq(sum, hearthi_table.areas);
}

static void
live_free(struct expected *e)
{
    char *p = e->p;

    hearthi_table_lock();
    frames_forget(e);
    hearthi_table_unlock();
    hearth_free(p);
    expect_eq(hearth_home(p), -1);
    expect_eq(hearth_home(p + e->bytes - 1), -1);
    e->p = NULL;
}

/* Some pages are touched, so that the table has entries for them. */
static void
live_touch(const struct expected *e, uint64_t *random)
{
    for (int k = 0; k < 4; k++) {
        size_t at = draw(random, e->bytes);

        expect_eq(e->p[at], 0);
        e->p[at] = 0;
    }
}

/* Mappings of home pages are given up, and come back when they are touched. */
static void
mappings_lose(void)
{
    long most = hearthi_table.areas_max;

    hearthi_table_lock();
    hearthi_table.areas_max = 0;
    hearthi_copies_reserve(0);
    hearthi_table.areas_max = most;
    hearthi_table_unlock();
}

START_TEST(every_layout_is_as_a_table_would_have_it)
{
    long     areas = hearthi_table.areas; /* of arenas */
    uint64_t random = 11;
    size_t   frames = (size_t)ranks * hearthi_segments.frames;

    page_in = calloc(frames + 1, sizeof *page_in);
    for (int step = 0; step < STEPS; step++) {
        struct expected *e = &live[draw(&random, LIVE)];

        if (e->p != NULL) {
            live_free(e);
        } else {
            live_new(e, &random);
            hearthi_table_lock();
            frames_note(e);
            hearthi_table_unlock();
            live_touch(e, &random);
        }
        for (int i = 0; i < LIVE && step % 16 == 0; i++)
            if (live[i].p != NULL)
                live_expect(&live[i]);
        areas_expect();
        if (step % 50 == 0)
            mappings_lose();
        if (step % 100 == 0)
            all_expected();
    }
    for (int i = 0; i < LIVE; i++)
        if (live[i].p != NULL)
            live_free(&live[i]);
    for (size_t i = 0; i < frames; i++)
        expect_eq(page_in[i], 0);
    free(page_in);
    areas_expect();
    expect(hearthi_table.areas <= areas); /* they may have lost theirs */
    all_expected();
}
END_TEST

/* ---- beside threads ---- */

enum { THREADS = 3, PAGES = 96 };
struct worker {
    pthread_t     thread;
    int           number;
    int64_t      *words;
    int64_t       rounds;
    _Atomic bool *stop;
};

/* Writes a word of its own in each page, and drops copies now and then, so
 * that it faults all the time. */
static void *
work(void *arg)
{
    struct worker *w = arg;
    int            mine = me * THREADS + w->number;

    for (; !*w->stop; w->rounds++) {
        for (int i = 0; i < PAGES; i++) {
            int64_t *at = word(w->words, i) + mine;

            expect_eq(*at, w->rounds);
            *at = w->rounds + 1;
        }
        hearth_release(w->words, PAGES * page_bytes());
        hearth_acquire(w->words, PAGES * page_bytes());
        sleep_ms(1);
    }
    return NULL;
}

/* Where their first element is, not behind their last. */
START_TEST(a_few_elements_are_at_home_on_the_first_rank)
{
    double *p = hearth_alloc(10, sizeof *p, hearth_block());

    all_assert(hearth_home(p) == 0 && hearth_home(p + 9) == 0);
    hearth_free(p);
}
END_TEST

START_TEST(places_change_while_threads_fault)
{
    uint64_t      random = 5;
    _Atomic bool  stop = false;
    struct worker w[THREADS];
    int64_t      *words;

    if (!threads_allowed())
        return;
    words = pages_new(PAGES);
    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct worker){ .number = i, .words = words, .stop = &stop };
        pthread_create(&w[i].thread, NULL, work, &w[i]);
    }
    for (int step = 0; step < STEPS / 4; step++) {
        struct expected *e = &live[draw(&random, LIVE)];

        if (e->p != NULL) {
            hearth_free(e->p);
            e->p = NULL;
        } else {
            live_new(e, &random);
            live_touch(e, &random);
        }
    }
    stop = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(w[i].thread, NULL);
    for (int i = 0; i < LIVE; i++) {
        if (live[i].p != NULL)
            hearth_free(live[i].p);
        live[i].p = NULL;
    }
    barrier();
    for (int i = 0; i < PAGES; i++)
        for (int k = 0; k < THREADS; k++)
            expect_eq(word(words, i)[me * THREADS + k], w[k].rounds);
    barrier();
    hearth_free(words);
    all_expected();
}
END_TEST

static void
start_with_few_frames(void)
{
    fixture_start_with("HOME", bytes_of_pages(16384));
}

int
main(int argc, char **argv)
{
    Suite *s = suite_create("place");
    TCase *tc = tcase_create("places");

    tcase_add_unchecked_fixture(tc, start_with_few_frames, fixture_stop);
    tcase_add_test(tc, every_layout_is_as_a_table_would_have_it);
    tcase_add_test(tc, a_few_elements_are_at_home_on_the_first_rank);
    tcase_add_test(tc, places_change_while_threads_fault);
    suite_add_tcase(s, tc);
    return mpi_main(argc, argv, s);
}
