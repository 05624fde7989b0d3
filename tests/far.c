/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which fetches of other clusters' pages a gateway passes on, and for which
 * answers others wait (src/transport/clusters/far.h).
 */
#define _GNU_SOURCE
#include <config.h>

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "harness.h"
#include "link/conf.h"
#include "notice/notice.h"
#include "space/heap.h"
#include "transport/clusters/far.h"
#include "transport/clusters/gate.h"
#include "transport/clusters/guests.h"
#include "transport/clusters/kept.h"
#include "world.h"

enum { PAGE = 4096, RANKS = 4, HOME = RANKS, KEPT = 64 };

static struct hearthi_conf conf = { .n = 2, .ranks = RANKS + 1 };
static int                 other;

/* A gateway of RANKS ranks, and a cluster of one. */
static void
gateway_open(void)
{
    static const int first_of[] = { 0, RANKS, RANKS + 1 };

    hearthi_world.first_of = first_of;
    hearthi_world.size = RANKS + 1;
    hearthi_heap.page = PAGE;
    hearthi_heap.shift = 12;
    memset(&hearthi_gate, 0, sizeof hearthi_gate);
    hearthi_gate.conf = &conf;
    hearthi_gate.ranks = RANKS;
    other = eventfd(0, 0);
    hearthi_guests_listen();
    hearthi_guests_open(other);
    hearthi_kept_open(KEPT * PAGE);
}

static void
gateway_close(void)
{
    hearthi_far_close();
    hearthi_guests_close();
    hearthi_bytes_free(&hearthi_gate.batch[1]);
    close(other);
}

struct fetch {
    struct hearthi_ask     head;
    struct hearthi_ask_run run;
};

static struct fetch
fetch_of(uint32_t rank, uint64_t page, uint32_t count)
{
    return (struct fetch){
        { .len = sizeof(struct hearthi_ask_run),
          .op = HEARTHI_ASK_FETCH,
          .rank = rank,
          .to = HOME },
        { .page = page, .frame = page, .count = count, .home = HOME }
    };
}

/* Does it go on to the home, and not wait? */
static bool
goes(const struct fetch *f)
{
    size_t before = hearthi_bytes_left(&hearthi_gate.batch[1]);

    hearthi_far_pass(1, &f->head);
    return hearthi_bytes_left(&hearthi_gate.batch[1]) > before;
}

/* Its answer comes; does one that waited go on then? */
static bool
other_goes_when_it_comes(const struct fetch *f)
{
    static char        pages[KEPT * PAGE];
    struct hearthi_ask head = f->head;
    size_t             before = hearthi_bytes_left(&hearthi_gate.batch[1]);

    head.answer = 1;
    head.len = f->run.count * PAGE;
    hearthi_far_hand(&head, pages);
    hearthi_far_turn();
    return hearthi_bytes_left(&hearthi_gate.batch[1]) > before;
}

static void
page_drop(uint64_t page)
{
    const struct hearthi_notice n = { .page = page, .count = 1 };

    hearthi_kept_drop(&n, 1);
}

START_TEST(what_is_on_its_way_for_others_is_waited_for)
{
    struct fetch a = fetch_of(0, 1, 1), b = fetch_of(1, 2, 1),
                 both = fetch_of(2, 1, 2);

    gateway_open();
    ck_assert(goes(&a));
    ck_assert(goes(&b));
    ck_assert(!goes(&both));
    ck_assert(!other_goes_when_it_comes(&a));
    ck_assert(!other_goes_when_it_comes(&b)); /* it had both */
    ck_assert(!goes(&both));
    gateway_close();
}
END_TEST

/* Two others drop and fetch a page each, by turns, so that one of the two
 * pages is on its way at any time: who wants both has waited for two answers,
 * and goes. */
START_TEST(nobody_waits_for_what_others_ask_for_later)
{
    struct fetch a = fetch_of(0, 1, 1), b = fetch_of(1, 2, 1),
                 both = fetch_of(2, 1, 2);

    gateway_open();
    ck_assert(goes(&a));
    ck_assert(goes(&b));
    ck_assert(!goes(&both));
    ck_assert(!other_goes_when_it_comes(&a));
    page_drop(1);
    ck_assert(goes(&a));
    ck_assert(other_goes_when_it_comes(&b));
    gateway_close();
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("far");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, what_is_on_its_way_for_others_is_waited_for);
    tcase_add_test(tc, nobody_waits_for_what_others_ask_for_later);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
