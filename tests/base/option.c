/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/option.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/network.h"
#include "harness.h"

static const char *fake_name, *fake_value;
static char        why[256];

static char *
fake_env(const char *name)
{
    return fake_name != NULL && strcmp(name, fake_name) == 0
               ? (char *)(size_t)fake_value
               : NULL;
}

/* Load with one variable set. */
static bool
load(struct hearthi_options *opt, const char *name, const char *value)
{
    fake_name = name;
    fake_value = value;
    why[0] = '\0';
    return hearthi_options_load(opt, fake_env, why, sizeof why);
}

START_TEST(defaults_are_valid)
{
    struct hearthi_options opt;

    ck_assert(load(&opt, NULL, NULL));
    ck_assert_uint_eq(opt.page_size, 0);
    ck_assert_uint_eq(opt.heap, 0); /* 256 GiB, or what the kernel gives */
    ck_assert_uint_eq(opt.home, 0);
    ck_assert_uint_eq(opt.cache, 0);
    ck_assert_int_eq(opt.consistency, HEARTHI_RELEASE);
    ck_assert_int_eq(opt.progress, HEARTHI_AUTO);
    ck_assert_int_eq(opt.stats.how, HEARTHI_STATS_NO);
}
END_TEST

START_TEST(a_deadlock_is_looked_for_where_a_time_is_given)
{
    struct hearthi_options opt;

    ck_assert(load(&opt, NULL, NULL));
    ck_assert_uint_eq(opt.deadlock, 0);
    ck_assert(load(&opt, "HEARTH_DEADLOCK", "off"));
    ck_assert_uint_eq(opt.deadlock, 0);
    ck_assert(load(&opt, "HEARTH_DEADLOCK", "3s"));
    ck_assert_uint_eq(opt.deadlock, 3000000000);
    ck_assert(!load(&opt, "HEARTH_DEADLOCK", "soon"));
    ck_assert_ptr_nonnull(strstr(why, "HEARTH_DEADLOCK"));
}
END_TEST

START_TEST(a_page_is_at_least_the_largest_of_all_systems)
{
    const size_t           large = 64 << 10;
    struct hearthi_options opt;

    ck_assert(load(&opt, NULL, NULL));
    ck_assert(hearthi_options_page(&opt, large, why, sizeof why));
    ck_assert_uint_eq(opt.page_size, large);
    ck_assert(load(&opt, "HEARTH_PAGE_SIZE", "128k"));
    ck_assert(hearthi_options_page(&opt, large, why, sizeof why));
    ck_assert_uint_eq(opt.page_size, 2 * large);
    ck_assert(load(&opt, "HEARTH_PAGE_SIZE", "16k"));
    ck_assert(!hearthi_options_page(&opt, large, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "HEARTH_PAGE_SIZE=16384"));
    ck_assert(load(&opt, "HEARTH_CACHE", "512k"));
    ck_assert(!hearthi_options_page(&opt, large, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "HEARTH_CACHE=524288"));
}
END_TEST

