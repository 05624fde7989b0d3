/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a client's socket of the udp transport makes of fragments that the
 * kernel hands out together, and of those whose bytes do not fit their MAC.
 */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cluster.h"
#include "harness.h"
#include "transport/udp/datagram_rx.h"
#include "transport/udp/socket.h"
#include "transport/udp/udp_job.h"
#include "transport/udp/wire.h"
#include "world.h"

enum { PART = 1432, PARTS = 6, NONE = PARTS };

static struct hearthi_udp_rx inbox;
static struct sockaddr_in    to;
static int                   sender;

static void
setup(void)
{
    hearthi_udp.session = 5;
    hearthi_udp.limits = (struct hearthi_udp_limits){ .size = 2 };
    hearthi_cluster.size = hearthi_cluster.machine_ranks = 1;
    hearthi_cluster.cores = 1;
    hearthi_world.size = 1;
    hearthi_udp.told = hearthi_addresses_loopback();
    sender = hearthi_udp_socket(0);
    hearthi_udp_rx_open(&inbox, hearthi_udp_socket(0), false);
    to = hearthi_udp_address_of(inbox.fd);
}

static void
teardown(void)
{
    hearthi_udp_rx_close(&inbox);
    close(sender);
}

/* Fragments in one call; the bytes of number i are 'a' + i.  One may have
 * another MAC than its own. */
static void
parts_send(unsigned torn)
{
    static uint8_t head[PARTS][HEARTHI_UDP_HEAD], body[PARTS][PART];
    struct iovec   part[2 * PARTS];

    for (unsigned i = 0; i < PARTS; i++) {
        struct hearthi_udp_message m = { .op = HEARTHI_UDP_GETPGRANT,
                                         .from = 1,
                                         .at = i * PART,
                                         .len = PART,
                                         .pos = PART,
                                         .body = body[i],
                                         .body_len = PART };

        memset(body[i], 'a' + (int)i, PART);
        hearthi_udp_head(&m, head[i]);
        head[i][0] ^= i == torn;
        part[2 * i] = (struct iovec){ head[i], HEARTHI_UDP_HEAD };
        part[2 * i + 1] = (struct iovec){ body[i], PART };
    }
    hearthi_udp_send_together(sender, &to, part, PARTS,
                              HEARTHI_UDP_HEAD + PART);
}

/* Take the next message, which is this fragment, whole. */
static void
part_take(unsigned number)
{
    struct hearthi_udp_message m;
    struct sockaddr_in         from;

    ck_assert(
        hearthi_udp_receive(&inbox, hearthi_now() + 1000000000, &m, &from));
    ck_assert_uint_eq(m.at, number * PART);
    for (size_t i = 0; i < PART; i++)
        ck_assert_int_eq(m.body[i], 'a' + (int)number);
}

START_TEST(fragments_that_come_together_are_told_apart)
{
    parts_send(NONE);
    for (unsigned i = 0; i < PARTS; i++)
        part_take(i);
}
END_TEST

START_TEST(a_torn_fragment_takes_no_other_with_it)
{
    for (unsigned torn = 0; torn < PARTS; torn++) {
        parts_send(torn);
        for (unsigned i = 0; i < PARTS; i++)
            if (i != torn)
                part_take(i);
    }
}
END_TEST

/* Nothing good is among them. */
START_TEST(datagrams_without_end_do_not_outlast_the_time)
{
    enum { MANY = 100 };
    struct hearthi_udp_message m;
    struct sockaddr_in         from;
    char                       c = 0;

    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(
            sendto(sender, &c, 1, 0, (struct sockaddr *)&to, sizeof to), 1);
    ck_assert(!hearthi_udp_receive(&inbox, hearthi_now(), &m, &from));
    ck_assert_int_eq(recv(inbox.fd, &c, 1, MSG_DONTWAIT), 1);
}
END_TEST

/* The kernel hands out together what was sent together. */
START_TEST(after_an_error_datagrams_are_sent_together_again)
{
    struct sockaddr_in good = to;

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK | 0xfffffe); /* a broadcast */
    parts_send(NONE);
    to = good;
    parts_send(NONE);
    part_take(0);
    ck_assert_uint_eq(inbox.n, PARTS);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("datagram_rx");
    TCase *tc = tcase_create("datagram_rx");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, fragments_that_come_together_are_told_apart);
    tcase_add_test(tc, a_torn_fragment_takes_no_other_with_it);
    tcase_add_test(tc, datagrams_without_end_do_not_outlast_the_time);
    tcase_add_test(tc, after_an_error_datagrams_are_sent_together_again);
    suite_add_tcase(suite, tc);
    return unit_main(suite);
}
