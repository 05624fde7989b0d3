/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The decoder of datagrams, with random ones: near to good, so that most get
 * past the first checks.
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "property.h"
#include "wire.h"

enum { CASES = 200000, LONGEST = 4096 };

/* A number at one of the borders at which checks are, or near one. */
static uint64_t
border(uint64_t *s)
{
    const uint64_t at[] = { 0,
                            8,
                            wire_limits.size,
                            wire_limits.locks,
                            wire_limits.rws,
                            wire_limits.more_locks,
                            wire_limits.objects,
                            wire_limits.log,
                            HEARTHI_UDP_FRAGMENT_MIN,
                            wire_limits.told_at,
                            wire_limits.names_at,
                            wire_limits.frames_at,
                            wire_limits.bytes,
                            HEARTHI_UDP_DATAGRAM,
                            UINT32_MAX,
                            UINT64_MAX };
    uint64_t       n = at[below(s, sizeof at / sizeof *at)];

    return n + below(s, 3) - 1;
}

/* Of a patch, behind its head; or nearly so. */
static size_t
patch_draw(uint64_t *s, uint8_t *to, unsigned shift)
{
    uint64_t bits = hearthi_random(s) & hearthi_random(s) & hearthi_random(s);

    memcpy(to, &bits, sizeof bits);
    return sizeof bits + hearthi_patch_bytes(bits, shift) +
           (below(s, 16) == 0);
}

/* A piece that sets sharer flags; or nearly so. */
static size_t
flags_draw(uint64_t *s, uint8_t *to)
{
    uint32_t some = (uint32_t)below(s, 64);
    uint64_t offset = wire_limits.told_at - some + (below(s, 8) == 0);

    memcpy(to, &offset, 8);
    memcpy(to + 8, &some, 4);
    memset(to + HEARTHI_UDP_RUN, 1, some);
    if (some > 0 && below(s, 4) == 0)
        to[HEARTHI_UDP_RUN + below(s, some)] = (uint8_t)below(s, 3);
    return HEARTHI_UDP_RUN + some;
}

/* A piece of a diff, not far from the end of a segment. */
static size_t
piece_draw(uint64_t *s, uint8_t *to)
{
    uint64_t offset =
        below(s, 4) ? wire_limits.bytes - below(s, 700) : border(s);
    uint32_t some = (uint32_t)below(s, 64);
    bool     patch = below(s, 2) == 0;

    if (patch)
        some = HEARTHI_UDP_IS_PATCH |
               (uint32_t)(below(s, 8) ? below(s, 5) : border(s));
    memcpy(to, &offset, 8);
    memcpy(to + 8, &some, 4);
    return HEARTHI_UDP_RUN +
           (patch ? patch_draw(s, to + HEARTHI_UDP_RUN, some & 3) : some);
}

/* Adds to words, aligned as a rule; few of them to words that are none. */
static size_t
adds_draw(uint64_t *s, uint8_t *to)
{
    size_t n = 1 + below(s, 6);

    for (size_t i = 0; i < n; i++) {
        struct hearthi_add a = hearthi_add_of(
            (enum hearthi_add_kind)below(s, below(s, 8) ? 3 : 4),
            below(s, 8) ? wire_limits.bytes - 8 * (1 + below(s, 200))
                        : border(s),
            hearthi_random(s));

        memcpy(to + i * sizeof a, &a, sizeof a);
    }
    return n * sizeof(struct hearthi_add);
}

static size_t
body_draw(uint64_t *s, uint8_t *body, struct hearthi_udp_message *m)
{
    const size_t lens[] = { 0, 8, 16, 24, 48, 24 * 168, 24 * 168 + 24 };
    size_t       len = lens[below(s, 7)];

    if (m->op == HEARTHI_UDP_DIFF && below(s, 8) == 0) {
        m->kind = HEARTHI_UDP_ADDS;
        len = adds_draw(s, body);
    } else if (m->op == HEARTHI_UDP_DIFF && below(s, 2)) {
        uint32_t n = (uint32_t)below(s, 4);

        if (below(s, 4))
            m->pos = n;
        len = 0;
        for (uint32_t i = 0; i < n; i++)
            len += below(s, 8) ? piece_draw(s, body + len)
                               : flags_draw(s, body + len);
    }
    return below(s, 8) ? len : below(s, LONGEST);
}

