/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages that are received into pages which are not here, and go home
 * without a fetch (api/api_pin.h); and other threads that miss these
 * meanwhile.
 */
#include "threads_seam.h"
#include "transport/transport.h"

enum { LOCK = 97, TAG = 3, FEW = 5, MOST = 4 * (64 << 10) / 8 };

/* Numbers of four pages. */
static int
many(void)
{
    return 4 * (int)page_words();
}

static void
numbers_send(int to, int64_t first, int n)
{
    static int64_t number[MOST];

    for (int i = 0; i < n; i++)
        number[i] = first + i;
    MPI_Send(number, n, MPI_INT64_T, to, TAG, MPI_COMM_WORLD);
}

static void
numbers_receive(int64_t *p, int most)
{
    MPI_Recv(p, most, MPI_INT64_T, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

START_TEST(a_message_into_absent_pages_fetches_none)
{
    int64_t     *p = pages_of_zero(5);
    hearth_stats before, after;

    barrier();
    if (apart(0, ranks - 1) && me == 0) {
        numbers_send(ranks - 1, 100, many());
        told_by(ranks - 1, TAG);
        for (int i = 0; i < many(); i++)
            expect_eq(p[7 + i], 100 + i);
        expect_eq(p[6] | p[7 + many()], 0);
    } else if (apart(0, ranks - 1) && is_reader()) {
        hearth_get_stats(&before);
        numbers_receive(p + 7, many());
        hearth_get_stats(&after);
        expect_eq(after.getpages, before.getpages);
        expect_eq(p[7 + many() - 1], 100 + many() - 1);
        hearth_release(p, 5 * page_bytes());
        tell(0, TAG);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* What is there is more than what came. */
START_TEST(a_short_message_leaves_the_rest)
{
    int64_t *p = pages_of_zero(4);

    for (int i = 0; me == 0 && i < many(); i++)
        p[i] = -i;
    barrier();
    if (apart(0, ranks - 1) && me == 0)
        numbers_send(ranks - 1, 100, FEW);
    else if (apart(0, ranks - 1) && is_reader())
        numbers_receive(p, many());
    barrier();
    for (int i = 0; apart(0, ranks - 1) && i < many(); i++)
        expect_eq(p[i], i < FEW ? 100 + i : -i);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Whoever has a copy is told at the next acquire. */
/* To fetch the page costs less than to bring each of them home. */
START_TEST(messages_of_a_few_bytes_fetch_their_page_once)
{
    int64_t     *p = pages_of_zero(1);
    hearth_stats before, after;

    barrier();
    for (int i = 0; apart(0, ranks - 1) && i < (int)page_words(); i++) {
        if (me == 0)
            numbers_send(ranks - 1, i, 1);
        if (is_reader() && i == 0)
            hearth_get_stats(&before);
        if (is_reader())
            numbers_receive(p + i, 1);
    }
    if (apart(0, ranks - 1) && is_reader()) {
        hearth_get_stats(&after);
        expect(after.getpages <= before.getpages + 1);
        expect_eq(after.diffs, before.diffs);
    }
    barrier();
    for (int i = 0; apart(0, ranks - 1) && i < (int)page_words(); i++)
        expect_eq(p[i], i);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(what_a_message_brought_is_news)
{
    int64_t *p = pages_of_zero(4);
    bool     play = ranks > 2 && apart(0, ranks - 1) && apart(1, ranks - 1);

    copies_take(p, me == 1 ? 1 : 0, 0);
    barrier();
    if (play && me == 0)
        numbers_send(ranks - 1, 100, (int)page_words());
    if (play && is_reader()) {
        hearth_lock(LOCK);
        numbers_receive(p, (int)page_words());
        hearth_unlock(LOCK);
        tell(1, TAG);
    }
    if (play && me == 1) {
        told_by(ranks - 1, TAG);
        hearth_lock(LOCK);
        expect_eq(p[0], 100);
        hearth_unlock(LOCK);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Another thread's fetch has read the first of four pages before the message
 * came. */
START_TEST(a_message_into_a_page_on_its_way_is_not_lost)
{
    int64_t       *p = pages_of_zero(4);
    struct reading other;

    barrier();
    if (may_play() && me == 0)
        numbers_send(ranks - 1, 100, many());
    if (may_play() && is_reader()) {
        reading_stopped(&other, p, true);
        seam_go_on();
        numbers_receive(p, many());
        expect_eq(p[0], 100);
        reading_end(&other);
        expect_eq(p[0], 100);
        seam_close();
    }
    barrier();
    for (int i = 0; may_play() && i < many(); i++)
        expect_eq(p[i], 100 + i);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Diffs that are slow. */
static const struct hearthi_transport_ops *real;
static struct hearthi_transport_ops        ops;
static _Atomic bool                        sent;

static void
diff_slowly(int home, size_t offset, const void *src, size_t bytes)
{
    sent = true;
    sleep_ms(50);
    real->data.diff(home, offset, src, bytes);
}

static void *
read_meanwhile(void *arg)
{
    struct reading *r = arg;

    while (!sent)
        sleep_ms(1);
    r->value = *(const volatile int64_t *)r->p;
    return NULL;
}

START_TEST(nobody_fetches_a_page_while_a_message_goes_into_it)
{
    int64_t       *p = pages_of_zero(1);
    struct reading other = { .p = p };

    barrier();
    if (may_play() && me == 0)
        numbers_send(ranks - 1, 100, (int)page_words());
    if (may_play() && is_reader()) {
        sent = false;
        real = hearthi_transport;
        ops = *real;
        ops.data.diff = diff_slowly;
        pthread_create(&other.thread, NULL, read_meanwhile, &other);
        hearthi_transport = &ops;
        numbers_receive(p, (int)page_words());
        hearthi_transport = real;
        expect(sent);
        sent = true;
        reading_end(&other);
        expect_eq(p[0], 100);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

void
threads_messages_tests(TCase *tc)
{
    tcase_add_test(tc, a_message_into_absent_pages_fetches_none);
    tcase_add_test(tc, a_short_message_leaves_the_rest);
    tcase_add_test(tc, messages_of_a_few_bytes_fetch_their_page_once);
    tcase_add_test(tc, what_a_message_brought_is_news);
    tcase_add_test(tc, a_message_into_a_page_on_its_way_is_not_lost);
    tcase_add_test(tc, nobody_fetches_a_page_while_a_message_goes_into_it);
}