START_TEST(a_network_is_a_name_or_has_bits)
{
    static const struct {
        const char *list, *name, *address;
        bool        takes;
    } all[] = {
        { "all", "eth0", "10.1.2.3", true },
        { "eth0", "eth0", "10.1.2.3", true },
        { "eth0", "eth01", "10.1.2.3", false },
        { "10.1.0.0/16", "eth0", "10.1.2.3", true },
        { "10.1.0.0/16", "eth0", "10.2.2.3", false },
        { "10.1.2.0/23", "eth0", "10.1.3.255", true },
        { "10.1.2.0/23", "eth0", "10.1.4.0", false },
        { "10.1.2.3", "eth0", "10.1.2.3", true },
        { "10.1.2.3", "eth0", "10.1.2.4", false },
        { "0.0.0.0/0", "eth0", "192.0.2.1", true },
        { "ib0,192.0.2.0/24", "eth0", "192.0.2.77", true },
        { "ib0,192.0.2.0/24", "eth0", "10.0.2.77", false },
        { "2001:db8::/36", "eth0", "2001:db8:fff::1", true },
        { "2001:db8::/36", "eth0", "2001:db8:1000::1", false },
        { "2001:db8::7", "eth0", "2001:db8::7", true },
        { "2001:db8::/36", "eth0", "10.1.2.3", false },
        { "0.0.0.0/0", "eth0", "2001:db8::7", false },
    };
    static const char *const bad[] = {
        "",
        ",eth0",
        "eth0,",
        "10.1.0.0/33",
        "10.1.0.0/4294967304",
        "10.1.0.0/",
        "10.1.0.0/-1",
        "10.1.0.0/8x",
        "2001:db8::/129",
        "e th",
        "a_name_of_16_in_all",
        "of_more_bytes_than_an_address_of_ipv6_has_with_all_its_bits/128"
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        union hearthi_address a = { .v6 = { .sin6_family = AF_INET6 } };

        ck_assert(hearthi_network_good(all[i].list));
        if (inet_pton(AF_INET6, all[i].address, &a.v6.sin6_addr) != 1) {
            a.v4.sin_family = AF_INET;
            inet_pton(AF_INET, all[i].address, &a.v4.sin_addr);
        }
        ck_assert_int_eq(
            hearthi_network_takes(all[i].list, all[i].name, &a.any),
            all[i].takes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!hearthi_network_good(bad[i]), "%s", bad[i]);
}
END_TEST

START_TEST(sizes_take_a_suffix)
{
    static const struct {
        const char *text;
        size_t      bytes;
    } good[] = { { "8192", 8192 },
                 { "64k", 64 << 10 },
                 { "2M", 2 << 20 },
                 { "3g", (size_t)3 << 30 },
                 { "1T", (size_t)1 << 40 },
                 { "1.5g", (size_t)3 << 29 },
                 { "0.0625T", (size_t)1 << 36 },
                 { "2.00000000000000000000m", 2 << 20 } };
    struct hearthi_options opt;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert(load(&opt, "HEARTH_HEAP", good[i].text));
        ck_assert_uint_eq(opt.heap, good[i].bytes);
    }
}
END_TEST

START_TEST(times_may_have_a_part)
{
    static const struct {
        const char *text;
        size_t      ns;
    } good[] = { { "2s", 2000000000 },
                 { "1.5s", 1500000000 },
                 { "0.25ms", 250000 },
                 { "1.000000001s", 1000000001 } };
    struct hearthi_options opt;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert(load(&opt, "HEARTH_GATEWAY_GIVEUP", good[i].text));
        ck_assert_uint_eq(opt.gateway_giveup, good[i].ns);
    }
}
END_TEST

START_TEST(words_name_their_value)
{
    struct hearthi_options opt;

    ck_assert(load(&opt, "HEARTH_CONSISTENCY", "scope"));
    ck_assert_int_eq(opt.consistency, HEARTHI_SCOPE);
    ck_assert(load(&opt, "HEARTH_RACES", "writes"));
    ck_assert_int_eq(opt.races, HEARTHI_RACES_WRITES);
    ck_assert(!load(&opt, "HEARTH_RACES", "reads"));
    ck_assert(load(&opt, "HEARTH_PROGRESS", "none"));
    ck_assert_int_eq(opt.progress, HEARTHI_NONE);
    ck_assert(load(&opt, "HEARTH_CACHE", "auto"));
    ck_assert_uint_eq(opt.cache, 0);
    ck_assert(load(&opt, "HEARTH_STATS", "on"));
    ck_assert_int_eq(opt.stats.how, HEARTHI_STATS_YES);
    ck_assert(load(&opt, "HEARTH_STATS", "0"));
    ck_assert_int_eq(opt.stats.how, HEARTHI_STATS_NO);
}
END_TEST

START_TEST(a_report_may_name_a_file)
{
    struct hearthi_options opt;

    ck_assert(load(&opt, "HEARTH_STATS", "json:run 1/a:b.json"));
    ck_assert_int_eq(opt.stats.how, HEARTHI_STATS_JSON);
    ck_assert_str_eq(opt.stats.file, "run 1/a:b.json");
    ck_assert(load(&hearthi_opt, "HEARTH_STATS", "JSON:x"));
    ck_assert_str_eq(hearthi_option_text("stats"), "json:x");
}
END_TEST

