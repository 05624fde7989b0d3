/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Numbered messages of mixed sizes in both directions over a network that
 * cuts connections in the midst of a record, spoils bytes, and falls silent:
 * each arrives once, whole and in order.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "link/link_state.h"
#include "link_ends.h"
#include "link_proxy.h"
#include "property.h"

enum { MESSAGES = 10000, AT_ONCE = 100, LONGEST = 600 << 10 };

static struct end   e[2];
static struct proxy network;
static int          sent[2];

/* Its length and its bytes follow from its number. */
static size_t
length(uint64_t number)
{
    uint64_t s = case_start((int)number);

    switch (below(&s, 200)) {
    case 0: return below(&s, LONGEST);
    case 1:
    case 2:
    case 3: return below(&s, 20000);
    default: return below(&s, 300);
    }
}

static void
fill(unsigned char *body, size_t len, uint64_t number)
{
    uint64_t s = number;

    for (size_t i = 0; i + 8 <= len; i += 8) {
        uint64_t r = hearthi_random(&s);

        memcpy(body + i, &r, sizeof r);
    }
    for (size_t i = len & ~(size_t)7; i < len; i++)
        body[i] = (unsigned char)(number + i);
}

static void
check(struct end *me, int cluster, const void *body, size_t len)
{
    static unsigned char want[LONGEST];
    uint64_t             number = me->got[cluster] - 1;

    ck_assert_uint_eq(len, length(number));
    fill(want, len, number);
    if (memcmp(body, want, len) != 0)
        ck_abort_msg("message %d has a wrong byte", (int)number);
}

static void
some_send(struct end *me)
{
    int to = 1 - me->me;

    for (int i = 0; i < AT_ONCE && sent[me->me] < MESSAGES &&
                    hearthi_link_unsent(me->link, to) < 4 << 20;
         i++) {
        uint64_t       number = (uint64_t)sent[me->me]++;
        size_t         len = length(number);
        unsigned char *body = malloc(len + 1);
        struct iovec   part[2] = { { body, len / 3 },
                                   { body + len / 3, len - len / 3 } };

        fill(body, len, number);
        if (number % 2 == 0) {
            ck_assert(hearthi_link_give(me->link, to, body, len, free));
        } else {
            ck_assert(hearthi_link_send(me->link, to, part, 2));
            free(body);
        }
    }
}

static bool
all_done(struct end *all, int n)
{
    for (int i = 0; i < n; i++) {
        ck_assert_msg(all[i].failures == 0, "%s", all[i].failed);
        some_send(&all[i]);
    }
    return all[0].got[1] == MESSAGES && all[1].got[0] == MESSAGES &&
           hearthi_link_unsent(all[0].link, 1) == 0 &&
           hearthi_link_unsent(all[1].link, 0) == 0;
}

static void
run(int conns, uint64_t every)
{
    struct hearthi_link_counts c;

    for (int i = 0; i < 2; i++) {
        end_prepare(&e[i], 2, i);
        e[i].message = check;
        e[i].options.conns = i == 1 ? conns : 1; /* who connects decides */
        /* Where there is no trouble none is made by who gets no core. */
        e[i].options.silence = every == 0 ? 10 : 0.2;
        e[i].options.handshake = every == 0 ? 10 : 0.6;
        e[i].options.rekey = 500;
        /* Trouble is counted in bytes of both directions, and who accepts
         * sends first: long messages of the other side are cut many times in
         * a row, which is not what the link gives up for. */
        e[i].options.giveup = 60;
    }
    end_open(&e[0]);
    network = (struct proxy){ .to = end_port(&e[0]),
                              .seed = case_start(conns),
                              .every = every,
                              .silent = 0.3 };
    proxy_start(&network);
    snprintf(e[1].conf.cluster[0].port, 6, "%d", network.port);
    end_open(&e[1]);
    ck_assert_msg(ends_turn(e, 2, all_done, 50), "%d and %d of %d came" TIMELY,
                  (int)e[0].got[1], (int)e[1].got[0], MESSAGES);
    c = hearthi_link_counts(e[1].link);
    printf("# %d lanes: %d cuts, %d spoilt, %d silent; %d reconnects, %d "
           "again, %d twice\n",
           conns, network.had[TROUBLE_CUT], network.had[TROUBLE_SPOIL],
           network.had[TROUBLE_SILENT], (int)c.reconnects, (int)c.again,
           (int)c.twice);
    fflush(stdout);
    if (every == 0)
        ck_timely(c.reconnects + c.again + c.twice == 0);
    else
        ck_timely(c.reconnects > 3);
    ends_close(e, 2);
}

START_TEST(messages_arrive_over_a_good_network)
{
    run(1, 0);
}
END_TEST

START_TEST(messages_arrive_once_and_in_order_over_a_bad_network)
{
    run(1, 3 << 20);
}
END_TEST

START_TEST(messages_arrive_so_over_several_connections)
{
    run(3, 3 << 20);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("link_cut");
    TCase *tc = tcase_create("link_cut");

    property_start();
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, messages_arrive_over_a_good_network);
    tcase_add_test(tc, messages_arrive_once_and_in_order_over_a_bad_network);
    tcase_add_test(tc, messages_arrive_so_over_several_connections);
    suite_add_tcase(s, tc);
    ends_keys_make();
    unit_main(s);
    ends_keys_remove();
    return EXIT_SUCCESS;
}
