/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Ranks of a node, which take pages from each other (page/node_cache.h),
 * beside the cache of their cluster's gateway.
 */
#include "transport/transport.h"
#include "worlds.h"

enum { TAG = 60, ROUNDS = 12 };

static const struct hearthi_transport_ops *real;
static int                                 mate;

/* The gateway has not heard of the acquire when the other rank of the node
 * reads. */
static void
forget_late(uint64_t page, uint32_t count)
{
    tell(mate, TAG);
    told_by(mate, TAG);
    real->data.forget(page, count);
}

/* The last rank, which is on one node with the one before, reads what rank 0
 * says by a message that it has written. */
static void
reader_round(int64_t *p, int round)
{
    struct hearthi_transport_ops ops = *hearthi_transport;

    expect_eq(*word(p, 0), 2 * round);
    tell(0, TAG);
    told_by(0, TAG);
    real = hearthi_transport;
    ops.data.forget = forget_late;
    hearthi_transport = &ops;
    if (round % 2)
        hearth_acquire(p, page_bytes());
    else
        hearth_acquire(NULL, 0);
    hearthi_transport = real;
    expect_eq(*word(p, 0), 2 * round + 1);
}

/* An atomic step comes between, behind which the reader's copy is too old for
 * the other, so that it asks the gateway.  It reads a word that nobody writes.
 */
static void
mate_round(const int64_t *p, int64_t *other)
{
    told_by(ranks - 1, TAG);
    hearth_fetch_add(other, 1);
    expect_eq(p[1], 0);
    tell(ranks - 1, TAG);
}

static void
writer_round(int64_t *p, int round)
{
    told_by(ranks - 1, TAG);
    *word(p, 0) = 2 * round + 1;
    hearth_release(p, page_bytes());
    tell(ranks - 1, TAG);
}

START_TEST(an_acquire_takes_nothing_that_a_rank_of_the_node_had_of_the_gateway)
{
    int64_t *p, *other;

    fixture_start_with("NODE_SIZE", "2");
    mate = ranks - 2;
    p = hearth_alloc(page_bytes(), 1, hearth_on(0));
    other = hearth_alloc(page_bytes(), 1, hearth_on(ranks - 1));
    for (int round = 1; round <= ROUNDS; round++) {
        if (me == 0)
            *word(p, 0) = 2 * round;
        barrier();
        if (hearth_node_of(mate) != hearth_node_of(ranks - 1))
            break;
        if (me == ranks - 1)
            reader_round(p, round);
        else if (me == mate)
            mate_round(p, other);
        else if (me == 0)
            writer_round(p, round);
        barrier();
    }
    all_expected();
    fixture_stop();
}
END_TEST

void
worlds_node_cache_tests(TCase *tc)
{
    tcase_add_test(
        tc,
        an_acquire_takes_nothing_that_a_rank_of_the_node_had_of_the_gateway);
}