START_TEST(the_longest_file_name_fits)
{
    static char            text[HEARTHI_FILE_MAX + 8] = "json:";
    struct hearthi_options opt;

    memset(text + 5, 'x', HEARTHI_FILE_MAX - 1);
    ck_assert(load(&hearthi_opt, "HEARTH_STATS", text));
    ck_assert_str_eq(hearthi_option_text("stats"), text);
    text[5 + HEARTHI_FILE_MAX - 1] = 'x';
    ck_assert(!load(&opt, "HEARTH_STATS", text));
}
END_TEST

static const struct {
    const char *name, *value;
} bad[] = {
    { "HEARTH_HEAP", "" },
    { "HEARTH_HEAP", "-1" },
    { "HEARTH_HEAP", " 1g" },
    { "HEARTH_HEAP", "4kb" },
    { "HEARTH_HEAP", "k" },
    { "HEARTH_HEAP", "1e9" },
    { "HEARTH_HEAP", "1.5" },
    { "HEARTH_HEAP", "1.g" },
    { "HEARTH_HEAP", ".5g" },
    { "HEARTH_HEAP", "1,5g" },
    { "HEARTH_HEAP", "1.5.5g" },
    { "HEARTH_HEAP", "1.-5g" },
    { "HEARTH_HEAP", "16777215.99999t" },
    { "HEARTH_HEAP", "0" },
    { "HEARTH_HEAP", "99999999999999999999" },
    { "HEARTH_HEAP", "17179869184g" },
    { "HEARTH_HEAP", "100" },
    { "HEARTH_HOME", "0" },
    { "HEARTH_HOME", "100" },
    { "HEARTH_CACHE", "0" },
    { "HEARTH_CACHE", "60k" },
    { "HEARTH_PAGE_SIZE", "5000" },
    { "HEARTH_PAGE_SIZE", "12k" },
    { "HEARTH_PAGE_SIZE", "2k" },
    { "HEARTH_PAGE_SIZE", "2g" },
    { "HEARTH_PAGE_SIZE", "512g" },
    { "HEARTH_HEAP", "16t" },
    { "HEARTH_NODE_SIZE", "2k" },
    { "HEARTH_NODE_SIZE", "4294967296" },
    { "HEARTH_FETCH_AHEAD", "99999999" },
    { "HEARTH_LOCKS", "0" },
    { "HEARTH_LOCKS", "16777217" },
    { "HEARTH_CONSISTENCY", "strict" },
    { "HEARTH_CONSISTENCY", "releas" },
    { "HEARTH_TRANSPORT", "" },
    { "HEARTH_TRANSPORT", "tcp" },
    { "HEARTH_UDP_ACK", "some" },
    { "HEARTH_UDP_TIMEOUT", "0ms" },
    { "HEARTH_UDP_TIMEOUT", "40" },
    { "HEARTH_UDP_TIMEOUT", "40 ms" },
    { "HEARTH_UDP_TIMEOUT", "-1ms" },
    { "HEARTH_UDP_TIMEOUT", "1.5" },
    { "HEARTH_UDP_TIMEOUT", "0.0001us" },
    { "HEARTH_UDP_TIMEOUT", "99999999999s" },
    { "HEARTH_UDP_GIVEUP", "0s" },
    { "HEARTH_UDP_GIVEUP", "auto" },
    { "HEARTH_UDP_AUTH", "yes" },
    { "HEARTH_UDP_PORT", "70000" },
    { "HEARTH_UDP_DATAGRAM", "100" },
    { "HEARTH_UDP_DATAGRAM", "65000" },
    { "HEARTH_UDP_BUFFER", "16383" },
    { "HEARTH_UDP_BUFFER", "2g" },
    { "HEARTH_UDP_LOCAL", "mpi" },
    { "HEARTH_FABRIC", "udp" },
    { "HEARTH_DIFF_PACK", "0" },
    { "HEARTH_DIFF_PACK", "1023" },
    { "HEARTH_DIFF_PACK", "all" },
    { "HEARTH_DIFF_DEPTH", "0" },
    { "HEARTH_DIFF_DEPTH", "33" },
    { "HEARTH_GATEWAY_GIVEUP", "0s" },
    { "HEARTH_GATEWAY_LANES", "0" },
    { "HEARTH_GATEWAY_LANES", "9" },
    { "HEARTH_UDP_DROP", "100" },
    { "HEARTH_UDP_DUP", "91" },
    { "HEARTH_UDP_REORDER", "91" },
    { "HEARTH_UDP_TEAR", "91" },
    { "HEARTH_UDP_TEAR", "-1" },
    { "HEARTH_UDP_TEAR", " 1" },
    { "HEARTH_UDP_TEAR", "99999999999999999999" },
    { "HEARTH_UDP_DELAY", "soon" },
    { "HEARTH_PROGRESS", "yes" },
    { "HEARTH_STATS", "2" },
    { "HEARTH_STATS", "json" },
    { "HEARTH_STATS", "json:" },
    { "HEARTH_STATS", "xml:file" },
};

