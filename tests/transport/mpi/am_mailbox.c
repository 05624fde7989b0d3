/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Diffs of many short runs, which go in active messages over mpi
 * (am_mailbox.h), and by whatever way the transport has.
 */
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

#include "base/dlsym_next.h"
#include "fixture.h"
#include "page/frames.h"
#include "seen.h"
#include "space/segment.h"
#include "transport/mpi/progress.h"
#include "world.h"

enum { PAGES = 64, ROUNDS = 4, LOCK = 11 };

/* ---- a network that loses rings, and brings bytes late ---- */

enum { TO_LOSE = 12 };
static atomic_int to_lose;

/* What the doorbell sends, and what it says for an active message. */
struct ring {
    uint64_t word;
    int32_t  says, from, to, address, lock;
};
enum { SAYS_MAIL = 16 };

SEEN ssize_t
sendto(int fd, const void *p, size_t n, int how, const struct sockaddr *to,
       socklen_t size)
{
    ssize_t (*real)(int, const void *, size_t, int, const struct sockaddr *,
                    socklen_t);

    if (n == sizeof(struct ring) &&
        ((const struct ring *)p)->says & SAYS_MAIL && to_lose > 0 &&
        to_lose-- > 0)
        return (ssize_t)n;
    hearthi_dlsym_next(&real, "sendto");
    return real(fd, p, n, how, to, size);
}

static atomic_bool helper_is_slow;

/* The helper sleeps here, and gets no core when it wakes. */
int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);

SEEN int
ppoll(struct pollfd *p, nfds_t n, const struct timespec *most,
      const sigset_t *mask)
{
    int (*real)(struct pollfd *, nfds_t, const struct timespec *,
                const sigset_t *);
    int found;

    hearthi_dlsym_next(&real, "ppoll");
    found = real(p, n, most, mask);
    if (helper_is_slow)
        sleep_ms(5);
    return found;
}

enum { LATE_MOST = 256 };
static struct late {
    const void *from;
    int         n, rank;
    MPI_Aint    at;
    MPI_Win     win;
} late[LATE_MOST];
static int  n_late;
static bool puts_are_late;

/* What was put comes when it is waited for, the last first. */
SEEN int
MPI_Put(const void *from, int n, MPI_Datatype type, int rank, MPI_Aint at,
        int n_there, MPI_Datatype there, MPI_Win win)
{
    if (!puts_are_late || n_late == LATE_MOST)
        return PMPI_Put(from, n, type, rank, at, n_there, there, win);
    late[n_late++] = (struct late){ from, n, rank, at, win };
    return MPI_SUCCESS;
}

/* A word of the mail's comes in two pieces, the second much later. */
static void
torn_put(const struct late *l)
{
    uint64_t word;

    memcpy(&word, l->from, sizeof word);
    word |= 0xff00;
    PMPI_Put(&word, l->n, MPI_BYTE, l->rank, l->at, l->n, MPI_BYTE, l->win);
    PMPI_Win_flush(l->rank, l->win);
    hearthi_doorbell_mail(l->rank);
    sleep_ms(1);
}

static bool
is_mail(const struct late *l)
{
    size_t at = (size_t)l->at - hearthi_segments.am_mailbox_at;

    return l->n == 8 && at < (size_t)ranks * HEARTHI_AM_MAILBOX_WORDS;
}

static void
late_puts_do(void)
{
    while (n_late > 0) {
        const struct late *l = &late[--n_late];

        if (is_mail(l))
            torn_put(l);

        PMPI_Put(l->from, l->n, MPI_BYTE, l->rank, l->at, l->n, MPI_BYTE,
                 l->win);
        PMPI_Win_flush(l->rank, l->win);
        if (n_late > 0 && (size_t)late[0].n > page_bytes()) {
            hearthi_doorbell_mail(l->rank); /* too often does no harm */
            sleep_ms(1);
        }
    }
}

/* Another operation of this flush may have been done long before. */
static void
late_puts_wait(void)
{
    if (n_late == 0)
        return;
    sleep_ms(1);
    late_puts_do();
}

SEEN int
MPI_Win_flush(int rank, MPI_Win win)
{
    late_puts_wait();
    return PMPI_Win_flush(rank, win);
}

SEEN int
MPI_Win_flush_all(MPI_Win win)
{
    late_puts_wait();
    return PMPI_Win_flush_all(win);
}

/* ---- words of all ranks in all pages ---- */

static int64_t
value_of(int round, int i)
{
    return (int64_t)round * 1000000007 + (int64_t)i * 65537 + 1;
}

/* Every rank writes each size-th word of pages that are at home on all ranks,
 * the homes among them. */
static void
words_write(int64_t *p, int n, int round)
{
    for (int i = me; i < n; i += ranks)
        p[i] = value_of(round, i);
}

