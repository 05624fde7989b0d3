/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How diffs go home, over either transport: one by one, packed, and so many
 * messages on their way (HEARTH_DIFF_PACK, _DEPTH and _PUT_RUNS).
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/dlsym_next.h"
#include "fixture.h"
#include "seen.h"
#include "space/segment.h"
#include "transport/mpi/progress.h"

enum { PAGES = 24, ROUNDS = 2, LOCK = 5 };

static const struct way {
    size_t      quarters;     /* of a page, of HEARTH_DIFF_PACK */
    const char *depth, *puts; /* NULL, or 0: as it is by default */
    bool        one_by_one;
} ways[] = {
    { 0, NULL, NULL, false },     { 4, "1", NULL, true },
    { 4, "1", "0", true },        { 1, "1", "0", true },
    { 4, "2", "0", false },       { 16, "1", NULL, false },
    { 16, "16", "0", false },     { 1, "32", NULL, false },
    { 1 << 20, "3", "0", false }, { 0, "1", "0", false },
    { 4, NULL, "1000", false },
};

enum { WAYS = sizeof ways / sizeof *ways };

/* ---- what is seen of it ---- */

static int flushes; /* this thread's: nobody else's are in a test */

SEEN int
MPI_Win_flush(int rank, MPI_Win win)
{
    flushes++;
    return PMPI_Win_flush(rank, win);
}

SEEN int
MPI_Win_flush_all(MPI_Win win)
{
    flushes++;
    return PMPI_Win_flush_all(win);
}

/* For one way: 15 seconds in all, if a sender has no core for so long. */
enum { NAPS = 3000 };

static atomic_bool helper_is_slow;
static uint64_t    letters_most; /* of a rank, told of and not done */
static uint64_t    letters_due;  /* that the helper waits for ... */
static int         naps_left;    /* ... while there are any */

static void
letters_count(void)
{
    const char *at = (char *)hearthi_segments.base[hearthi_cluster.node_rank] +
                     hearthi_segments.am_mailbox_at;

    for (int r = 0; r < ranks; r++, at += HEARTHI_AM_MAILBOX_WORDS) {
        uint64_t word[2]; /* sent and done */

        memcpy(word, at, sizeof word);
        if (word[0] - word[1] > letters_most)
            letters_most = word[0] - word[1];
    }
}

/* The helper is slow here, where it has seen all ranks that have rung: also
 * while it serves others and does not wait in ppoll.  Only it does active
 * messages, so none is done meanwhile.  It is not slow at each ring, or it
 * would never come to the end of them: a rank that waits rings more often than
 * each 5 ms.  A rank that sends active messages may have no core for a moment:
 * so the helper goes on only when as many as are due have come once, or all
 * naps are over, since an active message may need MPI's progress here in order
 * to come. */
static void
helper_sleep(void)
{
    do {
        sleep_ms(5);
        letters_count();
    } while (letters_most < letters_due && naps_left-- > 0);
}

SEEN ssize_t
recvfrom(int fd, void *to, size_t len, int flags, struct sockaddr *from,
         socklen_t *size)
{
    ssize_t (*real)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
    ssize_t got;

    hearthi_dlsym_next(&real, "recvfrom");
    got = real(fd, to, len, flags, from, size);
    if (got < 0 && helper_is_slow)
        helper_sleep();
    return got;
}

/* ---- a start with each ---- */

static void
option_set(const char *name, const char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void
start(const struct way *w)
{
    char pack[32];

    snprintf(pack, sizeof pack, "%zu",
             w->quarters * (strtoul(bytes_of_pages(1), NULL, 10) / 4));
    option_set("HEARTH_DIFF_PACK", w->quarters == 0 ? NULL : pack);
    option_set("HEARTH_DIFF_DEPTH", w->depth);
    option_set("HEARTH_PUT_RUNS", w->puts);
    fixture_start();
    option_set("HEARTH_DIFF_PACK", NULL);
    option_set("HEARTH_DIFF_DEPTH", NULL);
    option_set("HEARTH_PUT_RUNS", NULL);
}

static void
stop(void)
{
    fixture_stop();
    all_expected();
}

/* ---- right data ---- */

static int64_t
value_of(int round, int i)
{
    return (int64_t)round * 1000000007 + (int64_t)i * 65537 + 1;
}

/* Each rank writes runs of so many words, by turns with the others. */
static bool
is_mine(int i, int run)
{
    return i / run % ranks == me;
}

static void
words_play(int64_t *p, int n, int run)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < n; i++)
            if (is_mine(i, run))
                p[i] = value_of(round + run, i);
        barrier();
        for (int i = 0; i < n; i++)
            expect_eq(p[i], value_of(round + run, i));
        barrier();
    }
}

static void
lock_play(int64_t *p, int n)
{
    for (int i = me; i < n; i += ranks)
        p[i] = 0;
    barrier();
    for (int round = 0; round < 10; round++) {
        hearth_lock(LOCK);
        for (int i = 0; i < n; i += 3)
            p[i] += 1;
        hearth_unlock(LOCK);
    }
    barrier();
    for (int i = 0; i < n; i++)
        expect_eq(p[i], i % 3 == 0 ? 10 * ranks : 0);
    barrier();
}