/* The reason names a variable; for a page as large as the heap it may be the
 * other one of the two. */
START_TEST(bad_values_are_refused_with_a_reason)
{
    struct hearthi_options opt;

    ck_assert(!load(&opt, bad[_i].name, bad[_i].value));
    ck_assert_msg(strncmp(why, "HEARTH_", 7) == 0, "%s=%s: %s", bad[_i].name,
                  bad[_i].value, why);
    ck_assert_ptr_eq(strchr(why, '\n'), NULL);
}
END_TEST

START_TEST(a_reason_names_variable_value_and_what_is_accepted)
{
    struct hearthi_options opt;

    ck_assert(!load(&opt, "HEARTH_CONSISTENCY", "strict"));
    ck_assert_str_eq(why, "HEARTH_CONSISTENCY=strict is not accepted; give "
                          "release or scope");
}
END_TEST

static const char *const *together; /* names and values, and NULL */

static char *
together_env(const char *name)
{
    for (const char *const *v = together; *v != NULL; v += 2)
        if (strcmp(name, v[0]) == 0)
            return (char *)(size_t)v[1];
    return NULL;
}

#define together_load(...)                                                   \
    (together = (const char *const[]){ __VA_ARGS__, NULL },                  \
     hearthi_options_load(&(struct hearthi_options){ 0 }, together_env, why, \
                          sizeof why))

static bool
depth_loads(const char *transport, const char *ack)
{
    return together_load("HEARTH_DIFF_DEPTH", "4", "HEARTH_TRANSPORT",
                         transport, "HEARTH_UDP_ACK", ack);
}

/* Each takes its most, and no more. */
START_TEST(the_bounds_of_values_are_exact)
{
    static char network[2][HEARTHI_NETWORK_MAX + 1];
    const struct {
        const char *name, *most, *beyond;
    } bound[] = {
        { "HEARTH_HEAP", "17592186036224", "17592186040320" },
        { "HEARTH_PAGE_SIZE", "1g", "2g" },
        { "HEARTH_FETCH_AHEAD", "1048576", "1048577" },
        { "HEARTH_LOCKS", "16777216", "16777217" },
        { "HEARTH_DIFF_DEPTH", "32", "33" },
        { "HEARTH_UDP_DATAGRAM", "61488", "61489" },
        { "HEARTH_GATEWAY_LANES", "8", "9" },
        { "HEARTH_NETWORK", network[0], network[1] },
    };
    struct hearthi_options opt;

    for (int i = 0; i < 2; i++)
        for (int at = 0; at < HEARTHI_NETWORK_MAX - 1 + i; at++)
            network[i][at] = at % 2 == 0 ? 'e' : ',';
    network[1][HEARTHI_NETWORK_MAX - 1] = 'e';
    for (size_t i = 0; i < sizeof bound / sizeof *bound; i++) {
        if (i == 0 && sysconf(_SC_PAGESIZE) != 4096)
            continue; /* so many pages of that size */
        ck_assert_msg(load(&opt, bound[i].name, bound[i].most), "%s: %s",
                      bound[i].name, why);
        ck_assert_msg(!load(&opt, bound[i].name, bound[i].beyond),
                      "%s: %s is taken", bound[i].name, bound[i].beyond);
    }
}
END_TEST

