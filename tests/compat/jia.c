/* SPDX-License-Identifier: BSD-2-Clause
 *
 * jia.h: what each call means, beside the program's own MPI.
 */
#include <hearth/jia.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"
#include "jia/jia_start.h"
#include "jia_alloc.h"
#include "seen.h"

static char *no_arguments[] = { (char *)"jia", NULL };

static void
start(void)
{
    harness_at(__func__, __LINE__);
    jia_init(1, no_arguments);
}

static void
stop(void)
{
    harness_at(__func__, __LINE__);
    jia_exit();
}

START_TEST(hosts_are_ranks)
{
    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    all_assert(jiapid == rank && jiahosts == size);
    all_assert(jia_pid == hearth_rank() && jia_hosts == hearth_size());
}
END_TEST

START_TEST(locks_exclude_and_carry_writes)
{
    int *p = (int *)jia_alloc(page_bytes());

    for (int i = 0; i < 20; i++) {
        jia_lock(1023);
        p[0]++;
        jia_unlock(1023);
        jia_lock(0);
        p[1]++;
        jia_unlock(0);
    }
    jia_barrier();
    all_assert(p[0] == 20 * jiahosts && p[1] == 20 * jiahosts);
}
END_TEST

START_TEST(locks_nest_to_depth_8)
{
    int *p = (int *)jia_alloc2p(page_bytes(), jiahosts - 1);

    for (int i = 0; i < 8; i++)
        jia_lock(10 + i);
    p[0]++;
    for (int i = 7; i >= 0; i--)
        jia_unlock(10 + i);
    jia_barrier();
    all_assert(p[0] == jiahosts);
}
END_TEST

/* Numbers that are alike modulo 64 too: hosts hold them at once. */
START_TEST(locks_above_63_are_locks_of_their_own)
{
    enum { ROUNDS = 5, LOCKS = 1024, STEP = 64, NEST = 8 };
    int *p = (int *)jia_alloc2p(page_bytes(), jiahosts - 1);
    int  last = LOCKS - 1 - jiapid % 2 * NEST * STEP;

    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < NEST; k++)
            jia_lock(last - k * STEP);
        p[jiapid % 2]++;
        for (int k = NEST - 1; k >= 0; k--)
            jia_unlock(last - k * STEP);
    }
    for (int lock = LOCKS - 1; lock > 63; lock -= 61) {
        jia_lock(lock);
        p[lock]++;
        jia_unlock(lock);
    }
    jia_barrier();
    all_assert(p[0] == ROUNDS * ((jiahosts + 1) / 2));
    all_assert(p[1] == ROUNDS * (jiahosts / 2));
    for (int lock = LOCKS - 1; lock > 63; lock -= 61)
        all_assert(p[lock] == jiahosts);
}
END_TEST

START_TEST(consistency_is_scope_unless_the_user_says_so)
{
    const char *said = getenv("HEARTH_CONSISTENCY");

    all_assert(strcmp(hearth_option("consistency"),
                      said == NULL ? "scope" : said) == 0);
    stop();
    if (said != NULL)
        unsetenv("HEARTH_CONSISTENCY");
    start();
    all_assert(strcmp(hearth_option("consistency"), "scope") == 0);
    all_assert(getenv("HEARTH_CONSISTENCY") == NULL);
    stop();
    setenv("HEARTH_CONSISTENCY", "release", 1);
    start();
    all_assert(strcmp(hearth_option("consistency"), "release") == 0);
    if (said == NULL)
        unsetenv("HEARTH_CONSISTENCY");
    else
        setenv("HEARTH_CONSISTENCY", "scope", 1);
}
END_TEST

static double
seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Host 0 comes late, and nobody is through before. */
START_TEST(wait_waits_for_all)
{
    double came, left;

    for (int i = 0; i < 3; i++) {
        if (jiapid == 0)
            sleep_ms(20);
        came = seconds();
        jia_wait();
        left = seconds();
        MPI_Allreduce(MPI_IN_PLACE, &came, 1, MPI_DOUBLE, MPI_MAX,
                      MPI_COMM_WORLD);
        all_assert(left >= came);
    }
}
END_TEST

START_TEST(wait_is_no_event_of_coherence)
{
    hearth_stats before, after;

    jia_barrier();
    hearth_get_stats(&before);
    jia_wait();
    hearth_get_stats(&after);
    all_assert(before.barriers == after.barriers &&
               before.notices_in == after.notices_in);
}
END_TEST

