/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Two sides whose connection is reset at any byte
 * (src/transport/clusters/connection_replay.h).
 */
#include <config.h>

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"
#include "property.h"
#include "transport/clusters/connection_replay.h"

enum { CASES = 40, BYTES = 1 << 20, LONGEST = 20000, KEPT_MOST = 1 << 19 };

/* Of one side: what it has given is byte i = value(i). */
struct side {
    struct hearthi_replay replay;
    int                   fd;
    uint64_t              given; /* bytes of bodies */
    uint64_t              got, wrong;
    char                  head[sizeof(struct hearthi_wan_message)];
    size_t                have; /* of the head */
    uint64_t              body; /* bytes of it that are to come */
};

static char
value(uint64_t i)
{
    return (char)(i * 31 + i / 251);
}

static void
connect_them(struct side *a, struct side *b)
{
    int fd[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd),
                     0);
    a->fd = fd[0];
    b->fd = fd[1];
}

/* A message of any length, whose head says how long it is. */
static void
message_give(struct side *s, uint64_t *seed)
{
    char                       body[LONGEST];
    struct hearthi_wan_message head = { .op = HEARTHI_WAN_STORE };

    head.len = (uint32_t)below(seed, LONGEST);
    for (uint32_t i = 0; i < head.len; i++)
        body[i] = value(s->given++);
    hearthi_replay_add(&s->replay, &head, sizeof head);
    hearthi_replay_add(&s->replay, body, head.len);
}

static void
head_take(struct side *s)
{
    struct hearthi_wan_message head;

    memcpy(&head, s->head, sizeof head);
    s->have = 0;
    s->body = head.len;
    if (head.op != HEARTHI_WAN_HEARD)
        return;
    ck_assert(hearthi_replay_taken(&s->replay, head.at));
}

static void
byte_take(struct side *s, char byte)
{
    if (s->body > 0) {
        s->wrong += byte != value(s->got);
        s->got++;
        s->body--;
        return;
    }
    s->head[s->have++] = byte;
    if (s->have == sizeof s->head)
        head_take(s);
}

/* Some of what is there. */
static void
some_take(struct side *s, uint64_t *seed)
{
    char    bytes[LONGEST];
    ssize_t n = recv(s->fd, bytes, 1 + below(seed, LONGEST - 1), MSG_DONTWAIT);

    if (n <= 0)
        return;
    hearthi_replay_take(&s->replay, (size_t)n);
    for (ssize_t i = 0; i < n; i++)
        byte_take(s, bytes[i]);
}

static void
side_step(struct side *s, uint64_t *seed)
{
    if (s->given < BYTES && below(seed, 2) == 0)
        message_give(s, seed);
    if (hearthi_replay_due(&s->replay))
        hearthi_replay_tell(&s->replay, (struct hearthi_wan_message){ 0 });
    ck_assert(hearthi_replay_send(&s->replay, s->fd));
    some_take(s, seed);
}

static void
side_again(struct side *s, uint64_t taken)
{
    close(s->fd);
    ck_assert(hearthi_replay_may(&s->replay, taken));
    ck_assert(hearthi_replay_taken(&s->replay, taken));
    hearthi_replay_again(&s->replay);
}

/* What was on its way is gone. */
static void
reset_them(struct side *a, struct side *b)
{
    side_again(a, b->replay.taken);
    side_again(b, a->replay.taken);
    connect_them(a, b);
}

static bool
is_over(const struct side *a, const struct side *b)
{
    return a->given >= BYTES && b->got == a->given;
}

START_TEST(what_is_reset_comes_once_and_in_order)
{
    for (int i = 0; i < CASES; i++) {
        struct side a = { .fd = -1 }, b = { .fd = -1 };
        uint64_t    dice = case_start(i);
        int         resets = 0;

        connect_them(&a, &b);
        while (!is_over(&a, &b) || !is_over(&b, &a)) {
            side_step(below(&dice, 2) == 0 ? &a : &b, &dice);
            if (below(&dice, 10) != 0)
                continue;
            reset_them(&a, &b);
            resets++;
        }
        ck_assert_int_gt(resets, 0);
        ck_assert_uint_eq(a.wrong + b.wrong, 0);
        ck_assert_uint_eq(a.got, b.given);
        ck_assert_uint_eq(b.got, a.given);
        close(a.fd);
        close(b.fd);
        hearthi_replay_free(&a.replay);
        hearthi_replay_free(&b.replay);
    }
}
END_TEST

/* What the other side has told of is not kept, however much goes. */
START_TEST(what_was_taken_is_kept_no_longer)
{
    struct side a = { .fd = -1 }, b = { .fd = -1 };
    uint64_t    dice = case_start(CASES);
    size_t      most = 0;

    connect_them(&a, &b);
    while (!is_over(&a, &b) || !is_over(&b, &a)) {
        side_step(&a, &dice);
        side_step(&b, &dice);
        for (int i = 0; i < 8; i++) {
            some_take(&a, &dice);
            some_take(&b, &dice);
        }
        if (hearthi_message_stream_left(&a.replay.kept) > most)
            most = hearthi_message_stream_left(&a.replay.kept);
    }
    ck_assert_uint_le(most, KEPT_MOST);
    ck_assert_uint_gt(most, 0);
    hearthi_replay_free(&a.replay);
    hearthi_replay_free(&b.replay);
}
END_TEST

/* A number that was not sent, or that was forgotten, is not believed. */
START_TEST(no_other_number_is_taken)
{
    struct hearthi_replay r = { .sent = 0 };

    hearthi_replay_add(&r, "0123456789", 10);
    ck_assert(hearthi_replay_may(&r, 0) && hearthi_replay_may(&r, 10));
    ck_assert(!hearthi_replay_may(&r, 11));
    ck_assert(hearthi_replay_taken(&r, 4) && !hearthi_replay_taken(&r, 11));
    ck_assert(!hearthi_replay_may(&r, 3) && hearthi_replay_may(&r, 4));
    ck_assert(!hearthi_replay_may(&r, UINT64_MAX));
    hearthi_replay_free(&r);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("connection_replay");
    TCase *tc = tcase_create("connection_replay");

    property_start();
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, what_is_reset_comes_once_and_in_order);
    tcase_add_test(tc, what_was_taken_is_kept_no_longer);
    tcase_add_test(tc, no_other_number_is_taken);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
