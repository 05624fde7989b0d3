/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What HEARTH_STATS=json:FILE leaves in the file, read again with libjansson.
 */
#include <jansson.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/stat.h"
#include "fixture.h"

enum { PAGES = 10, WORDS = 3 };

static char    path[64];
static json_t *report; /* rank 0's */

static struct { /* what a rank knew itself of the run that is reported */
    int          nodes, away, udp; /* away: from rank 0's node */
    hearth_stats stats;            /* as hearth_get_stats() gives them */
} mine, *all;

/* Start Hearth so that rank 0 will write to the file. */
static void
start(void)
{
    char value[80];

    snprintf(path, sizeof path, "/tmp/hearth-stats.%ld", (long)getpid());
    snprintf(value, sizeof value, "json:%s", path);
    fixture_start_with("STATS", value);
}

/* Stop it, and read what rank 0 has written. */
static void
stop(void)
{
    json_error_t why;

    mine.nodes = hearth_nodes();
    mine.away = apart(me, 0);
    mine.udp = strcmp(hearth_option("transport"), "udp") == 0;
    hearth_get_stats(&mine.stats);
    all = realloc(all, (size_t)ranks * sizeof *all);
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0,
               MPI_COMM_WORLD);
    hearth_finalize();
    json_decref(report);
    report = NULL;
    if (me == 0) {
        report = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
        expect(report != NULL);
        expect(unlink(path) == 0);
    }
}

static json_t *
rank_at(int rank)
{
    return json_array_get(json_object_get(report, "rank"), (size_t)rank);
}

static long long
counter(const json_t *counters, const char *name)
{
    return json_integer_value(json_object_get(counters, name));
}

static long long
rank_counter(int rank, const char *name)
{
    return counter(json_object_get(rank_at(rank), "counters"), name);
}

static json_t *
distribution(int rank, const char *name)
{
    return json_object_get(json_object_get(rank_at(rank), "distributions"),
                           name);
}

/* All counts of a distribution. */
static long long
distributed(int rank, const char *name)
{
    const json_t *d = distribution(rank, name);
    long long     sum = 0, before = -1;

    expect(json_is_array(d));
    for (size_t i = 0; i < json_array_size(d); i++) {
        const json_t *pair = json_array_get(d, i);
        long long     low = json_integer_value(json_array_get(pair, 0));

        expect_eq(json_array_size(pair), 2);
        expect((low & (low - 1)) == 0 && low > before);
        before = low;
        expect(json_integer_value(json_array_get(pair, 1)) > 0);
        sum += json_integer_value(json_array_get(pair, 1));
    }
    return sum;
}

/* Every rank writes three words of ten pages that have their home on rank 0,
 * so that a rank of another node sends ten diffs of 24 bytes; a lock, too.
 * One run is enough for the tests that look at its report. */
static void
run(void)
{
    int64_t *p;

    if (all != NULL)
        return;
    start();
    p = hearth_alloc((size_t)ranks * PAGES * page_bytes() / sizeof *p,
                     sizeof *p, hearth_on(0));
    barrier();
    hearth_stats_start();
    for (int i = 0; i < PAGES; i++)
        for (int k = 0; k < WORDS; k++)
            word(p, me * PAGES + i)[2 * k] = i + 1;
    hearth_lock(1);
    hearth_unlock(1);
    barrier();
    hearth_stats_stop();
    hearth_lock(2); /* not in the section */
    hearth_unlock(2);
    barrier();
    hearth_free(p);
    stop();
}

START_TEST(the_file_says_who_took_part_and_with_which_options)
{
    char name[MPI_MAX_LIBRARY_VERSION_STRING];
    int  len;

    run();
    MPI_Get_library_version(name, &len);
    if (me == 0) {
        const char   *mpi = json_string_value(json_object_get(report, "mpi"));
        const json_t *options = json_object_get(report, "options");
        const char   *stats =
            json_string_value(json_object_get(options, "HEARTH_STATS"));

        expect_eq(counter(report, "ranks"), ranks);
        expect_eq(counter(report, "nodes"), mine.nodes);
        expect_eq(json_array_size(json_object_get(report, "rank")), ranks);
        expect(mpi != NULL && strncmp(mpi, name, 4) == 0 &&
               strchr(mpi, '\n') == NULL);
        expect(stats != NULL && strcmp(stats + strlen("json:"), path) == 0);
        expect(json_object_get(options, "HEARTH_UDP_SEED") != NULL);
    }
    all_expected();
}
END_TEST