START_TEST(condition_variables_release_and_stay_set)
{
    int *p = (int *)jia_alloc1(page_bytes());

    if (jiapid == jiahosts - 1) {
        p[0] = 42;
        jia_setcv(63);
    }
    jia_waitcv(63);
    jia_waitcv(63);
    all_assert(p[0] == 42);
    jia_barrier();
    jia_resetcv(63);
    jia_barrier();
    if (jiapid == 0) {
        p[0] = 43;
        jia_setcv(63);
    }
    jia_waitcv(63);
    all_assert(p[0] == 43);
    jia_barrier();
    jia_resetcv(63);
}
END_TEST

START_TEST(config_accepts_all_of_jiajia)
{
    for (int option = HMIG; option <= WVEC; option++) {
        jia_config(option, ON);
        jia_config(option, OFF);
    }
    jia_wtnt(0, 0);
    jia_wtntw(0);
    jia_wtntd(0);
    all_assert(true);
}
END_TEST

START_TEST(clock_and_statistics_count_from_init)
{
    double       t = jia_clock();
    unsigned int begin = jia_startstat(), end;

    sleep_ms(20);
    end = jia_stopstat();
    all_assert(t >= 0 && jia_clock() >= t + 0.02);
    all_assert_timely(t < 60);
    all_assert(end - begin >= 20000 && end - begin < 60000000);
}
END_TEST

/* Parts follow each other and cover everything. */
static bool
parts_cover(int first, int last)
{
    int  begin = first, end = last, all[2 * 64];
    bool ok = hostc <= 64;

    jia_divtask(&begin, &end);
    MPI_Allgather((int[2]){ begin, end }, 2, MPI_INT, all, 2, MPI_INT,
                  MPI_COMM_WORLD);
    ok = ok && all[0] == first && all[2 * jiahosts - 1] == last;
    for (int i = 1; i < jiahosts; i++)
        ok = ok && all[2 * i] == all[2 * i - 1] + 1;
    return ok;
}

START_TEST(divtask_deals_equal_parts)
{
    int begin = 5, end = 5 + 10 * jiahosts; /* one too many */

    all_assert(parts_cover(1, 100));
    all_assert(parts_cover(0, 0));
    jia_divtask(&begin, &end);
    all_assert(begin == 5 + 10 * jiapid &&
               end == begin + 9 + (jiapid == jiahosts - 1));
}
END_TEST

enum { TAG_MEASURED = 78 };

static bool tells_load;

/* By which jia_loadcheck() says what it has measured: host 0 hears before that
 * it was. */
SEEN int
MPI_Iallgather(const void *mine, int n, MPI_Datatype type, void *all, int each,
               MPI_Datatype of, MPI_Comm comm, MPI_Request *request)
{
    if (tells_load)
        PMPI_Send(NULL, 0, MPI_BYTE, 0, TAG_MEASURED, MPI_COMM_WORLD);
    return PMPI_Iallgather(mine, n, type, all, each, of, comm, request);
}

/* Host 0 is the slow one, whoever gets a core when: its time begins before the
 * others begin anew, and goes on for as long again behind the last of them. */
START_TEST(divtask_follows_the_load)
{
    double since = jia_clock();
    int    begin = 0, end = 999;

    jia_config(LOADBAL, ON);
    all_assert(parts_cover(0, 999));
    if (jiapid != 0)
        jia_config(LOADBAL, ON);
    for (int h = 1; jiapid == 0 && h < jiahosts; h++)
        told_by(h, TAG_MEASURED);
    if (jiapid == 0)
        sleep_ms((long)((jia_clock() - since) * 1000) + 1);
    tells_load = jiapid != 0;
    jia_loadcheck();
    tells_load = false;
    all_assert(parts_cover(0, 999));
    jia_divtask(&begin, &end);
    all_assert_timely(jiapid != 0 || jiahosts == 1 || end < 999 / jiahosts);
    jia_config(LOADBAL, OFF);
    jia_loadcheck();
}
END_TEST