START_TEST(prediction_excludes_that_nothing_is_fetched_ahead)
{
    ck_assert(
        together_load("HEARTH_PREDICT", "on", "HEARTH_FETCH_AHEAD", "2"));
    ck_assert(
        together_load("HEARTH_PREDICT", "auto", "HEARTH_FETCH_AHEAD", "0"));
    ck_assert(
        !together_load("HEARTH_PREDICT", "on", "HEARTH_FETCH_AHEAD", "1"));
    ck_assert_str_eq(why, "HEARTH_PREDICT=on does not go with "
                          "HEARTH_FETCH_AHEAD=1, which fetches no page that "
                          "was not touched: give one of the two");
}
END_TEST

/* Over mpi nobody looks at HEARTH_UDP_ACK. */
START_TEST(several_messages_of_diffs_exclude_a_wait_for_each)
{
    ck_assert(depth_loads("udp", "none"));
    ck_assert(depth_loads("mpi", "all"));
    ck_assert(!depth_loads("udp", "page"));
    ck_assert(!depth_loads("udp", "all"));
    ck_assert_str_eq(why, "HEARTH_DIFF_DEPTH=4 does not go with "
                          "HEARTH_UDP_ACK=all, which waits for each message: "
                          "give one of the two");
}
END_TEST

START_TEST(one_by_one_is_a_page_at_most_and_one_message)
{
    static const struct {
        const char *pack;
        size_t      depth;
        bool        one_by_one;
    } way[] = { { "auto", 1, false }, { "4k", 0, false }, { "4k", 2, false },
                { "4k", 1, true },    { "1k", 1, true },  { "8k", 1, false } };

    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        ck_assert(load(&hearthi_opt, "HEARTH_DIFF_PACK", way[i].pack));
        hearthi_opt.diff_depth = way[i].depth;
        hearthi_opt.page_size = 4096;
        ck_assert_int_eq(hearthi_diffs_one_by_one(), way[i].one_by_one);
    }
}
END_TEST

START_TEST(an_endless_value_stays_one_short_line)
{
    static char            text[10000];
    struct hearthi_options opt;

    memset(text, 'x', sizeof text - 1);
    ck_assert(!load(&opt, "HEARTH_TRANSPORT", text));
    ck_assert_uint_lt(strlen(why), 200);
}
END_TEST

START_TEST(values_print_as_they_are_typed)
{
    ck_assert(load(&hearthi_opt, "HEARTH_CACHE", "1536k"));
    ck_assert_str_eq(hearthi_option_text("cache"), "1536k");
    ck_assert_str_eq(hearthi_option_text("home"), "auto");
    ck_assert_str_eq(hearthi_option_text("heap"), "auto");
    ck_assert_str_eq(hearthi_option_text("node_size"), "0");
    ck_assert_str_eq(hearthi_option_text("transport"), "mpi");
    ck_assert_str_eq(hearthi_option_text("stats"), "no");
    ck_assert_ptr_eq(hearthi_option_text("HEARTH_HEAP"), NULL);
}
END_TEST

START_TEST(unknown_names_are_counted)
{
    static char home[] = "HOME=/", typo[] = "HEARTH_PAGESIZE=1",
                good[] = "HEARTH_CACHE=8", prefix[] = "HEARTH_HEA=1";
    static char *env[] = { home, typo, good, prefix, NULL };

    ck_assert_int_eq(hearthi_options_unknown(env), 2);
}
END_TEST

START_TEST(the_nearest_name_is_found)
{
    static const struct {
        const char *typo, *meant;
    } name[] = {
        { "HEARTH_PAGESIZE", "HEARTH_PAGE_SIZE" },
        { "HEARTH_HEEP", "HEARTH_HEAP" },
        { "HEARTH_TRANPSORT", "HEARTH_TRANSPORT" },
        { "HEARTH_STAT", "HEARTH_STATS" },
    };

    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        ck_assert_str_eq(
            hearthi_option_nearest(name[i].typo, strlen(name[i].typo)),
            name[i].meant);
}
END_TEST

/* ---- the addresses that are told ---- */

static struct hearthi_addresses
loopbacks(const char *const *text, int n)
{
    struct hearthi_addresses all = { .n = n };

    for (int i = 0; i < n; i++)
        if (inet_pton(AF_INET, text[i], &all.at[i].v4.sin_addr) == 1) {
            all.at[i].v4.sin_family = AF_INET;
        } else {
            all.at[i].v6.sin6_family = AF_INET6;
            inet_pton(AF_INET6, text[i], &all.at[i].v6.sin6_addr);
        }
    return all;
}

