/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The MAC of the udp transport's datagrams.
 */
#include "config.h"

#include "harness.h"
#include "transport/udp/socket.h"
#include "transport/udp/udp_job.h"
#include "transport/udp/wire.h"

#include <string.h>

enum { LONGEST = 5000 };

static const size_t lengths[] = { 0, 1, 40, 512, 513, 1432, 4096, LONGEST };

static uint8_t head[HEARTHI_UDP_HEAD], body[LONGEST];

static void
setup(void)
{
    for (size_t i = 0; i < sizeof head; i++)
        head[i] = (uint8_t)(3 * i);
    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (uint8_t)(5 * i + i / 256);
    for (size_t i = 0; i < sizeof hearthi_udp.key; i++)
        hearthi_udp.key[i] = (uint8_t)i;
    for (size_t i = 0; i < sizeof hearthi_udp.body_key; i++)
        hearthi_udp.body_key[i] = (uint8_t)(100 + i);
    hearthi_udp.session = 77;
    hearthi_udp.auth = hearthi_udp_can_mac();
    hearthi_udp_mac_open();
}

static void
teardown(void)
{
    hearthi_udp_mac_close();
}

START_TEST(a_changed_bit_of_head_or_body_changes_the_mac)
{
    for (size_t k = 0;
         hearthi_udp.auth && k < sizeof lengths / sizeof *lengths; k++) {
        uint64_t mac = hearthi_udp_mac(head, body, lengths[k]);

        for (size_t i = sizeof mac; i < sizeof head; i++) {
            head[i] ^= 1;
            ck_assert(hearthi_udp_mac(head, body, lengths[k]) != mac);
            head[i] ^= 1;
        }
        for (size_t i = 0; i < lengths[k]; i++) {
            body[i] ^= 128;
            ck_assert(hearthi_udp_mac(head, body, lengths[k]) != mac);
            body[i] ^= 128;
        }
        ck_assert(hearthi_udp_mac(head, body, lengths[k]) == mac);
    }
}
END_TEST

START_TEST(another_key_gives_another_mac)
{
    for (size_t k = 0;
         hearthi_udp.auth && k < sizeof lengths / sizeof *lengths; k++) {
        uint64_t mac = hearthi_udp_mac(head, body, lengths[k]), other;

        hearthi_udp.key[15] ^= 1;
        other = hearthi_udp_mac(head, body, lengths[k]);
        hearthi_udp.key[15] ^= 1;
        ck_assert(other != mac);
        hearthi_udp.body_key[0] ^= 1;
        other = hearthi_udp_mac(head, body, lengths[k]);
        hearthi_udp.body_key[0] ^= 1;
        ck_assert((other != mac) == (lengths[k] > 512));
    }
}
END_TEST

/* Whichever library hashes the long ones: the values are libsodium's. */
START_TEST(the_mac_does_not_depend_on_the_library_that_computes_it)
{
    if (!hearthi_udp.auth)
        return;
    ck_assert_uint_eq(hearthi_udp_mac(head, body, 100),
                      UINT64_C(17779092495916139327));
    ck_assert_uint_eq(hearthi_udp_mac(head, body, 4096),
                      UINT64_C(5981598988142207865));
}
END_TEST

#ifdef __x86_64__
#include <cpuid.h>

/* Are the upper halves of vector registers in use?  Where the processor does
 * not tell, no. */
static bool
upper_halves_used(void)
{
    enum { XSTATE = 0xd, IN_USE = 1 << 2, AVX = 1 << 2 };
    unsigned a = 0, b, c, d;

    if (!__get_cpuid_count(XSTATE, 1, &a, &b, &c, &d) || !(a & IN_USE))
        return false;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(1));
    return (a & AVX) != 0;
}
#else
static bool
upper_halves_used(void)
{
    return false;
}
#endif

/* They would slow down the program that called. */
START_TEST(computing_a_mac_leaves_no_upper_half_of_a_register_in_use)
{
    hearthi_udp_mac(head, body, LONGEST);
    for (size_t len = 0; hearthi_udp.auth && len <= LONGEST; len++) {
        hearthi_udp_mac(head, body, len);
        ck_assert_msg(!upper_halves_used(), "after %zu bytes", len);
    }
}
END_TEST

START_TEST(without_a_key_the_word_of_the_session_is_the_mac)
{
    hearthi_udp.auth = false;
    ck_assert_uint_eq(hearthi_udp_mac(head, body, 4096), 77);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("mac");
    TCase *tc = tcase_create("mac");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_changed_bit_of_head_or_body_changes_the_mac);
    tcase_add_test(tc, another_key_gives_another_mac);
    tcase_add_test(tc,
                   the_mac_does_not_depend_on_the_library_that_computes_it);
    tcase_add_test(tc,
                   computing_a_mac_leaves_no_upper_half_of_a_register_in_use);
    tcase_add_test(tc, without_a_key_the_word_of_the_session_is_the_mac);
    suite_add_tcase(suite, tc);
    return unit_main(suite);
}