START_TEST(messages_cross)
{
    enum { MANY = 100000 };
    int *out = malloc(MANY * sizeof *out), *in = calloc(MANY, sizeof *in);
    int  to = (jiapid + 1) % jiahosts;
    int  from = (jiapid + jiahosts - 1) % jiahosts;

    for (int i = 0; i < MANY; i++)
        out[i] = jiapid + i;
    jia_send(out, MANY * sizeof *out, to, 7);
    jia_send(out, 4, to, 8);
    /* By tag, in any order; a short buffer gets the beginning. */
    all_assert(jia_recv(in, 4, from, 8) == 4 && in[0] == from);
    all_assert(jia_recv(in, MANY * 4 - 8, MSG_PROC_ALL, MSG_TAG_ALL) ==
               MANY * 4 - 8);
    all_assert(in[MANY - 3] == from + MANY - 3 && in[MANY - 2] == 0);
    free(out);
    free(in);
}
END_TEST

/* A long message as MPI sends it over a network: it goes on only while its
 * sender is inside MPI.  That begins with the next but AWAY calls of MPI_Test.
 */
enum { LONG = 65536, AWAY = 3, TAG_HELD = 77 };

static bool holds;

static struct held {
    bool        is, sent;
    int         tests, bytes, to, tag;
    const void *from;
    MPI_Comm    comm;
    MPI_Request handle, real;
} held;

SEEN int
MPI_Isend(const void *buf, int count, MPI_Datatype type, int to, int tag,
          MPI_Comm comm, MPI_Request *request)
{
    if (!holds || held.is)
        return PMPI_Isend(buf, count, type, to, tag, comm, request);
    held = (struct held){ .is = true,
                          .bytes = count,
                          .to = to,
                          .tag = tag,
                          .from = buf,
                          .comm = comm };
    PMPI_Irecv(NULL, 0, MPI_BYTE, 0, TAG_HELD, MPI_COMM_SELF, request);
    held.handle = *request;
    return MPI_SUCCESS;
}

SEEN int
MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    if (!held.is || *request != held.handle)
        return PMPI_Test(request, done, status);
    *done = 0;
    if (++held.tests < AWAY)
        return MPI_SUCCESS;
    if (!held.sent)
        PMPI_Isend(held.from, held.bytes, MPI_BYTE, held.to, held.tag,
                   held.comm, &held.real);
    held.sent = true;
    PMPI_Test(&held.real, done, status);
    if (!*done)
        return MPI_SUCCESS;
    held.is = false;
    PMPI_Send(NULL, 0, MPI_BYTE, 0, TAG_HELD, MPI_COMM_SELF);
    return PMPI_Wait(request, status);
}

static void
long_message(char *buf, int tag)
{
    memset(buf, tag, LONG);
    holds = true;
    if (jiapid == 0)
        jia_send(buf, LONG, 1, tag);
    holds = false;
}

static bool
long_message_came(char *buf, int tag)
{
    memset(buf, 0, LONG);
    return jia_recv(buf, LONG, 0, tag) == LONG && buf[0] == tag &&
           buf[LONG - 1] == tag;
}

/* Whoever receives it comes to the barrier only then. */
START_TEST(a_long_message_goes_on_while_its_sender_is_at_a_barrier)
{
    char *buf = malloc(LONG);
    bool  came = true;

    if (jiahosts > 1) {
        long_message(buf, 5);
        if (jiapid == 1)
            came = long_message_came(buf, 5);
    }
    jia_barrier();
    all_assert(came);
    free(buf);
}
END_TEST

/* The sender takes and releases a lock that is free until it is received. */
START_TEST(a_long_message_goes_on_while_its_sender_takes_locks)
{
    char *buf = malloc(LONG);
    int  *word = (int *)jia_alloc2p(page_bytes(), 0);
    bool  came = true;

    jia_barrier();
    if (jiahosts > 1) {
        long_message(buf, 6);
        if (jiapid == 1) {
            came = long_message_came(buf, 6);
            jia_lock(3);
            *word = 1;
            jia_unlock(3);
        }
        for (bool told = jiapid != 0; !told;) {
            jia_lock(3);
            told = *word == 1;
            jia_unlock(3);
        }
    }
    jia_barrier();
    all_assert(came);
    free(buf);
}
END_TEST