START_TEST(the_sums_are_those_of_the_ranks)
{
    const json_t *sums;

    run();
    sums = json_object_get(report, "sum");
    for (int i = 0; me == 0 && i < HEARTHI_STAT_COUNT; i++) {
        const char *name = hearthi_stat_name((enum hearthi_stat)i);
        long long   sum = 0;

        expect(json_is_integer(json_object_get(sums, name)));
        for (int r = 0; r < ranks; r++)
            sum += rank_counter(r, name);
        expect_eq(sum, counter(sums, name));
    }
    all_expected();
}
END_TEST

START_TEST(each_rank_is_reported_with_what_it_counted)
{
    run();
    for (int r = 0; me == 0 && r < ranks; r++) {
        expect_eq(rank_counter(r, "diffs"), all[r].stats.diffs);
        expect_eq(rank_counter(r, "getpages"), all[r].stats.getpages);
        expect_eq(rank_counter(r, "intervals"), all[r].stats.intervals);
    }
    all_expected();
}
END_TEST

START_TEST(what_follows_a_section_is_counted_but_not_reported)
{
    run();
    for (int r = 0; me == 0 && r < ranks; r++) {
        expect_eq(rank_counter(r, "locks"), 1);
        expect_eq(all[r].stats.locks, 2);
        expect_eq(rank_counter(r, "barriers"), 1);
        expect_eq(all[r].stats.barriers, 2);
    }
    all_expected();
}
END_TEST

START_TEST(distributions_have_as_many_values_as_were_counted)
{
    run();
    for (int r = 0; me == 0 && r < ranks; r++) {
        long long intervals = rank_counter(r, "intervals");

        expect_eq(distributed(r, "diff_bytes"), rank_counter(r, "diffs"));
        expect_eq(distributed(r, "interval_us"), intervals);
        expect_eq(distributed(r, "burst"), intervals);
        if (!all[r].away)
            continue;
        expect_eq(rank_counter(r, "diffs"), PAGES);
        expect_eq(rank_counter(r, "diff_bytes"), PAGES * WORDS * 8);
    }
    all_expected();
}
END_TEST

/* The lowest bound of a bucket of a distribution. */
static long long
bound(int rank, const char *name)
{
    const json_t *first = json_array_get(distribution(rank, name), 0);

    return json_integer_value(json_array_get(first, 0));
}

START_TEST(a_value_is_in_the_bucket_of_its_power_of_two)
{
    run();
    for (int r = 0; me == 0 && r < ranks; r++)
        if (all[r].away) {
            expect_eq(bound(r, "diff_bytes"), 16); /* 24 */
            expect_eq(bound(r, "burst"), 8);       /* 10 */
        }
    all_expected();
}
END_TEST

START_TEST(the_times_of_a_rank_fit_into_its_section)
{
    double longest;

    run();
    longest = json_real_value(json_object_get(report, "seconds"));
    for (int r = 0; me == 0 && r < ranks; r++) {
        double s = json_real_value(json_object_get(rank_at(r), "seconds"));
        double inside = 1e-9 * (double)(rank_counter(r, "fault_ns") +
                                        rank_counter(r, "lock_ns") +
                                        rank_counter(r, "barrier_ns") +
                                        rank_counter(r, "explicit_ns"));

        expect(inside > 0);
        expect_timely(inside < 1.01 * s);
        expect(s <= longest);
    }
    all_expected();
}
END_TEST

START_TEST(messages_between_nodes_are_counted_and_by_udp_by_operation)
{
    long long   sent = 0, bytes = 0;
    const char *name;
    json_t     *kind;

    run();
    if (me == 0 && mine.nodes > 1) {
        int     r = ranks - 1;
        json_t *messages = json_object_get(rank_at(r), "messages");

        json_object_foreach(messages, name, kind)
        {
            sent += counter(kind, "sent");
            bytes += counter(kind, "bytes");
        }
        expect(rank_counter(r, "messages") > 0);
        expect(rank_counter(r, "message_bytes") > PAGES * WORDS * 8);
        expect_eq(sent, mine.udp ? rank_counter(r, "messages") : 0);
        expect_eq(bytes, mine.udp ? rank_counter(r, "message_bytes") : 0);
    }
    all_expected();
}
END_TEST

