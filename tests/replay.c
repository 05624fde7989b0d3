/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Requests that come again after all is over, as a network may deliver them or
 * somebody who has overheard them: the server of the udp transport does
 * nothing twice, and answers nobody but the client (udp.tap).
 */
#include "config.h"

#include <mpi.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "fixture.h"
#include "space/heap.h"
#include "space/segment.h"
#include "transport/udp/bulk.h"
#include "transport/udp/client.h"
#include "transport/udp/flight.h"
#include "transport/udp/job.h"
#include "transport/udp/socket.h"
#include "transport/udp/wire.h"
#include "world.h"

enum { HOME = 0 };

static uint32_t turn = 1000; /* more than the client has sent */

/* A request with the number of this client's last one, sent once more. */
static void
request_number(struct hearthi_udp_message      *m,
               const struct hearthi_udp_client *c)
{
    m->from = (uint32_t)me;
    m->to = HOME;
    m->slot = c->slot;
    m->seq = c->seq[HOME];
    m->turn = ++turn;
}

static void
send_again(struct hearthi_udp_client *c, struct hearthi_udp_message m)
{
    request_number(&m, c);
    hearthi_udp_send(c->in.fd, &hearthi_udp.server[HOME], &m, NULL);
    sleep_ms(50);
}

/* A page of the home's. */
static struct hearthi_udp_message
page_request(uint64_t frame, const struct hearthi_udp_set *set)
{
    return (struct hearthi_udp_message){ .op = HEARTHI_UDP_GETP,
                                         .kind = HEARTHI_UDP_ANNOUNCE,
                                         .at = hearthi_frame_at(
                                             frame, hearthi_heap.shift),
                                         .len = PAGE,
                                         .pos = (uint32_t)hearthi_udp.fragment,
                                         .body = (const uint8_t *)set,
                                         .body_len = sizeof *set };
}

/* The frame of the only page that was ever fetched, which the home's flags
 * tell; known to all. */
static uint64_t
fetched_frame(void)
{
    const char *flags = hearthi_segments.base[hearthi_world.node_rank];
    uint64_t    frame = 0;

    while (me == HOME && frame < hearthi_segments.frames && flags[frame] == 0)
        frame++;
    MPI_Bcast(&frame, 1, MPI_UINT64_T, HOME, MPI_COMM_WORLD);
    return frame;
}

/* Let the other rank read the page, and nobody else. */
static uint64_t
fetch(const int64_t *p)
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
    return hearthi_segments.base[hearthi_world.node_rank][frame] != 0;
}