/* Shared memory as a buffer, whose pages are not here yet. */
START_TEST(messages_take_shared_memory)
{
    char *p = (char *)jia_alloc2(4 * page_bytes(), page_bytes());

    if (jiapid == 0)
        memset(p, 7, 2 * page_bytes());
    jia_barrier();
    if (jiapid == jiahosts - 1)
        jia_send(p + 10, page_bytes(), 0, 3);
    if (jiapid == 0)
        jia_recv(p + 2 * page_bytes(), page_bytes(), jiahosts - 1, 3);
    jia_barrier();
    all_assert(p[2 * page_bytes()] == 7 && p[3 * page_bytes() - 1] == 7 &&
               p[3 * page_bytes()] == 0);
}
END_TEST

/* Its end is not the host's, whose handlers it has. */
START_TEST(a_child_of_fork_ends_alone)
{
    int   status = 0;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0)
        exit(7);
    all_assert(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
               WEXITSTATUS(status) == 7);
}
END_TEST

START_TEST(messages_nobody_wants_are_dropped_at_exit)
{
    char big[100000] = "";

    jia_send(big, sizeof big, (jiapid + 1) % jiahosts, 99);
    jia_send(big, 0, (jiapid + 1) % jiahosts, 98);
    stop();
    start();
    all_assert(true);
}
END_TEST

START_TEST(reduce_and_bcast_combine)
{
    int    n = jiahosts, root = n - 1, i[2] = { jiapid, -jiapid }, r[2];
    float  f = (float)jiapid, fr = -1;
    double d = jiapid, dr = -1;
    char   text[8] = "";

    jia_reduce(i, r, 2, SUM_INT, root);
    all_assert(jiapid != root ||
               (r[0] == n * (n - 1) / 2 && r[1] == -n * (n - 1) / 2));
    jia_reduce(i, r, 2, MIN_INT, 0);
    all_assert(jiapid != 0 || (r[0] == 0 && r[1] == 1 - n));
    jia_reduce(&f, &fr, 1, MAX_FLOAT, 0);
    all_assert(jiapid != 0 || fr == (float)(n - 1));
    jia_reduce(&d, &dr, 1, SUM_DOUBLE, root);
    all_assert(jiapid != root || dr == n * (n - 1) / 2.0);
    if (jiapid == root)
        strcpy(text, "hearth");
    jia_bcast(text, sizeof text, root);
    all_assert(strcmp(text, "hearth") == 0);
}
END_TEST

START_TEST(can_be_started_again)
{
    unsigned long first = jia_alloc(page_bytes());

    stop();
    all_assert(!hearth_initialized());
    start();
    all_assert(hearth_home((void *)first) == -1);
    /* The turn begins again. */
    all_assert(hearth_home((void *)jia_alloc(page_bytes())) == 0);
}
END_TEST

static Suite *
suite_new(void)
{
    Suite *s = suite_create("jia");
    TCase *c = tcase_create("jia");

    tcase_add_unchecked_fixture(c, start, stop); /* starting takes time */
    tcase_add_test(c, hosts_are_ranks);
    jia_alloc_tests(c);
    tcase_add_test(c, locks_exclude_and_carry_writes);
    tcase_add_test(c, locks_nest_to_depth_8);
    tcase_add_test(c, locks_above_63_are_locks_of_their_own);
    tcase_add_test(c, consistency_is_scope_unless_the_user_says_so);
    tcase_add_test(c, wait_waits_for_all);
    tcase_add_test(c, wait_is_no_event_of_coherence);
    tcase_add_test(c, condition_variables_release_and_stay_set);
    tcase_add_test(c, config_accepts_all_of_jiajia);
    tcase_add_test(c, clock_and_statistics_count_from_init);
    tcase_add_test(c, divtask_deals_equal_parts);
    tcase_add_test(c, divtask_follows_the_load);
    tcase_add_test(c, messages_cross);
    tcase_add_test(c, a_long_message_goes_on_while_its_sender_is_at_a_barrier);
    tcase_add_test(c, a_long_message_goes_on_while_its_sender_takes_locks);
    tcase_add_test(c, messages_take_shared_memory);
    tcase_add_test(c, a_child_of_fork_ends_alone);
    tcase_add_test(c, messages_nobody_wants_are_dropped_at_exit);
    tcase_add_test(c, reduce_and_bcast_combine);
    tcase_add_test(c, can_be_started_again);
    suite_add_tcase(s, c);
    return s;
}

int
main(int argc, char **argv)
{
    return mpi_main(argc, argv, suite_new());
}
