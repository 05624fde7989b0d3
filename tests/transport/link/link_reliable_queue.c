/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages between two clusters against connections that break at any time:
 * each side's end of a connection on its own, what is in between lost.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "link/reliable_queue.h"
#include "property.h"

enum { CASES = 2000, LANES = 3, MESSAGES = 60, WIRE = 64 };

/* One connection: frames on their way, each with the number that it carries
 * in its body, too. */
struct wire {
    bool                           up;
    struct hearthi_queued_message *writing; /* half of it is written */
    struct hearthi_frame           head[WIRE];
    uint64_t                       body[WIRE];
    int                            n;
};

struct world {
    struct hearthi_reliable_queue from, to;
    struct wire                   wire[LANES];
    uint64_t                      given, passed, state;
    int                           number;
};

static void
pass(struct world *w, uint64_t body)
{
    if (body != ++w->passed)
        ck_abort_msg("case %d: message %llu, not %llu", w->number,
                     (unsigned long long)body, (unsigned long long)w->passed);
}

static void
frame_come(struct world *w, struct wire *x)
{
    struct hearthi_frame  head = x->head[0];
    uint64_t              body = x->body[0];
    struct hearthi_early *e;

    x->n--;
    memmove(x->head, x->head + 1, (size_t)x->n * sizeof *x->head);
    memmove(x->body, x->body + 1, (size_t)x->n * sizeof *x->body);
    switch (hearthi_reliable_queue_came(&w->to, head.number)) {
    case HEARTHI_FRAME_IN_ORDER:
        pass(w, body);
        while ((e = hearthi_reliable_queue_follows(&w->to)) != NULL) {
            memcpy(&body, e->body, sizeof body);
            pass(w, body);
            free(e);
        }
        break;
    case HEARTHI_FRAME_EARLY:
        ck_assert(hearthi_reliable_queue_keep(&w->to, &head, &body));
        break;
    case HEARTHI_FRAME_TWICE: break;
    }
}

/* A message is begun in one step and whole in a later one. */
static void
letter_go(struct world *w, int conn)
{
    struct wire *x = &w->wire[conn];

    if (x->writing == NULL) {
        x->writing = hearthi_reliable_queue_next(&w->from, conn);
    } else if (x->n < WIRE) {
        x->head[x->n] = x->writing->head;
        memcpy(&x->body[x->n++], x->writing->body, sizeof x->body[0]);
        hearthi_reliable_queue_written(x->writing);
        x->writing = NULL;
    }
}

static void
wire_break(struct world *w, int conn)
{
    struct wire *x = &w->wire[conn];

    hearthi_reliable_queue_lane_lost(&w->from, conn, x->writing);
    memset(x, 0, sizeof *x);
}

static void
letter_give(struct world *w)
{
    uint64_t     body = ++w->given;
    struct iovec part = { &body, sizeof body };

    hearthi_reliable_queue_give(&w->from,
                                hearthi_queued_message_copy(1, &part, 1));
}

static void
step(struct world *w)
{
    int          conn = (int)below(&w->state, LANES);
    struct wire *x = &w->wire[conn];

    if (!x->up) {
        x->up = true;
        hearthi_reliable_queue_acked(&w->from, w->to.got); /* the hello */
        return;
    }
    switch (below(&w->state, 20)) {
    case 0: wire_break(w, conn); break;
    case 1: hearthi_reliable_queue_acked(&w->from, w->to.got); break;
    case 2:
    case 3:
    case 4:
        if (w->given < MESSAGES)
            letter_give(w);
        break;
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
        if (x->n > 0)
            frame_come(w, x);
        break;
    default: letter_go(w, conn);
    }
}

START_TEST(messages_arrive_once_and_in_order_over_connections_that_break)
{
    for (int i = 0; i < CASES; i++) {
        struct world w = { .number = i, .state = case_start(i) };
        int          left = 200000;

        while ((w.passed < MESSAGES || w.from.first != NULL) && --left > 0)
            step(&w);
        ck_assert_msg(left > 0, "case %d: message %llu is lost", i,
                      (unsigned long long)w.passed + 1);
        ck_assert_uint_eq(w.from.bytes, 0);
        for (int k = 0; k < LANES; k++)
            wire_break(&w, k);
        hearthi_reliable_queue_clear(&w.from);
        hearthi_reliable_queue_clear(&w.to);
    }
}
END_TEST

static int released;

static void
release(void *body)
{
    released++;
    free(body);
}

START_TEST(a_body_is_released_once_and_not_while_it_is_written)
{
    struct hearthi_reliable_queue  p = { .first = NULL };
    struct hearthi_queued_message *m =
        hearthi_queued_message_take(1, malloc(100), 100, release);

    hearthi_reliable_queue_give(&p, m);
    ck_assert_ptr_eq(hearthi_reliable_queue_next(&p, 0), m);
    hearthi_reliable_queue_written(m);
    hearthi_reliable_queue_lane_lost(&p, 0, NULL);
    ck_assert_ptr_eq(hearthi_reliable_queue_next(&p, 1), m); /* again */
    hearthi_reliable_queue_acked(&p, 1); /* the first came */
    ck_assert_int_eq(released, 0);
    ck_assert_ptr_null(p.first);
    hearthi_reliable_queue_written(m);
    ck_assert_int_eq(released, 1);
    hearthi_reliable_queue_clear(&p);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("link_reliable_queue");
    TCase *tc = tcase_create("link_reliable_queue");

    property_start();
    tcase_set_timeout(tc, 60);
    tcase_add_test(
        tc, messages_arrive_once_and_in_order_over_connections_that_break);
    tcase_add_test(tc, a_body_is_released_once_and_not_while_it_is_written);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
