/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "base/stat.h"

#include <pthread.h>
#include <string.h>

#include "harness.h"

enum { THREADS = 4, EACH = 100000 };

static void *
thread_main(void *arg)
{
    (void)arg;
    for (int i = 0; i < EACH; i++)
        hearthi_count(diff_bytes, 3);
    return NULL;
}

START_TEST(no_count_is_lost_between_threads)
{
    pthread_t    thread[THREADS];
    hearth_stats s;

    hearthi_tally_reset();
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, thread_main, NULL),
                         0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    hearthi_stats_copy(&s);
    ck_assert_uint_eq(s.diff_bytes, (uint64_t)3 * THREADS * EACH);
    ck_assert_uint_eq(s.diff_runs, 0);
    ck_assert_uint_eq(s.notices_out, 0);
}
END_TEST

START_TEST(a_reset_forgets_everything)
{
    hearth_stats s, zero;

    memset(&zero, 0, sizeof zero);
    hearthi_count(read_faults, 1);
    hearthi_count(barrier_ns, 1);
    hearthi_tally_reset();
    hearthi_stats_copy(&s);
    ck_assert_mem_eq(&s, &zero, sizeof s);
}
END_TEST

START_TEST(the_table_names_every_counter_and_gives_seconds)
{
    static char  text[8192];
    FILE        *out = fmemopen(text, sizeof text, "w");
    hearth_stats s;

    memset(&s, 0, sizeof s);
    s.getpages = 123456789;
    s.fault_ns = 2500000000u;
    ck_assert_ptr_ne(out, NULL);
    hearthi_stats_print(out, &s, 4);
    fclose(out);
    for (int i = 0; i < HEARTHI_STAT_COUNT; i++)
        ck_assert_ptr_ne(strstr(text, hearthi_stat_name((enum hearthi_stat)i)),
                         NULL);
    ck_assert_ptr_ne(strstr(text, "summed over 4 ranks"), NULL);
    ck_assert_ptr_ne(strstr(text, " 123456789 "), NULL);
    ck_assert_ptr_ne(strstr(text, " 2.500 s"), NULL);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("stat");
    TCase *tc = tcase_create("counters");

    tcase_add_test(tc, no_count_is_lost_between_threads);
    tcase_add_test(tc, a_reset_forgets_everything);
    tcase_add_test(tc, the_table_names_every_counter_and_gives_seconds);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