static int
words_wrong(const int64_t *p, int n, int round)
{
    int wrong = 0;

    for (int i = 0; i < n; i++)
        wrong += p[i] != value_of(round, i);
    return wrong;
}

static void
words_play(hearth_layout layout, int pages)
{
    int      n = pages * (int)page_words();
    int64_t *p = hearth_alloc((size_t)n, sizeof *p, layout);

    for (int round = 0; round < ROUNDS; round++) {
        words_write(p, n, round);
        barrier();
        expect_eq(words_wrong(p, n, round), 0);
        barrier();
    }
    hearth_free(p);
    all_expected();
}

START_TEST(words_of_all_ranks_meet_in_pages_of_all)
{
    words_play(hearth_cyclic(1), PAGES);
}
END_TEST

/* More active messages than one home has places for, of several ranks at a
 * time. */
START_TEST(words_of_all_ranks_meet_in_pages_of_one)
{
    words_play(hearth_on(ranks - 1), PAGES);
}
END_TEST

/* Bytes, too, which share words with those of others. */
START_TEST(bytes_of_all_ranks_meet_in_words)
{
    unsigned char *p = hearth_alloc(PAGES * page_bytes(), 1, hearth_cyclic(3));

    for (int round = 1; round <= ROUNDS; round++) {
        for (size_t i = (size_t)me; i < PAGES * page_bytes();
             i += (size_t)ranks)
            p[i] = (unsigned char)(round * 37 + (int)(i % 101));
        barrier();
        for (size_t i = 0; i < PAGES * page_bytes(); i++)
            expect_eq(p[i], (unsigned char)(round * 37 + (int)(i % 101)));
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* An active message is done before the lock goes on. */
START_TEST(what_an_active_message_brought_is_seen_behind_a_lock)
{
    int64_t *p = hearth_alloc(8 * page_words(), sizeof *p, hearth_on(0));

    for (int round = 0; round < 50; round++) {
        hearth_lock(LOCK);
        for (size_t i = 0; i < 8 * page_words(); i += 2)
            p[i] += 1;
        hearth_unlock(LOCK);
    }
    barrier();
    for (size_t i = 0; i < 8 * page_words(); i++)
        expect_eq(p[i], i % 2 == 0 ? 50 * ranks : 0);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* So many that a home has more to do than it has places for; where few can be
 * cached each of them is fetched again and again. */
static int
pages_many(void)
{
    return hearthi_frames.bound < 12 * PAGES ? 3 * PAGES : 12 * PAGES;
}

/* Over udp there is no helper that could be slow: a server that is would be
 * one that loses all datagrams for a while. */
START_TEST(active_messages_wait_for_their_turn)
{
    helper_is_slow = strcmp(hearth_option("transport"), "mpi") == 0;
    words_play(hearth_on(0), pages_many());
    helper_is_slow = false;
}
END_TEST

START_TEST(rings_that_are_lost_are_repeated)
{
    to_lose = TO_LOSE;
    words_play(hearth_on(0), pages_many());
    if (hearthi_help.listens &&
        hearthi_world.node_of[me] != hearthi_world.node_of[0])
        expect_timely(to_lose < TO_LOSE);
    to_lose = 0;
}
END_TEST

START_TEST(an_active_message_that_is_late_is_done_when_it_is_there)
{
    puts_are_late = true;
    words_play(hearth_cyclic(1), PAGES);
    puts_are_late = false;
}
END_TEST

static void
start_with_messages_alone(void)
{
    fixture_start_with("PUT_RUNS", "0");
}

static void
start_with_a_small_cache(void)
{
    fixture_start_with("CACHE", bytes_of_pages(16));
}

static TCase *
mail_case(const char *name, SFun start)
{
    TCase *tc = tcase_create(name);

    tcase_add_unchecked_fixture(tc, start, fixture_stop);
    tcase_add_test(tc, words_of_all_ranks_meet_in_pages_of_all);
    tcase_add_test(tc, words_of_all_ranks_meet_in_pages_of_one);
    tcase_add_test(tc, bytes_of_all_ranks_meet_in_words);
    tcase_add_test(tc, what_an_active_message_brought_is_seen_behind_a_lock);
    tcase_add_test(tc, active_messages_wait_for_their_turn);
    tcase_add_test(tc, rings_that_are_lost_are_repeated);
    tcase_add_test(tc,
                   an_active_message_that_is_late_is_done_when_it_is_there);
    return tc;
}

int
main(int argc, char **argv)
{
    Suite *s = suite_create("mail");

    suite_add_tcase(s, mail_case("messages and puts", fixture_start));
    suite_add_tcase(s, mail_case("messages alone", start_with_messages_alone));
    suite_add_tcase(s, mail_case("few pages", start_with_a_small_cache));
    return mpi_main(argc, argv, s);
}