START_TEST(without_a_section_all_of_the_run_is_reported)
{
    start();
    hearth_lock(1);
    hearth_unlock(1);
    barrier();
    stop();
    if (me == 0) {
        const json_t *sums = json_object_get(report, "sum");

        expect_eq(counter(sums, "locks"), ranks);
        expect_eq(counter(sums, "barriers"), ranks);
    }
    all_expected();
}
END_TEST

START_TEST(of_several_sections_the_last_is_reported)
{
    start();
    for (int i = 1; i <= 3; i++) {
        hearth_stats_start();
        for (int k = 0; k < i; k++) {
            hearth_lock(me);
            hearth_unlock(me);
        }
        hearth_stats_stop();
        hearth_lock(me);
        hearth_unlock(me);
        hearth_stats_stop(); /* it has ended */
    }
    stop();
    for (int r = 0; me == 0 && r < ranks; r++)
        expect_eq(rank_counter(r, "locks"), 3);
    all_expected();
}
END_TEST

enum { TAG_FETCHED = 5 };

/* The others have fetched, and of that something is counted, which a server
 * does behind its answer. */
static void
work_until_served(bool counts)
{
    enum { MANY = 10000 };
    hearth_stats s;

    for (int r = 1; r < ranks; r++)
        told_by(r, TAG_FETCHED);
    hearth_get_stats(&s);
    for (int i = 0; i < MANY && counts && s.service_ns == 0; i++) {
        sleep_ms(1);
        hearth_get_stats(&s);
    }
}

/* Ranks of other nodes fetch from rank 0 while that is at work outside of
 * Hearth, and then while it waits for them. */
START_TEST(serving_others_is_told_from_what_is_done_while_waiting)
{
    int64_t     *p;
    hearth_stats at_work, waiting;
    bool         udp;

    start();
    udp = strcmp(hearth_option("transport"), "udp") == 0 && hearth_nodes() > 1;
    p = hearth_alloc(2 * PAGES * page_bytes() / sizeof *p, sizeof *p,
                     hearth_on(0));
    barrier();
    for (int i = 0; me != 0 && i < PAGES; i++)
        expect_eq(word(p, i)[0], 0);
    if (me == 0)
        work_until_served(udp);
    else
        tell(0, TAG_FETCHED);
    hearth_get_stats(&at_work);
    barrier();
    if (me != 0)
        sleep_ms(50);
    for (int i = 0; me != 0 && i < PAGES; i++)
        expect_eq(word(p, PAGES + i)[0], 0);
    barrier();
    hearth_get_stats(&waiting);
    expect_timely(me != 0 || !udp || at_work.service_ns > 0);
    expect_timely(waiting.service_wait_ns > at_work.service_wait_ns ||
                  me != 0 || !udp);
    hearth_free(p);
    stop();
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("stats");
    TCase *tc = tcase_create("json");

    tcase_add_test(tc, the_file_says_who_took_part_and_with_which_options);
    tcase_add_test(tc, the_sums_are_those_of_the_ranks);
    tcase_add_test(tc, each_rank_is_reported_with_what_it_counted);
    tcase_add_test(tc, what_follows_a_section_is_counted_but_not_reported);
    tcase_add_test(tc, distributions_have_as_many_values_as_were_counted);
    tcase_add_test(tc, a_value_is_in_the_bucket_of_its_power_of_two);
    tcase_add_test(tc, the_times_of_a_rank_fit_into_its_section);
    tcase_add_test(tc,
                   messages_between_nodes_are_counted_and_by_udp_by_operation);
    tcase_add_test(tc, serving_others_is_told_from_what_is_done_while_waiting);
    tcase_add_test(tc, without_a_section_all_of_the_run_is_reported);
    tcase_add_test(tc, of_several_sections_the_last_is_reported);
    suite_add_tcase(s, tc);
    return mpi_main(argc, argv, s);
}
