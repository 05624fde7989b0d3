/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Connections between ranks and their gateway that are reset, again and again,
 * at either end, while all that goes over them counts
 * (src/transport/clusters/connection_replay.h).
 */
#include <config.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/clusters/gateway_client.h"
#include "worlds.h"

enum { RANKS_MOST = 64, TURNS = 60, PAUSE_US = 3000 };

static int port[RANKS_MOST]; /* of each rank's gateway, or 0; network order */

/* ---- resets ---- */

static bool
is_door(const struct sockaddr_in *a)
{
    for (int r = 0; r < ranks; r++)
        if (a->sin_family == AF_INET && port[r] != 0 && port[r] == a->sin_port)
            return true;
    return false;
}

enum end { NO_END, OF_RANK = 1, OF_GATEWAY = 2 };

/* Which end of a connection between a rank and its gateway it is. */
static enum end
end_of(int fd)
{
    struct sockaddr_in here = { .sin_family = AF_UNSPEC }, there = here;
    socklen_t          size = sizeof here, room = sizeof there;

    if (getsockname(fd, (struct sockaddr *)&here, &size) != 0 ||
        getpeername(fd, (struct sockaddr *)&there, &room) != 0)
        return NO_END;
    return is_door(&here) ? OF_GATEWAY : is_door(&there) ? OF_RANK : NO_END;
}

/* As if a stranger had sent a reset to the other end, and this one. */
static bool
reset(int fd)
{
    const struct sockaddr none = { .sa_family = AF_UNSPEC };

    return connect(fd, &none, sizeof none) == 0;
}

/* What comes is lost, as the reset is that the other end sends. */
static bool
deafen(int fd)
{
    struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
    struct sock_fprog  filter = { 1, &none };

    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter,
                      sizeof filter) == 0;
}

static bool
hear(int fd)
{
    int unused = 0;

    return setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &unused,
                      sizeof unused) == 0;
}

/* To all ends of a set that this process has: to how many. */
static int
ends_do(int set, bool (*what)(int fd))
{
    DIR           *fds = opendir("/proc/self/fd");
    struct dirent *d;
    int            n = 0;

    while (fds != NULL && (d = readdir(fds)) != NULL) {
        int fd = atoi(d->d_name);

        if (d->d_name[0] != '.' && (end_of(fd) & set) != 0)
            n += what(fd);
    }
    if (fds != NULL)
        closedir(fds);
    return n;
}

/* ---- what goes over them ---- */

struct shared {
    int64_t *sum;   /* of three locks, at home on the last rank */
    int64_t *added; /* a word on each rank */
    int64_t *page;  /* of each rank: written by the rank before it */
};

static void
shared_new(struct shared *s)
{
    s->sum = hearth_alloc(3, sizeof *s->sum, hearth_on(ranks - 1));
    s->added = pages_new(ranks);
    s->page = pages_new(ranks);
    barrier();
}

static void
turn_do(const struct shared *s, int turn)
{
    const int lock = (turn + me) % 3;
    int64_t  *to = word(s->page, (me + 1) % ranks);

    hearth_lock(lock);
    s->sum[lock]++;
    hearth_unlock(lock);
    for (int r = 0; r < ranks; r++)
        hearth_fetch_add(word(s->added, r), 1);
    for (size_t i = 0; i < page_words(); i++)
        to[i] = turn * (int64_t)page_words() + (int64_t)i;
    barrier();
    for (int r = 0; r < ranks; r++)
        for (size_t i = 0; i < page_words(); i++)
            expect_eq(word(s->page, r)[i],
                      turn * (int64_t)page_words() + (int64_t)i);
    barrier();
}

static void
counts_check(const struct shared *s, int turns)
{
    expect_eq(s->sum[0] + s->sum[1] + s->sum[2], (int64_t)turns * ranks);
    for (int r = 0; r < ranks; r++)
        expect_eq(*word(s->added, r), (int64_t)turns * ranks);
    all_expected();
}

static void
doors_tell(void)
{
    const struct hearthi_addresses *at = &hearthi_clients.listener.at;
    int mine = at->n > 0 ? at->at[0].v4.sin_port : 0;

    MPI_Allgather(&mine, 1, MPI_INT, port, 1, MPI_INT, MPI_COMM_WORLD);
}

/* ---- tests ---- */

static atomic_bool over;
static atomic_int  resets;

static void *
resets_make(void *unused)
{
    while (!over) {
        atomic_fetch_add(&resets, ends_do(OF_RANK | OF_GATEWAY, reset));
        usleep(PAUSE_US);
    }
    return unused;
}

/* Whatever is under way: asks and answers of locks, pages, words, barriers. */
START_TEST(connections_that_are_reset_lose_and_double_nothing)
{
    struct shared s;
    pthread_t     thread;

    fixture_start();
    doors_tell();
    shared_new(&s);
    over = false;
    resets = 0;
    pthread_create(&thread, NULL, resets_make, NULL);
    for (int turn = 1; turn <= TURNS; turn++)
        turn_do(&s, turn);
    over = true;
    pthread_join(thread, NULL);
    counts_check(&s, TURNS);
    expect(resets > 0);
    all_expected();
    fixture_stop();
}
END_TEST

/* Ends of one kind are reset, and those of the other do not hear of it. */
static void
reset_unheard(enum end which)
{
    const int deaf = OF_RANK + OF_GATEWAY - (int)which;
    int       n;

    ends_do(deaf, deafen);
    mpi_barrier();
    n = ends_do((int)which, reset);
    mpi_barrier();
    ends_do(deaf, hear);
    MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(n > ranks);
}

/* All ranks but one wait for a lock, and so have nothing to send.  They know
 * by what their system asks (rank_listener.c). */
START_TEST(a_reset_of_one_end_is_found_by_the_other)
{
    struct shared s;

    fixture_start();
    doors_tell();
    shared_new(&s);
    for (int turn = 1; turn <= 2; turn++) {
        if (me == 0)
            hearth_lock(0);
        mpi_barrier();
        reset_unheard(turn == 1 ? OF_GATEWAY : OF_RANK);
        if (me == 0)
            hearth_unlock(0);
        turn_do(&s, turn);
    }
    counts_check(&s, 2);
    fixture_stop();
}
END_TEST

void
worlds_reset_tests(TCase *tc)
{
    tcase_add_test(tc, connections_that_are_reset_lose_and_double_nothing);
    tcase_add_test(tc, a_reset_of_one_end_is_found_by_the_other);
}