START_TEST(words_of_all_ranks_meet_whatever_way_they_go)
{
    int64_t *p;
    int      words, n;

    start(&ways[_i]);
    words = (int)page_words();
    n = PAGES * words;
    p = hearth_alloc((size_t)n, sizeof *p, hearth_cyclic(1));
    words_play(p, n, 1);
    words_play(p, n, 100);
    words_play(p, n, 3 * words);
    lock_play(p, 4 * words);
    hearth_free(p);
    stop();
}
END_TEST

/* ---- who waits how often ---- */

struct cost {
    hearth_stats s;
    uint64_t     messages;
    int          flushes;
};

static struct cost
cost_now(void)
{
    struct cost c;

    hearth_get_stats(&c.s);
    c.messages = messages_begun();
    c.flushes = flushes;
    return c;
}

static void
pages_write(int64_t *p, int words, int64_t value)
{
    for (int page = 0; page < PAGES; page++)
        for (int i = 0; i < words; i++)
            word(p, page)[2 * i] = value + i;
}

static void
release_count(int64_t *p, int words, bool one_by_one)
{
    bool        udp = strcmp(hearth_option("transport"), "udp") == 0;
    struct cost a, b;
    uint64_t    waits;

    pages_write(p, words, 1);
    a = cost_now();
    hearth_release(p, PAGES * page_bytes());
    b = cost_now();
    waits = b.s.diff_waits - a.s.diff_waits;
    expect_eq(b.s.diffs - a.s.diffs, PAGES);
    expect_eq(waits, one_by_one ? PAGES : 1);
    if (one_by_one && udp)
        expect(b.messages - a.messages >= PAGES);
    else if (one_by_one && rma_used())
        expect(b.flushes - a.flushes >= PAGES);
    else if (words == 1 && udp)
        expect_timely(b.messages - a.messages <
                      PAGES / 2 + b.s.resends - a.s.resends);
    else if (words == 1)
        expect(b.flushes - a.flushes < PAGES / 2);
}

/* Of a page with one run, which goes by a Put, and of one with many. */
START_TEST(one_by_one_each_diff_is_waited_for)
{
    int64_t *p;

    start(&ways[_i]);
    p = hearth_alloc(PAGES * page_words(), sizeof *p, hearth_on(ranks - 1));
    for (int words = 1, half = (int)page_words() / 2; words <= half;
         words *= half) {
        if (me == 0 && apart(0, ranks - 1))
            release_count(p, words, ways[_i].one_by_one);
        barrier();
        for (int page = 0; page < PAGES; page++)
            for (int i = 0; apart(0, ranks - 1) && i < words; i++)
                expect_eq(word(p, page)[2 * i], 1 + i);
        barrier();
    }
    hearth_free(p);
    stop();
}
END_TEST

static bool
has_letters(void)
{
    return strcmp(hearth_option("transport"), "mpi") == 0 &&
           hearthi_help.listens && apart(0, ranks - 1);
}

/* What the home of all pages finds while it is slow. */
static uint64_t
letters_seen(const struct way *w)
{
    enum { MANY = 8 * PAGES };
    int64_t *p;
    bool     has;

    start(w);
    has = has_letters();
    p = hearth_alloc(MANY * page_words(), sizeof *p, hearth_on(ranks - 1));
    letters_most = 0;
    naps_left = NAPS;
    barrier();
    helper_is_slow = has && me == ranks - 1;
    for (size_t i = 0; me == 0 && i < MANY * page_words(); i += 2)
        p[i] = (int64_t)i;
    barrier();
    helper_is_slow = false;
    for (int i = 0; i < MANY * (int)page_words(); i++)
        expect_eq(p[i], i % 2 == 0 ? i : 0);
    barrier();
    hearth_free(p);
    stop();
    return has && me == ranks - 1 ? letters_most : UINT64_MAX;
}

/* Active messages are told of when they are half as many. */
START_TEST(no_more_active_messages_are_on_their_way_than_asked_for)
{
    static const char *const depths[] = { "1", "2", "3", "5", NULL };

    for (int i = 0; i < 5; i++) {
        struct way w = { 16, depths[i], "0", false };
        uint64_t   most = depths[i] == NULL ? 8 : strtoul(depths[i], NULL, 10);
        uint64_t   seen;

        letters_due = (most + 1) / 2;
        seen = letters_seen(&w);
        if (seen == UINT64_MAX)
            continue;
        expect(seen <= most);
        expect_timely(seen >= letters_due);
    }
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("packs");
    TCase *tc = tcase_create("ways");

    tcase_add_loop_test(tc, words_of_all_ranks_meet_whatever_way_they_go, 0,
                        WAYS);
    tcase_add_loop_test(tc, one_by_one_each_diff_is_waited_for, 0, WAYS);
    tcase_add_test(tc,
                   no_more_active_messages_are_on_their_way_than_asked_for);
    suite_add_tcase(s, tc);
    return mpi_main(argc, argv, s);
}
