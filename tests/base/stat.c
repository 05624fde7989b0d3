/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "base/stat.h"

#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/timing.h"
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

START_TEST(a_counter_has_a_line_and_times_are_in_seconds)
{
    static char text[8192];
    FILE       *out = fmemopen(text, sizeof text, "w");

    ck_assert_ptr_ne(out, NULL);
    for (int i = 0; i < HEARTHI_STAT_COUNT; i++)
        hearthi_stat_print(out, (enum hearthi_stat)i, 2500000000u);
    fclose(out);
    for (int i = 0; i < HEARTHI_STAT_COUNT; i++)
        ck_assert_ptr_ne(strstr(text, hearthi_stat_name((enum hearthi_stat)i)),
                         NULL);
    ck_assert_ptr_ne(strstr(text, "getpages            2500000000    pages"),
                     NULL);
    ck_assert_ptr_ne(strstr(text, " 2.500 s  time in page faults"), NULL);
}
END_TEST

/* A locale whose decimal point is a comma, as it is in half of Europe, made
 * here since none may be installed. */
static bool
comma_set(void)
{
    char folder[] = "/tmp/hearth-locale-XXXXXX", command[300];
    int  made;

    if (mkdtemp(folder) == NULL)
        return false;
    snprintf(command, sizeof command,
             "cd %s && printf 'LC_NUMERIC\ndecimal_point \",\"\n"
             "thousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n' >source && "
             "localedef -c -i source -f ANSI_X3.4-1968 ./comma 2>/dev/null",
             folder);
    made = system(command); /* 1: it warns of categories that are not there */
    setenv("LOCPATH", folder, 1);
    made = setlocale(LC_ALL, "comma") != NULL && made != -1;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 && made;
}

__attribute__((format(printf, 3, 4))) static void
format(char *out, size_t room, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    hearthi_format(out, room, fmt, ap);
    va_end(ap);
}

START_TEST(a_decimal_point_is_a_point_in_every_locale)
{
    static char text[8192];
    char        number[16];
    FILE       *out = fmemopen(text, sizeof text, "w");

    ck_assert_ptr_ne(out, NULL);
    if (!comma_set()) {
        fclose(out);
        return; /* no localedef(1) here */
    }
    snprintf(number, sizeof number, "%.1f", 0.5);
    ck_assert_str_eq(number, "0,5");
    hearthi_stat_print(out, HEARTHI_STAT_fault_ns, 2500000000u);
    hearthi_decimal_print(out, 7, 1234567.89);
    fputc(';', out);
    hearthi_decimal_print(out, 15, -0.25);
    fclose(out);
    ck_assert_ptr_ne(strstr(text, " 2.500 s"), NULL);
    ck_assert_ptr_ne(strstr(text, "1234568;-0.25"), NULL);
    format(number, sizeof number, "%g s", 0.5);
    ck_assert_str_eq(number, "0.5 s");
    snprintf(number, sizeof number, "%.1f", 0.5);
    ck_assert_str_eq(number, "0,5"); /* the program's own is left alone */
}
END_TEST

START_TEST(a_value_goes_to_the_bucket_below_which_it_is_not)
{
    const uint64_t       value[] = { 0, 1, 2, 3, 4, 4095, 4096, UINT64_MAX };
    const uint64_t       low[] = { 0, 1, 2, 2, 4, 2048, 4096, 1ull << 63 };
    struct hearthi_tally t;

    for (size_t i = 0; i < sizeof value / sizeof *value; i++) {
        unsigned b = hearthi_bucket(value[i]);

        ck_assert_uint_lt(b, HEARTHI_BUCKETS);
        ck_assert_uint_eq(hearthi_bucket_low(b), low[i]);
    }
    hearthi_tally_reset();
    hearthi_distribute(burst, 5);
    hearthi_distribute(burst, 7);
    hearthi_tally_copy(&t);
    ck_assert_uint_eq(t.bucket[HEARTHI_DISTRIBUTION_burst][3], 2);
}
END_TEST

START_TEST(a_fault_inside_a_call_counts_as_the_call)
{
    uint64_t     call, fault;
    hearth_stats s;

    hearthi_tally_reset();
    call = hearthi_time_begin();
    ck_assert(hearthi_is_waiting());
    fault = hearthi_time_begin();
    hearthi_time_end(fault_ns, fault);
    ck_assert(hearthi_is_waiting());
    hearthi_time_end(lock_ns, call);
    ck_assert(!hearthi_is_waiting());
    hearthi_stats_copy(&s);
    ck_assert_uint_eq(s.fault_ns, 0);
    ck_assert_uint_gt(s.lock_ns, 0);
}
END_TEST

START_TEST(serving_goes_to_what_the_program_did_when_it_began)
{
    struct hearthi_service service = { 0 };
    hearth_stats           s;
    uint64_t               call;

    hearthi_tally_reset();
    hearthi_service_end(&service); /* it had not begun */
    hearthi_service_begin(&service);
    hearthi_service_end(&service);
    hearthi_stats_copy(&s);
    ck_assert(s.service_ns > 0 && s.service_wait_ns == 0);
    call = hearthi_time_begin();
    hearthi_service_begin(&service);
    hearthi_time_end(fault_ns, call);
    hearthi_service_end(&service);
    hearthi_stats_copy(&s);
    ck_assert(s.service_wait_ns > 0);
}
END_TEST

/* A fault takes microseconds, so this is how counting may be always on.  The
 * least of many turns: another process may have the core in some. */
START_TEST(the_time_of_a_call_is_taken_in_less_than_100_ns)
{
    enum { TURNS = 5000, CALLS = 100 };
    uint64_t least = UINT64_MAX;

#ifdef HEARTHI_COVERAGE
    return; /* each line is counted, too */
#endif
    hearthi_clock_open();
    if (hearthi_clock_scale == 0)
        return; /* the kernel's clock may be a system call */
    for (int i = 0; i < TURNS; i++) {
        uint64_t begin = hearthi_now(), took;

        for (int k = 0; k < CALLS; k++) {
            uint64_t start = hearthi_time_begin();

            hearthi_count(read_faults, 1);
            hearthi_time_end(fault_ns, start);
        }
        took = hearthi_now() - begin;
        least = took < least ? took : least;
    }
    printf("# %.1f ns\n", (double)least / CALLS);
    ck_timely(least / CALLS < 100);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("stat");
    TCase *tc = tcase_create("counters");

    tcase_add_test(tc, no_count_is_lost_between_threads);
    tcase_add_test(tc, a_reset_forgets_everything);
    tcase_add_test(tc, a_decimal_point_is_a_point_in_every_locale);
    tcase_add_test(tc, a_value_goes_to_the_bucket_below_which_it_is_not);
    tcase_add_test(tc, a_fault_inside_a_call_counts_as_the_call);
    tcase_add_test(tc, serving_goes_to_what_the_program_did_when_it_began);
    tcase_add_test(tc, the_time_of_a_call_is_taken_in_less_than_100_ns);
    tcase_add_test(tc, a_counter_has_a_line_and_times_are_in_seconds);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