START_TEST(a_late_request_for_a_page_sets_no_flag_of_the_next_in_its_frame)
{
    int64_t               *p = hearth_alloc(1, sizeof *p, hearth_on(HOME));
    struct hearthi_udp_set set = { { 1 } };
    uint64_t               frame = fetch(p);

    hearth_free(p);
    if (me == HOME)
        expect(!is_flagged(frame));
    if (me == 1)
        send_again(hearthi_udp_bulk(), page_request(frame, &set));
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
    uint64_t               frame = fetch(p);
    double                 began;

    if (me == 1) {
        send_again(hearthi_udp_bulk(),
                   (struct hearthi_udp_message){
                       .op = HEARTHI_UDP_GETP,
                       .at = hearthi_frame_at(frame, hearthi_heap.shift),
                       .len = LEN,
                       .pos = HEARTHI_UDP_FRAGMENT_MIN,
                       .body = (const uint8_t *)&set,
                       .body_len = sizeof set });
        began = MPI_Wtime();
        expect_eq(hearth_fetch_add(p, 1), 0);
        expect(MPI_Wtime() - began < 0.15);
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
        send_again(hearthi_udp_bulk(),
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
    int64_t                    one = 1;

    barrier();
    if (me == 1)
        expect_eq(hearth_fetch_add(p, 1), 0);
    if (me == 1)
        one += *(volatile int64_t *)p - 1; /* fetches the page */
    MPI_Barrier(MPI_COMM_WORLD);
    frame = fetched_frame();
    if (me == 1) {
        c = hearthi_udp_client_take();
        send_again(c, (struct hearthi_udp_message){
                          .op = HEARTHI_UDP_DIFF,
                          .kind = HEARTHI_UDP_ADD,
                          .at = hearthi_frame_at(frame, hearthi_heap.shift),
                          .body = (const uint8_t *)&one,
                          .body_len = sizeof one });
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

/* ---- what was overheard, and who gets an answer ---- */

enum { TIMES = 20 };

/* A socket of somebody on this machine, by an address of the loopback. */
static int
stranger(unsigned last)
{
    struct sockaddr_in own = { .sin_family = AF_INET,
                               .sin_addr.s_addr =
                                   htonl(INADDR_LOOPBACK - 1 + last) };
    int                fd = socket(AF_INET, SOCK_DGRAM, 0);

    expect(fd >= 0 && bind(fd, (struct sockaddr *)&own, sizeof own) == 0);
    return fd;
}

/* All that has come to a socket, in bytes. */
static long
drained(int fd)
{
    static char room[65536];
    long        all = 0;
    ssize_t     n;

    sleep_ms(50);
    while ((n = recv(fd, room, sizeof room, MSG_DONTWAIT)) > 0)
        all += n;
    return all;
}

struct overheard {
    size_t  len;
    uint8_t bytes[HEARTHI_UDP_HEAD + 64];
};

static struct overheard
overhear(struct hearthi_udp_message m, const struct hearthi_udp_client *c)
{
    struct overheard o = { .len = HEARTHI_UDP_HEAD + m.body_len };

    request_number(&m, c);
    hearthi_udp_head(&m, o.bytes);
    memcpy(o.bytes + HEARTHI_UDP_HEAD, m.body, m.body_len);
    return o;
}

static void
say(int fd, const struct overheard *o, int times)
{
    const struct sockaddr_in *to = &hearthi_udp.server[HOME];

    for (int i = 0; i < times; i++)
        sendto(fd, o->bytes, o->len, 0, (const struct sockaddr *)to,
               sizeof *to);
}

static uint64_t
refused(void)
{
    hearth_stats stats;

    hearth_get_stats(&stats);
    return stats.refused;
}

/* The client's own sending is answered, and no other of the same datagram;
 * none comes from a host that is not the client's. */
static void
replay(const struct hearthi_udp_client *c, struct hearthi_udp_message m)
{
    struct overheard o = overhear(m, c), fresh = overhear(m, c);
    int              near = stranger(1), far = stranger(2);

    say(c->in.fd, &o, 1);
    expect(drained(c->in.fd) > HEARTHI_UDP_HEAD);
    say(near, &o, TIMES);
    say(far, &o, TIMES);
    say(c->in.fd, &o, TIMES);
    say(far, &fresh, TIMES);
    expect_eq(drained(near), 0);
    expect_eq(drained(far), 0);
    expect_eq(drained(c->in.fd), 0);
    close(near);
    close(far);
}

START_TEST(a_request_that_was_overheard_brings_nothing_to_anybody)
{
    int64_t               *p = hearth_alloc(1, sizeof *p, hearth_on(HOME));
    struct hearthi_udp_set set = { { 1 } };
    uint64_t               frame = fetch(p), before = refused();

    if (me == 1)
        replay(hearthi_udp_bulk(), page_request(frame, &set));
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == HOME)
        expect_eq(refused() - before, 4 * TIMES);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* The same of an answer that is kept for a repetition. */
START_TEST(nor_does_one_whose_answer_is_kept)
{
    int64_t *p = hearth_alloc(1, sizeof *p, hearth_on(HOME)), one = 1;
    uint64_t before, frame = fetch(p);
    struct hearthi_udp_client *c;

    before = refused();
    if (me == 1) {
        expect_eq(hearth_fetch_add(p, 1), 0);
        c = hearthi_udp_client_take();
        drained(c->in.fd);
        replay(c, (struct hearthi_udp_message){
                      .op = HEARTHI_UDP_DIFF,
                      .kind = HEARTHI_UDP_ADD,
                      .at = hearthi_frame_at(frame, hearthi_heap.shift),
                      .body = (const uint8_t *)&one,
                      .body_len = sizeof one });
        hearthi_udp_client_give(c);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == HOME) {
        expect_eq(*p, 1);
        expect_eq(refused() - before, 4 * TIMES);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* What comes to a client within a moment is from the home's server socket. */
static int
answers_of_server(struct hearthi_udp_client *c)
{
    const struct sockaddr_in  *home = &hearthi_udp.server[HOME];
    uint64_t                   end = hearthi_now() + 50000000;
    struct hearthi_udp_message m;
    struct sockaddr_in         from;
    int                        n = 0;

    while (hearthi_udp_receive(&c->in, end, &m, &from)) {
        expect_eq(ntohs(from.sin_port), ntohs(home->sin_port));
        n++;
    }
    return n;
}

START_TEST(an_answer_leaves_from_the_port_that_was_asked_the_second_time_too)
{
    int64_t *p = hearth_alloc(1, sizeof *p, hearth_on(HOME)), one = 1;
    struct hearthi_udp_set     set = { { 1 } };
    uint64_t                   frame = fetch(p);
    struct hearthi_udp_client *c = hearthi_udp_client_take();

    if (me == 1) {
        expect_eq(hearth_fetch_add(p, 1), 0);
        send_again(c, (struct hearthi_udp_message){
                          .op = HEARTHI_UDP_DIFF,
                          .kind = HEARTHI_UDP_ADD,
                          .at = hearthi_frame_at(frame, hearthi_heap.shift),
                          .body = (const uint8_t *)&one,
                          .body_len = sizeof one });
        expect(answers_of_server(c) > 0);
        send_again(hearthi_udp_bulk(), page_request(frame, &set));
        expect(answers_of_server(hearthi_udp_bulk()) > 0);
    }
    hearthi_udp_client_give(c);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- what does not belong here, without end ---- */

/* Good messages that answer nothing, to this rank's own slot 0. */
static void
answers_say(int n)
{
    struct hearthi_udp_client *c = hearthi_udp_bulk();
    struct sockaddr_in         own = hearthi_udp_address_of(c->in.fd);
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_DIFFGRANT,
                                     .from = HOME,
                                     .to = (uint32_t)me };

    for (int i = 0; i < n; i++)
        hearthi_udp_send(c->in.fd, &own, &m, NULL);
}

START_TEST(answers_to_nothing_do_not_keep_a_request_from_being_sent_again)
{
    enum { MANY = 100 };
    static const uint8_t      nonsense[1]; /* the home drops it */
    struct hearthi_udp_flight f = { .what = "test",
                                    .ask = { .op = HEARTHI_UDP_GETP,
                                             .from = (uint32_t)me,
                                             .to = HOME,
                                             .body = nonsense,
                                             .body_len = sizeof nonsense } };

    if (me == 1) {
        hearthi_udp_flight_launch(&f);
        sleep_ms(100);
        answers_say(MANY);
        hearthi_udp_bulk_turn();
        expect(f.timer.tries > 0);
        hearthi_udp_flight_land(&f, 0);
        expect(drained(hearthi_udp_bulk()->in.fd) > 0);
    }
    barrier();
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
    tcase_add_test(tc, a_request_that_was_overheard_brings_nothing_to_anybody);
    tcase_add_test(tc, nor_does_one_whose_answer_is_kept);
    tcase_add_test(
        tc, an_answer_leaves_from_the_port_that_was_asked_the_second_time_too);
    tcase_add_test(
        tc, answers_to_nothing_do_not_keep_a_request_from_being_sent_again);
    suite_add_tcase(suite, tc);
    return mpi_main(argc, argv, suite);
}