/* Does what is sent to that address of this host arrive at a socket that is
 * bound to those? */
static bool
hears(int type, struct hearthi_addresses told, const char *at)
{
    struct hearthi_addresses to = loopbacks(&at, 1);
    int family = to.at[0].any.sa_family, in = socket(family, type, 0),
        out = socket(family, type | SOCK_NONBLOCK, 0);
    struct pollfd p = { .fd = in, .events = POLLIN };
    bool          heard;

    ck_assert_msg(hearthi_bind(in, &told, 0), "%s", strerror(errno));
    if (type == SOCK_STREAM)
        ck_assert_int_eq(listen(in, 1), 0);
    hearthi_addresses_port(&to, told.at[0].v4.sin_port);
    if (connect(out, &to.at[0].any, hearthi_address_size(&to.at[0])) == 0 ||
        errno == EINPROGRESS)
        send(out, "", 1, MSG_NOSIGNAL);
    heard = poll(&p, 1, 50) == 1;
    close(in);
    close(out);
    return heard;
}

static bool
has(const char *at)
{
    struct hearthi_addresses own = loopbacks(&at, 1);
    int  fd = socket(own.at[0].any.sa_family, SOCK_STREAM, 0);
    bool can = fd >= 0 && hearthi_bind(fd, &own, 0);

    close(fd);
    return can;
}

/* Of one address, and of some. */
START_TEST(what_goes_to_an_address_that_is_not_told_is_not_heard)
{
    static const char *const v4[] = { "127.0.0.2", "127.0.0.3" },
                             *v6[] = { "::1", "2001:db8::1" },
                             *others[] = { "2001:db8::1", "2001:db8::2" };
    static const int type[] = { SOCK_STREAM, SOCK_DGRAM };

    strcpy(hearthi_opt.network.list, "some");
    for (int i = 0; i < 2; i++) {
        ck_assert(hears(type[i], loopbacks(v4, 1), "127.0.0.2"));
        ck_assert(!hears(type[i], loopbacks(v4, 1), "127.0.0.1"));
        ck_assert(hears(type[i], loopbacks(v4, 2), "127.0.0.2"));
        ck_assert(hears(type[i], loopbacks(v4, 2), "127.0.0.3"));
        ck_assert(!hears(type[i], loopbacks(v4, 2), "127.0.0.1"));
        if (!has(v6[0]))
            continue;
        ck_assert(hears(type[i], loopbacks(v6, 2), "::1"));
        ck_assert(!hears(type[i], loopbacks(others, 2), "::1"));
    }
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("option");
    TCase *tc = tcase_create("load");

    tcase_add_test(tc, defaults_are_valid);
    tcase_add_test(tc, a_deadlock_is_looked_for_where_a_time_is_given);
    tcase_add_test(tc, a_page_is_at_least_the_largest_of_all_systems);
    tcase_add_test(tc, a_network_is_a_name_or_has_bits);
    tcase_add_test(tc, what_goes_to_an_address_that_is_not_told_is_not_heard);
    tcase_add_test(tc, sizes_take_a_suffix);
    tcase_add_test(tc, times_may_have_a_part);
    tcase_add_test(tc, words_name_their_value);
    tcase_add_test(tc, a_report_may_name_a_file);
    tcase_add_test(tc, the_longest_file_name_fits);
    tcase_add_loop_test(tc, bad_values_are_refused_with_a_reason, 0,
                        (int)(sizeof bad / sizeof *bad));
    tcase_add_test(tc, a_reason_names_variable_value_and_what_is_accepted);
    tcase_add_test(tc, several_messages_of_diffs_exclude_a_wait_for_each);
    tcase_add_test(tc, the_bounds_of_values_are_exact);
    tcase_add_test(tc, prediction_excludes_that_nothing_is_fetched_ahead);
    tcase_add_test(tc, one_by_one_is_a_page_at_most_and_one_message);
    tcase_add_test(tc, an_endless_value_stays_one_short_line);
    tcase_add_test(tc, values_print_as_they_are_typed);
    tcase_add_test(tc, unknown_names_are_counted);
    tcase_add_test(tc, the_nearest_name_is_found);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
