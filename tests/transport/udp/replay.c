/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Requests that come again after all is over, as a network may deliver them or
 * somebody who has overheard them: the server of the udp transport does
 * nothing twice, and answers nobody but the client (udp.tap).
 */
#include "config.h"

#include <mpi.h>
#include <string.h>

#include "cluster.h"
#include "space/heap.h"
#include "space/segment.h"
#include "transport/udp/client.h"
#include "transport/udp/socket.h"
#include "transport/udp/udp_job.h"
#include "transport/udp/wire.h"

#include "replay.h"

static uint32_t turn = 1000; /* more than the client has sent */

/* A request with the number of this client's last one, sent once more. */
void
replay_number(struct hearthi_udp_message      *m,
              const struct hearthi_udp_client *c)
{
    m->from = (uint32_t)me;
    m->to = HOME;
    m->slot = c->slot;
    m->seq = c->seq[HOME];
    m->turn = ++turn;
}

void
replay_send(struct hearthi_udp_client *c, struct hearthi_udp_message m)
{
    replay_number(&m, c);
    hearthi_udp_send(c->in.fd, &hearthi_udp.server[HOME], &m, NULL);
    sleep_ms(50);
}

/* A page of the home's. */
struct hearthi_udp_message
replay_page_request(uint64_t frame, const struct hearthi_udp_set *set)
{
    return (struct hearthi_udp_message){ .op = HEARTHI_UDP_GETP,
                                         .kind = HEARTHI_UDP_ANNOUNCE,
                                         .at = hearthi_frame_at(
                                             frame, hearthi_heap.shift),
                                         .len = page_bytes(),
                                         .pos = (uint32_t)hearthi_udp.fragment,
                                         .body = (const uint8_t *)set,
                                         .body_len = sizeof *set };
}

struct hearthi_udp_message
replay_addition(uint64_t frame, const int64_t value[2])
{
    return (struct hearthi_udp_message){ .op = HEARTHI_UDP_DIFF,
                                         .kind = HEARTHI_UDP_ADD,
                                         .len = sizeof *value,
                                         .at = hearthi_frame_at(
                                             frame, hearthi_heap.shift),
                                         .body = (const uint8_t *)value,
                                         .body_len = 2 * sizeof *value };
}

/* The frame of the only page that was ever fetched, which the home's flags
 * tell; known to all. */
static uint64_t
fetched_frame(void)
{
    const char *flags = hearthi_segments.base[hearthi_cluster.node_rank];
    uint64_t    frame = 0;

    while (me == HOME && frame < hearthi_segments.frames && flags[frame] == 0)
        frame++;
    MPI_Bcast(&frame, 1, MPI_UINT64_T, HOME, MPI_COMM_WORLD);
    return frame;
}

/* Let the other rank read the page, and nobody else. */
uint64_t
replay_fetch(const int64_t *p)
{
    uint64_t frame;

    barrier();
    if (me == 1)
        expect_eq(*(const volatile int64_t *)p, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    frame = fetched_frame();
    all_assert(frame < hearthi_segments.frames);
    return frame;
}

static bool
is_flagged(uint64_t frame)
{
    return hearthi_segments.base[hearthi_cluster.node_rank][frame] != 0;
}

START_TEST(a_late_request_for_a_page_sets_no_flag_of_the_next_in_its_frame)
{
    int64_t               *p = hearth_alloc(1, sizeof *p, hearth_on(HOME));
    struct hearthi_udp_set set = { { 1 } };
    uint64_t               frame = replay_fetch(p);

    hearth_free(p);
    if (me == HOME)
        expect(!is_flagged(frame));
    if (me == 1)
        replay_send(hearthi_udp_bulk(1), replay_page_request(frame, &set));
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == HOME)
        expect(!is_flagged(frame));
    barrier();
    all_expected();
}
END_TEST

/* Where answers are acknowledged: nobody does, of 128 fragments. */
START_TEST(an_answer_that_nobody_takes_does_not_keep_the_server)
{
    enum { LEN = HEARTHI_UDP_FRAGMENTS * HEARTHI_UDP_FRAGMENT_MIN };
    int64_t               *p = hearth_alloc(LEN, 1, hearth_on(HOME));
    struct hearthi_udp_set set = { { UINT64_MAX, UINT64_MAX } };
    uint64_t               frame = replay_fetch(p);
    double                 began;

    if (me == 1) {
        replay_send(hearthi_udp_bulk(1),
                    (struct hearthi_udp_message){
                        .op = HEARTHI_UDP_GETP,
                        .at = hearthi_frame_at(frame, hearthi_heap.shift),
                        .len = LEN,
                        .pos = HEARTHI_UDP_FRAGMENT_MIN,
                        .body = (const uint8_t *)&set,
                        .body_len = sizeof set });
        began = MPI_Wtime();
        expect_eq(hearth_fetch_add(p, 1), 0);
        expect_timely(MPI_Wtime() - began < 1);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(a_late_diff_does_not_overwrite_what_is_newer)
{
    int64_t *p = hearth_alloc(1, sizeof *p, hearth_on(HOME));
    uint64_t frame, value = 1, offset;
    uint32_t len = sizeof value;
    uint8_t  run[HEARTHI_UDP_RUN + sizeof value];

    barrier();
    if (me == 1)
        *p = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    frame = fetched_frame();
    barrier();
    if (me == HOME) {
        expect_eq(*p, 1);
        *p = 2;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    offset = hearthi_frame_at(frame, hearthi_heap.shift);
    memcpy(run, &offset, sizeof offset);
    memcpy(run + sizeof offset, &len, sizeof len);
    memcpy(run + HEARTHI_UDP_RUN, &value, sizeof value);
    if (me == 1)
        replay_send(hearthi_udp_bulk(0),
                    (struct hearthi_udp_message){ .op = HEARTHI_UDP_DIFF,
                                                  .pos = 1,
                                                  .body = run,
                                                  .body_len = sizeof run });
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == HOME)
        expect_eq(*p, 2);
    barrier();
    expect_eq(*p, 2);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(a_late_addition_is_not_done_again)
{
    int64_t                   *p = hearth_alloc(1, sizeof *p, hearth_on(HOME));
    struct hearthi_udp_client *c;
    uint64_t                   frame;
    int64_t                    one[2] = { 1 };

    barrier();
    if (me == 1)
        expect_eq(hearth_fetch_add(p, 1), 0);
    if (me == 1)
        one[0] += *(volatile int64_t *)p - 1; /* fetches the page */
    MPI_Barrier(MPI_COMM_WORLD);
    frame = fetched_frame();
    if (me == 1) {
        c = hearthi_udp_client_take();
        replay_send(c, replay_addition(frame, one));
        hearthi_udp_client_give(c);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == HOME)
        expect_eq(*p, 1);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *suite = suite_create("replay");
    TCase *tc = tcase_create("replay");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(
        tc, a_late_request_for_a_page_sets_no_flag_of_the_next_in_its_frame);
    tcase_add_test(tc, an_answer_that_nobody_takes_does_not_keep_the_server);
    tcase_add_test(tc, a_late_diff_does_not_overwrite_what_is_newer);
    tcase_add_test(tc, a_late_addition_is_not_done_again);
    replay_overheard(tc);
    suite_add_tcase(suite, tc);
    return mpi_main(argc, argv, suite);
}
