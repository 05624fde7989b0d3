/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which fetches of other clusters' pages a gateway passes on, and for which
 * answers others wait (src/transport/clusters/remote_request.h).
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
#include "transport/clusters/gateway_cache.h"
#include "transport/clusters/gateway_thread.h"
#include "transport/clusters/gateway_server.h"
#include "transport/clusters/remote_request.h"
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
    memset(&hearthi_gateway_server, 0, sizeof hearthi_gateway_server);
    hearthi_gateway_server.conf = &conf;
    hearthi_gateway_server.ranks = RANKS;
    other = eventfd(0, 0);
    hearthi_gateway_clients_listen();
    hearthi_gateway_clients_open(other);
    hearthi_gateway_cache_open(KEPT * PAGE);
}

static void
gateway_close(void)
{
    hearthi_remote_request_close();
    hearthi_gateway_clients_close();
    hearthi_message_stream_free(&hearthi_gateway_server.batch[1]);
    close(other);
}

struct fetch {
    struct hearthi_wan_message head;
    struct hearthi_wan_run     run;
};

static struct fetch
fetch_of(uint32_t rank, uint64_t page, uint32_t count)
{
    return (struct fetch){
        { .len = sizeof(struct hearthi_wan_run),
          .op = HEARTHI_WAN_FETCH,
          .rank = rank,
          .to = HOME },
        { .page = page, .frame = page, .count = count, .home = HOME }
    };
}

/* Does it go on to the home, and not wait? */
static bool
goes(const struct fetch *f)
{
    size_t before =
        hearthi_message_stream_left(&hearthi_gateway_server.batch[1]);

    hearthi_remote_request_pass(1, &f->head);
    return hearthi_message_stream_left(&hearthi_gateway_server.batch[1]) >
           before;
}

/* Its answer comes; does one that waited go on then? */
static bool
other_goes_when_it_comes(const struct fetch *f)
{
    static char                pages[KEPT * PAGE];
    struct hearthi_wan_message head = f->head;
    size_t                     before =
        hearthi_message_stream_left(&hearthi_gateway_server.batch[1]);

    head.answer = 1;
    head.len = f->run.count * PAGE;
    hearthi_remote_request_hand(&head, pages);
    hearthi_remote_request_turn();
    return hearthi_message_stream_left(&hearthi_gateway_server.batch[1]) >
           before;
}

static void
page_drop(uint64_t page)
{
    const struct hearthi_notice n = { .page = page, .count = 1 };

    hearthi_gateway_cache_drop(&n, 1);
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
