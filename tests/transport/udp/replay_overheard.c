/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Requests that somebody has overheard, where answers come from, and answers
 * that nobody has asked for.
 */
#include "config.h"

#include <arpa/inet.h>
#include <mpi.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/stat.h"
#include "replay.h"
#include "transport/udp/client.h"
#include "transport/udp/datagram_rx.h"
#include "transport/udp/send_window.h"
#include "transport/udp/socket.h"
#include "transport/udp/udp_hello.h"
#include "transport/udp/udp_job.h"

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

/* Something comes, however long the server takes; of what is sent once, and
 * stays on this machine. */
static void
come_await(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    expect_eq(poll(&p, 1, -1), 1);
}

struct overheard {
    size_t  len;
    uint8_t bytes[HEARTHI_UDP_HEAD + 64];
};

static struct overheard
overhear(struct hearthi_udp_message m, const struct hearthi_udp_client *c)
{
    struct overheard o = { .len = HEARTHI_UDP_HEAD + m.body_len };

    replay_number(&m, c);
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

/* Of good datagrams.  Others of this machine may send some that are not: other
 * tests do. */
static uint64_t
refused(void)
{
    return hearthi_tally.refused[HEARTHI_UDP_BAD_SEQUENCE] +
           hearthi_tally.refused[HEARTHI_UDP_BAD_ADDRESS];
}

/* So many since then, once the server has come to them all. */
static void
refused_expect(uint64_t before, uint64_t n)
{
    enum { MANY = 10000 };

    for (int i = 0; i < MANY && refused() - before < n; i++)
        sleep_ms(1);
    expect_timely(refused() - before == n);
}

/* What is asked again within a time is asked so often. */
enum { TRIES = 200 };

/* An answer, and not only an acknowledgement, repeats the request's number. */
static bool
is_answered(int fd, const struct overheard *o)
{
    enum { NUMBER = 24 };
    static uint8_t room[65536];
    bool           answered = false;
    ssize_t        n;

    sleep_ms(50);
    while ((n = recv(fd, room, sizeof room, MSG_DONTWAIT)) > 0)
        answered |= n > HEARTHI_UDP_HEAD &&
                    memcmp(room + NUMBER, o->bytes + NUMBER, 8) == 0;
    return answered;
}

/* Ask as a client does, again and again: a server that has answered less than
 * a round trip ago does not answer yet (server.c).  What was answered: the
 * last, so that the server has come to all that were said before. */
static struct overheard
ask(const struct hearthi_udp_client *c, const struct hearthi_udp_message *m)
{
    struct overheard o;
    int              tries = 0;

    do {
        o = overhear(*m, c);
        say(c->in.fd, &o, 1);
    } while (!is_answered(c->in.fd, &o) && ++tries < TRIES);
    expect_timely(tries < TRIES);
    while (drained(c->in.fd) > 0) /* the rest of a long answer */
        ;
    return o;
}

/* The client's own sending is answered, and no other of the same datagram;
 * none comes from a host that is not the client's. */
static void
replay(const struct hearthi_udp_client *c, struct hearthi_udp_message m)
{
    struct overheard o = ask(c, &m), fresh = overhear(m, c);
    int              near = stranger(1), far = stranger(2);

    say(near, &o, TIMES);
    say(far, &o, TIMES);
    say(c->in.fd, &o, TIMES);
    say(far, &fresh, TIMES);
    expect_eq(drained(near), 0);
    expect_eq(drained(far), 0);
    expect_timely(drained(c->in.fd) == 0);
    close(near);
    close(far);
}

START_TEST(a_request_that_was_overheard_brings_nothing_to_anybody)
{
    int64_t               *p = hearth_alloc(1, sizeof *p, hearth_on(HOME));
    struct hearthi_udp_set set = { { 1 } };
    uint64_t               frame = replay_fetch(p), before = refused();

    if (me == 1)
        replay(hearthi_udp_bulk(1), replay_page_request(frame, &set));
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == HOME)
        refused_expect(before, 4 * TIMES);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* The same of an answer that is kept for a repetition. */
START_TEST(nor_does_one_whose_answer_is_kept)
{
    int64_t                   *p = hearth_alloc(1, sizeof *p, hearth_on(HOME));
    int64_t                    one[2] = { 1 };
    uint64_t                   before, frame = replay_fetch(p);
    struct hearthi_udp_client *c;

    before = refused();
    if (me == 1) {
        expect_eq(hearth_fetch_add(p, 1), 0);
        c = hearthi_udp_client_take();
        drained(c->in.fd);
        replay(c, replay_addition(frame, one));
        hearthi_udp_client_give(c);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == HOME) {
        expect_eq(*p, 1);
        refused_expect(before, 4 * TIMES);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* A hello that is sent again, by a host that is not the client's, is not
 * answered and does not make it one. */
static void
replay_hello(const struct hearthi_udp_client *c, uint64_t frame,
             const struct hearthi_udp_set *set)
{
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_BCAST,
                                     .slot = c->slot,
                                     .from = (uint32_t)me,
                                     .to = HOME,
                                     .seq = hearthi_udp_hello_number(),
                                     .body = (const uint8_t *)set };
    struct overheard           o = { .len = HEARTHI_UDP_HEAD };
    struct overheard fresh = overhear(replay_page_request(frame, set), c);
    int              far = stranger(2);

    hearthi_udp_head(&m, o.bytes);
    say(c->in.fd, &o, 1);
    come_await(c->in.fd);
    expect_timely(drained(c->in.fd) == HEARTHI_UDP_HEAD);
    say(far, &o, TIMES);
    say(far, &fresh, TIMES);
    say(c->in.fd, &o, TIMES);
    expect_eq(drained(far), 0);
    expect_timely(drained(c->in.fd) == 0);
    close(far);
}

START_TEST(a_hello_that_was_overheard_makes_nobody_a_host)
{
    int64_t               *p = hearth_alloc(1, sizeof *p, hearth_on(HOME));
    struct hearthi_udp_set set = { { 1 } };
    uint64_t               frame = replay_fetch(p), before = refused();

    if (me == 1)
        replay_hello(hearthi_udp_bulk(1), frame, &set);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == HOME)
        refused_expect(before, 3 * TIMES);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* What comes to a client within a moment, and a moment behind that, is from
 * the home's server socket. */
static int
answers_of_server(struct hearthi_udp_client *c)
{
    enum { MOMENT = 50000000 };
    const struct sockaddr_in  *home = &hearthi_udp.server[HOME];
    uint64_t                   end = hearthi_now() + MOMENT;
    struct hearthi_udp_message m;
    struct sockaddr_in         from;
    int                        n = 0;

    while (hearthi_udp_receive(&c->in, end, &m, &from)) {
        expect_eq(ntohs(from.sin_port), ntohs(home->sin_port));
        n++;
        end = hearthi_now() + MOMENT;
    }
    return n;
}

/* As ask(). */
static void
asked_port_answers(struct hearthi_udp_client *c, struct hearthi_udp_message m)
{
    int tries = 0;

    do
        replay_send(c, m);
    while (answers_of_server(c) == 0 && ++tries < TRIES);
    expect_timely(tries < TRIES);
}

START_TEST(an_answer_leaves_from_the_port_that_was_asked_the_second_time_too)
{
    int64_t                   *p = hearth_alloc(1, sizeof *p, hearth_on(HOME));
    int64_t                    one[2] = { 1 };
    struct hearthi_udp_set     set = { { 1 } };
    uint64_t                   frame = replay_fetch(p);
    struct hearthi_udp_client *c = hearthi_udp_client_take();

    if (me == 1) {
        expect_eq(hearth_fetch_add(p, 1), 0);
        asked_port_answers(c, replay_addition(frame, one));
        asked_port_answers(hearthi_udp_bulk(1),
                           replay_page_request(frame, &set));
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
    struct hearthi_udp_client *c = hearthi_udp_bulk(0);
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
    static const uint8_t         nonsense[1]; /* the home drops it */
    struct hearthi_udp_in_flight f = { .what = "test",
                                       .ask = { .op = HEARTHI_UDP_GETP,
                                                .from = (uint32_t)me,
                                                .to = HOME,
                                                .body = nonsense,
                                                .body_len =
                                                    sizeof nonsense } };

    if (me == 1) {
        hearthi_udp_in_flight_launch(&hearthi_udp_locked, &f);
        f.timer.sent -= f.timer.wait; /* it is due */
        answers_say(MANY);
        hearthi_udp_send_window_turn(&hearthi_udp_locked);
        expect(f.timer.tries > 0);
        hearthi_udp_in_flight_land(&f, 0);
        expect(drained(hearthi_udp_bulk(0)->in.fd) > 0);
    }
    barrier();
    all_expected();
}
END_TEST

void
replay_overheard(TCase *tc)
{
    tcase_add_test(tc, a_request_that_was_overheard_brings_nothing_to_anybody);
    tcase_add_test(tc, nor_does_one_whose_answer_is_kept);
    tcase_add_test(tc, a_hello_that_was_overheard_makes_nobody_a_host);
    tcase_add_test(
        tc, an_answer_leaves_from_the_port_that_was_asked_the_second_time_too);
    tcase_add_test(
        tc, answers_to_nothing_do_not_keep_a_request_from_being_sent_again);
}