static size_t
datagram_draw(uint64_t *s, uint8_t *data)
{
    struct hearthi_udp_message m = {
        .op = (uint8_t)(below(s, 16) ? HEARTHI_UDP_GETP + below(s, 14)
                                     : below(s, 256)),
        .kind = (uint8_t)below(s, below(s, 4) ? 3 : 9),
        .reliable = below(s, 2),
        .slot = (uint16_t)(below(s, 8) ? below(s, 4) : border(s)),
        .from = (uint32_t)(below(s, 8) ? below(s, 3) : border(s)),
        .to = (uint32_t)(below(s, 16) ? 1 : border(s)),
        .turn = (uint32_t)hearthi_random(s),
        .seq = hearthi_random(s),
        .at = border(s),
        .len = (uint32_t)border(s),
        .pos = (uint32_t)(below(s, 2) ? below(s, 5) : border(s)),
    };
    size_t len = body_draw(s, data + HEARTHI_UDP_HEAD, &m);

    if (m.op == HEARTHI_UDP_GETPGRANT && below(s, 2)) {
        m.len = (uint32_t)len;
        m.pos = 512 + (uint32_t)below(s, LONGEST);
        m.at = m.pos * below(s, 140);
    }
    if (m.op == HEARTHI_UDP_DIFF && m.kind > 0 && below(s, 2))
        m.len = 4U << below(s, 2);
    hearthi_udp_encode(&m, data);
    return below(s, 32) ? HEARTHI_UDP_HEAD + len : below(s, LONGEST);
}

START_TEST(what_the_decoder_calls_good_stays_inside_memory)
{
    static uint8_t data[2 * LONGEST + HEARTHI_UDP_HEAD];
    int            good[HEARTHI_UDP_OPS] = { 0 };
    int            why[HEARTHI_UDP_REASONS] = { 0 };
    int            adds = 0;

    for (int i = 0; i < CASES; i++) {
        uint64_t                   s = case_start(i);
        size_t                     len = datagram_draw(&s, data);
        uint8_t                   *own = malloc(len + 1); /* for valgrind */
        struct hearthi_udp_message m;
        enum hearthi_udp_reason    r;

        memcpy(own, data, len);
        r = hearthi_udp_decode(own, len, &wire_limits, &m);
        if (r == HEARTHI_UDP_GOOD && !wire_holds(&m, own, len))
            ck_abort_msg("case %d: a bad %s passed", i,
                         hearthi_udp_name(m.op));
        why[r]++;
        if (r == HEARTHI_UDP_GOOD) {
            good[hearthi_udp_index(m.op)]++;
            adds += m.op == HEARTHI_UDP_DIFF && m.kind == HEARTHI_UDP_ADDS;
        }
        free(own);
    }
    for (int i = 2; i < HEARTHI_UDP_OPS; i++) /* the test reaches all */
        ck_assert_msg(good[i] > 0, "operation %d never passed", i);
    ck_assert_int_gt(adds, 0);
    for (int i = 0; i < HEARTHI_UDP_BAD_MAC; i++)
        ck_assert_msg(why[i] > 0, "reason %d never given", i);
}
END_TEST

START_TEST(what_is_encoded_is_decoded)
{
    uint8_t                    data[HEARTHI_UDP_HEAD + 16] = { 0 };
    struct hearthi_udp_message got;
    struct hearthi_udp_message m = { .mac = UINT64_C(0x1122334455667788),
                                     .op = HEARTHI_UDP_DIFF,
                                     .kind = HEARTHI_UDP_ADD,
                                     .reliable = true,
                                     .slot = 7,
                                     .from = 2,
                                     .to = 1,
                                     .turn = 7,
                                     .seq = UINT64_C(99) << 32,
                                     .len = 8,
                                     .pos = 6,
                                     .at = 8192 };

    hearthi_udp_encode(&m, data);
    ck_assert(hearthi_udp_decode(data, sizeof data, &wire_limits, &got) ==
              HEARTHI_UDP_GOOD);
    ck_assert(got.mac == m.mac && got.op == m.op && got.kind == m.kind);
    ck_assert(got.reliable && got.slot == 7 && got.from == 2 && got.to == 1);
    ck_assert(got.seq == UINT64_C(99) << 32 && got.turn == 7 && got.len == 8 &&
              got.pos == 6);
    ck_assert(got.at == 8192 && got.body_len == 16);
    ck_assert(hearthi_udp_is_request(&got));
    ck_assert_str_eq(hearthi_udp_name(got.op), "DIFF");
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("wire");
    TCase *tc = tcase_create("wire");

    property_start();
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, what_is_encoded_is_decoded);
    tcase_add_test(tc, what_the_decoder_calls_good_stays_inside_memory);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
