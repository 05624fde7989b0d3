/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a client's socket of the udp transport makes of fragments that the
 * kernel hands out together: those expected lie where they belong, others do
 * not harm them.
 */
#include "config.h"

#include "base/clock.h"
#include "harness.h"
#include "transport/udp/inbox.h"
#include "transport/udp/job.h"
#include "transport/udp/socket.h"
#include "transport/udp/wire.h"
#include "world.h"

#include <string.h>
#include <unistd.h>

enum { PART = 1432, PARTS = 6 };

static struct hearthi_udp_inbox  inbox;
static struct hearthi_udp_places places;
static struct sockaddr_in        to;
static int                       sender;
static char                      frame[PARTS * PART];

static void
setup(void)
{
    hearthi_udp.session = 5;
    hearthi_udp.limits = (struct hearthi_udp_limits){ .size = 2 };
    hearthi_world.machine_ranks = hearthi_world.cores = 1;
    hearthi_world.size = 1;
    sender = hearthi_udp_socket(0);
    hearthi_udp_inbox_open(&inbox, hearthi_udp_socket(0), false);
    to = hearthi_udp_address_of(inbox.fd);
    memset(frame, 0, sizeof frame);
    places.n = PARTS;
    for (unsigned i = 0; i < PARTS; i++)
        places.place[i] = (struct hearthi_udp_place){ .at = frame + i * PART,
                                                      .len = PART,
                                                      .offset = i * PART,
                                                      .from = 1,
                                                      .seq = 9 };
}

static void
teardown(void)
{
    hearthi_udp_inbox_close(&inbox);
    close(sender);
}

/* Fragments of these numbers, in this order, in one call; the bytes of number
 * i are 'a' + i. */
static void
parts_send(const unsigned *number, unsigned n, uint32_t seq)
{
    static uint8_t head[PARTS][HEARTHI_UDP_HEAD], body[PARTS][PART];
    struct iovec   part[2 * PARTS];

    for (unsigned i = 0; i < n; i++) {
        struct hearthi_udp_message m = { .op = HEARTHI_UDP_GETPGRANT,
                                         .from = 1,
                                         .seq = seq,
                                         .at = number[i] * PART,
                                         .len = PART,
                                         .pos = PART,
                                         .body = body[i],
                                         .body_len = PART };

        memset(body[i], 'a' + (int)number[i], PART);
        hearthi_udp_head(&m, head[i]);
        part[2 * i] = (struct iovec){ head[i], HEARTHI_UDP_HEAD };
        part[2 * i + 1] = (struct iovec){ body[i], PART };
    }
    hearthi_udp_send_together(sender, &to, part, n, HEARTHI_UDP_HEAD + PART);
}

/* Take n messages as the transport does; how many were in place already. */
static unsigned
parts_take(unsigned n)
{
    unsigned placed = 0;

    for (unsigned k = 0; k < n; k++) {
        struct hearthi_udp_message m;
        struct sockaddr_in         from;
        char                      *at;

        ck_assert(hearthi_udp_receive(&inbox, hearthi_now() + 1000000000,
                                      &places, &m, &from));
        at = frame + m.at;
        for (size_t i = 0; i < PART; i++)
            ck_assert_int_eq(m.body[i], 'a' + (int)(m.at / PART));
        placed += m.body == (uint8_t *)at;
        if (m.body != (uint8_t *)at)
            memcpy(at, m.body, PART);
    }
    return placed;
}

START_TEST(fragments_in_order_are_received_in_place)
{
    const unsigned order[] = { 0, 1, 2, 3, 4, 5 };

    parts_send(order, PARTS, 9);
    ck_assert_uint_eq(parts_take(PARTS), PARTS);
}
END_TEST

START_TEST(fragments_in_another_order_do_not_overwrite_each_other)
{
    const unsigned order[] = { 1, 0, 2, 5, 3, 4 };

    parts_send(order, PARTS, 9);
    parts_take(PARTS);
    for (size_t i = 0; i < sizeof frame; i++)
        ck_assert_int_eq(frame[i], 'a' + (int)(i / PART));
}
END_TEST

START_TEST(fragments_of_an_earlier_request_are_not_placed)
{
    const unsigned order[] = { 0, 1 };

    parts_send(order, 2, 8);
    ck_assert_uint_eq(parts_take(2), 0);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("inbox");
    TCase *tc = tcase_create("inbox");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, fragments_in_order_are_received_in_place);
    tcase_add_test(tc, fragments_in_another_order_do_not_overwrite_each_other);
    tcase_add_test(tc, fragments_of_an_earlier_request_are_not_placed);
    suite_add_tcase(suite, tc);
    return unit_main(suite);
}
