/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The file that names clusters, and the key: what is read, and what each
 * mistake gets.
 */
#include "config.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "link/conf.h"
#include "link/key.h"
#include "link/link_address.h"

static char path[] = "./link-conf.XXXXXX";

static struct hearthi_conf *
text_read(const char *text, struct hearthi_link_error *w)
{
    FILE *f = fopen(path, "w");

    fputs(text, f);
    fclose(f);
    return hearthi_conf_read(path, w);
}

START_TEST(the_file_of_the_manual_is_read)
{
    struct hearthi_link_error w;
    char                      text[200];
    struct hearthi_conf      *c =
        text_read("# clusters.conf\n"
                  "key = clusters.key              # made by: hearth-gateway\n"
                  "[kyushu]  gateway = 192.0.2.10:7100   ranks = 8\n"
                  "[tokyo]   gateway = 198.51.100.4:7100 ranks = 8\n",
                  &w);

    ck_assert_msg(c != NULL, "%s", w.text);
    ck_assert_int_eq(c->n, 2);
    ck_assert_int_eq(c->ranks, 16);
    ck_assert_str_eq(c->key, "./clusters.key");
    ck_assert_str_eq(c->cluster[0].name, "kyushu");
    ck_assert_str_eq(c->cluster[0].host, "192.0.2.10");
    ck_assert_str_eq(c->cluster[1].port, "7100");
    ck_assert_int_eq(c->cluster[1].first, 8);
    ck_assert_int_eq(hearthi_conf_find(c, "tokyo", &w), 1);
    hearthi_conf_text(c, text, sizeof text);
    ck_assert_str_eq(text, "kyushu:8,tokyo:8");
    free(c);
}
END_TEST

/* ---- names, of which the system would know few addresses ---- */

enum { MANY = 100 };

/* In place of the C library's. */
int
getaddrinfo(const char *name, const char *port, const struct addrinfo *want,
            struct addrinfo **all)
{
    struct sockaddr_in *at = calloc(MANY, sizeof *at);

    (void)name, (void)port, (void)want;
    *all = calloc(MANY, sizeof **all);
    for (int i = 0; i < MANY; i++) {
        at[i].sin_family = AF_INET;
        at[i].sin_addr.s_addr = htonl(0x0a000001 + (uint32_t)i);
        (*all)[i] = (struct addrinfo){
            .ai_addr = (struct sockaddr *)&at[i],
            .ai_addrlen = sizeof at[i],
            .ai_next = i + 1 < MANY ? &(*all)[i + 1] : NULL,
        };
    }
    return 0;
}

void
freeaddrinfo(struct addrinfo *all)
{
    free(all->ai_addr);
    free(all);
}

START_TEST(no_address_of_a_name_is_left_out)
{
    const struct hearthi_member c = { .host = "many", .port = "1" };
    char                        text[HEARTHI_GATEWAY_TEXT];
    struct hearthi_gateway      g;
    struct hearthi_link_error   w;

    ck_assert(hearthi_gateway_find(&g, &c, &w));
    ck_assert_int_eq(g.n, MANY);
    hearthi_gateway_text((struct sockaddr *)&g.at[MANY - 1].to,
                         g.at[MANY - 1].len, text);
    ck_assert_str_eq(text, "10.0.0.100:0");
    hearthi_gateway_forget(&g);
}
END_TEST

START_TEST(settings_may_have_lines_of_their_own_and_addresses_colons)
{
    char                      gateway[HEARTHI_GATEWAY_NAME];
    struct hearthi_link_error w;
    struct hearthi_conf      *c = text_read("key=/etc/a=b.key\r\n"
                                                 "\n"
                                                 "  [a.b_c-1] ; first\n"
                                                 "    ranks=3\n"
                                                 "    gateway = [2001:db8::4]:1\n"
                                                 "\t[b] # none yet\n"
                                                 "gateway=gw.example.org:65535\n"
                                                 "ranks = 1",
                                            &w);

    ck_assert_msg(c != NULL, "%s", w.text);
    ck_assert_str_eq(c->key, "/etc/a=b.key");
    ck_assert_str_eq(c->cluster[0].host, "2001:db8::4");
    ck_assert_str_eq(hearthi_conf_gateway(&c->cluster[0], gateway),
                     "[2001:db8::4]:1");
    ck_assert_str_eq(c->cluster[0].port, "1");
    ck_assert_str_eq(c->cluster[1].host, "gw.example.org");
    ck_assert_int_eq(c->cluster[1].first, 3);
    free(c);
}
END_TEST

#define KEY "key = k\n"
#define A   "[a] gateway = h:1 ranks = 2\n"

/* What the line has of the file and its line, the value, and the remedy. */
static const struct bad {
    const char *text, *line, *value, *remedy;
} bads[] = {
    { "", "", "no cluster", "give each a section" },
    { A, "", "no key", "hearth-gateway --new-key" },
    { KEY "[a]\n", ":2:", "[a] has no gateway", "gateway = HOST:PORT" },
    { KEY "\n[a] gateway = h:1\n", ":3:", "no ranks", "ranks = N" },
    { KEY "[a] gateway = h:1 ranks = 0\n", ":2:", "ranks = 0", "from 1" },
    { KEY "[a] gateway = h:1 ranks = -3\n", ":2:", "ranks = -3", "from 1" },
    { KEY "[a] gateway = h:1 ranks = 8x\n", ":2:", "ranks = 8x", "number" },
    { KEY "[a] gateway = h:1 ranks =\n", ":2:", "ranks = ", "number" },
    { KEY "[a] gateway = h:1 ranks = 99999999999999999999\n",
      ":2:", "ranks = 9999", "number" },
    { KEY A "[a] gateway = h:2 ranks = 2\n", ":3:", "line 2", "one section" },
    { KEY A "[b] gateway = h:1 ranks = 2\n", ":3:", "that of [a]",
      "its own address" },
    { KEY "[a] gateway = h ranks = 2\n", ":2:", "gateway = h ", "HOST:PORT" },
    { KEY "[a] gateway = h:0\n", ":2:", "h:0", "from 1 to 65535" },
    { KEY "[a] gateway = h:65536\n", ":2:", "h:65536", "from 1 to 65535" },
    { KEY "[a] gateway = :7100\n", ":2:", ":7100", "HOST:PORT" },
    { KEY "[a] gateway = 2001:db8::4:7100\n", ":2:", "2001:db8::4:7100",
      "[ADDRESS]:PORT" },
    { KEY "[a] gateway = [::1]7100\n", ":2:", "[::1]7100", "[ADDRESS]:PORT" },
    { KEY "[a] gatway = h:1\n", ":2:", "gatway = h:1", "gateway and ranks" },
    { "[a] gateway = h:1 ranks = 2\nkey = k\n", ":2:", "key = k",
      "before the first" },
    { "ranks = 3\n", ":1:", "ranks = 3", "key alone" },
    { KEY KEY A, ":2:", "key is given twice", "leave one" },
    { "key =\n" A, ":1:", "key = ", "name of a file" },
    { KEY "[a] ranks = 2 ranks = 3\n", ":2:", "ranks is given twice", "" },
    { KEY "[a b] ranks = 2\n", ":2:", "[a b]", "letters" },
    { KEY "[] ranks = 2\n", ":2:", "[]", "letters" },
    { KEY "[a ranks = 2\n", ":2:", "[a ranks = 2", "[NAME]" },
    { KEY "\n" A "nonsense\n[b]\n", ":4:", "nonsense", "NAME = VALUE" },
    { KEY "[a0123456789012345678901234567890123456789012345678] ranks=1\n",
      ":2:", "[a0123", "1 to 48" },
};

START_TEST(a_mistake_is_one_line_with_place_value_and_remedy)
{
    for (size_t i = 0; i < sizeof bads / sizeof *bads; i++) {
        const struct bad         *b = &bads[i];
        struct hearthi_link_error w = { "" };
        char                      place[64];

        snprintf(place, sizeof place, "%s%s", path, b->line);
        ck_assert_msg(text_read(b->text, &w) == NULL, "taken: %s", b->text);
        ck_assert_msg(strncmp(w.text, place, strlen(place)) == 0 &&
                          strstr(w.text, b->value) != NULL &&
                          strstr(w.text, b->remedy) != NULL &&
                          strchr(w.text, '\n') == NULL,
                      "%s: not %s, %s, %s", w.text, place, b->value,
                      b->remedy);
    }
}
END_TEST

START_TEST(as_many_clusters_and_as_long_a_name_as_may_be_are_read)
{
    static char               text[8000] = KEY;
    char                      name[HEARTHI_CLUSTER_NAME] = "";
    struct hearthi_link_error w;
    struct hearthi_conf      *c;

    memset(name, 'n', sizeof name - 1);
    for (int i = 0; i < HEARTHI_CLUSTERS_MAX - 1; i++)
        sprintf(text + strlen(text), "[c%d] gateway = h:%d ranks = 1\n", i,
                i + 1);
    sprintf(text + strlen(text), "[%s] gateway = h:99 ranks = 1\n", name);
    c = text_read(text, &w);
    ck_assert_msg(c != NULL, "%s", w.text);
    ck_assert_int_eq(c->n, HEARTHI_CLUSTERS_MAX);
    ck_assert_int_eq(hearthi_conf_find(c, name, &w), HEARTHI_CLUSTERS_MAX - 1);
    free(c);
}
END_TEST

/* With a comment, since a setting may be shorter than a line. */
START_TEST(as_long_a_line_and_as_many_ranks_as_may_be_are_read)
{
    static char               text[4000];
    struct hearthi_link_error w;
    struct hearthi_conf      *c;

    sprintf(text, "#%0*d\n" KEY "[a] gateway = h:1 ranks = %d\n",
            HEARTHI_CONF_LINE - 2, 0, HEARTHI_CONF_RANKS);
    c = text_read(text, &w);
    ck_assert_msg(c != NULL, "%s", w.text);
    ck_assert_int_eq(c->ranks, HEARTHI_CONF_RANKS);
    free(c);
    sprintf(text, "#%0*d\n" KEY A, HEARTHI_CONF_LINE - 1, 0);
    ck_assert_ptr_null(text_read(text, &w));
    ck_assert_ptr_nonnull(strstr(w.text, ":1: a line of more than 1022"));
    sprintf(text, KEY "[a] gateway = h:1 ranks = %d\n",
            HEARTHI_CONF_RANKS + 1);
    ck_assert_ptr_null(text_read(text, &w));
    ck_assert_ptr_nonnull(strstr(w.text, "ranks = 1000001"));
}
END_TEST

START_TEST(lines_that_are_too_long_and_clusters_too_many_are_refused)
{
    static char               text[8000] = KEY "[a] gateway = ";
    struct hearthi_link_error w;

    memset(text + strlen(text), 'h', 1500);
    ck_assert_ptr_null(text_read(text, &w));
    ck_assert_ptr_nonnull(strstr(w.text, ":2: a line of more than"));
    strcpy(text + 400, ":1\n");
    ck_assert_ptr_null(text_read(text, &w));
    ck_assert_ptr_nonnull(strstr(w.text, ":2: a setting of more than"));
    strcpy(text, KEY);
    for (int i = 0; i <= HEARTHI_CLUSTERS_MAX; i++)
        sprintf(text + strlen(text), "[c%d] gateway = h:%d ranks = 1\n", i,
                i + 1);
    ck_assert_ptr_null(text_read(text, &w));
    ck_assert_ptr_nonnull(strstr(w.text, ":66: cluster [c64]"));
}
END_TEST

/* A gateway whose host has a name of so many characters. */
static struct hearthi_conf *
host_read(size_t n, struct hearthi_link_error *w)
{
    char host[HEARTHI_GATEWAY_HOST + 1] = "", text[600];

    memset(host, 'h', n);
    snprintf(text, sizeof text, KEY "[a]\ngateway = %s:1\nranks = 1\n", host);
    return text_read(text, w);
}

/* Where inih was built for shorter settings, as long as those are. */
START_TEST(the_name_of_a_gateways_host_is_as_long_as_may_be)
{
    size_t                    n = HEARTHI_GATEWAY_HOST - 1;
    struct hearthi_link_error w;
    struct hearthi_conf      *c;

    while ((c = host_read(n, &w)) == NULL) {
        ck_assert_ptr_nonnull(strstr(w.text, ":3: a setting of more than"));
        ck_assert_uint_gt(n--, 100);
    }
    ck_assert_uint_eq(strlen(c->cluster[0].host), n);
    free(c);
    ck_assert_ptr_null(host_read(HEARTHI_GATEWAY_HOST, &w));
    ck_assert_ptr_nonnull(strstr(w.text, ":3: "));
}
END_TEST

START_TEST(a_cluster_that_the_file_has_not_is_told_of_those_that_are_there)
{
    struct hearthi_link_error w;
    struct hearthi_conf      *c =
        text_read(KEY A "[b] gateway = h:2 ranks = 1\n", &w);

    ck_assert_int_eq(hearthi_conf_find(c, "osaka", &w), -1);
    ck_assert_ptr_nonnull(strstr(w.text, "osaka"));
    ck_assert_ptr_nonnull(strstr(w.text, "there are a, b"));
    free(c);
    ck_assert_ptr_null(hearthi_conf_read("./nowhere.conf", &w));
    ck_assert_ptr_nonnull(strstr(w.text, "nowhere.conf: No such file"));
    ck_assert_ptr_null(hearthi_conf_read(".", &w));
    ck_assert_ptr_nonnull(strstr(w.text, "Is a directory"));
}
END_TEST

/* What would be waited for. */
START_TEST(what_is_no_file_is_refused_at_once)
{
    struct hearthi_link_error w;
    unsigned char             key[HEARTHI_KEY_BYTES];
    static const char         pipe[] = "./link-conf.pipe";

    unlink(pipe);
    ck_assert_int_eq(mkfifo(pipe, 0600), 0);
    ck_assert_ptr_null(hearthi_conf_read(pipe, &w));
    ck_assert_ptr_nonnull(strstr(w.text, "link-conf.pipe: no file"));
    ck_assert(!hearthi_key_read(pipe, key, &w));
    ck_assert_ptr_nonnull(strstr(w.text, "is no file"));
    unlink(pipe);
}
END_TEST

static bool
key_text(const char *text, struct hearthi_link_error *w)
{
    unsigned char key[HEARTHI_KEY_BYTES];
    FILE         *f = fopen(path, "w");

    fputs(text, f);
    fclose(f);
    return hearthi_key_read(path, key, w);
}

START_TEST(a_key_is_made_once_and_only_its_owner_may_read_it)
{
    struct hearthi_link_error w;
    unsigned char             one[HEARTHI_KEY_BYTES], two[HEARTHI_KEY_BYTES];
    struct stat               s;

    ck_assert(!hearthi_key_make(path, &w));
    ck_assert_ptr_nonnull(strstr(w.text, "never overwritten"));
    unlink(path);
    ck_assert(!hearthi_key_read(path, one, &w));
    ck_assert_ptr_nonnull(strstr(w.text, "--new-key"));
    ck_assert(hearthi_key_make(path, &w));
    ck_assert_int_eq(stat(path, &s), 0);
    ck_assert_int_eq(s.st_mode & 07777, 0600);
    ck_assert(hearthi_key_read(path, one, &w));
    unlink(path);
    ck_assert(hearthi_key_make(path, &w));
    ck_assert(hearthi_key_read(path, two, &w));
    ck_assert_int_ne(memcmp(one, two, sizeof one), 0);
    chmod(path, 0640);
    ck_assert(!hearthi_key_read(path, two, &w));
    ck_assert_ptr_nonnull(strstr(w.text, "chmod 600"));
}
END_TEST

#define HEX "00112233445566778899aabbccddeeFF"

START_TEST(a_file_that_is_no_key_is_refused)
{
    struct hearthi_link_error w;
    unsigned char             key[HEARTHI_KEY_BYTES];

    chmod(path, 0600);
    ck_assert(key_text(HEX HEX "\n", &w));
    ck_assert(key_text(HEX HEX, &w));
    ck_assert(!key_text("", &w));
    ck_assert(!key_text(HEX "\n", &w));
    ck_assert_ptr_nonnull(strstr(w.text, "but less"));
    ck_assert(!key_text(HEX HEX "0\n", &w));
    ck_assert(!key_text(HEX HEX "\nmore\n", &w));
    ck_assert(!key_text("x" HEX HEX, &w));
    ck_assert(!hearthi_key_read(".", key, &w));
    ck_assert_ptr_nonnull(strstr(w.text, "is no file"));
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("link_conf");
    TCase *tc = tcase_create("link_conf");

    if (mkstemp(path) < 0)
        return EXIT_FAILURE;
    tcase_add_test(tc, the_file_of_the_manual_is_read);
    tcase_add_test(tc, no_address_of_a_name_is_left_out);
    tcase_add_test(tc,
                   settings_may_have_lines_of_their_own_and_addresses_colons);
    tcase_add_test(tc, a_mistake_is_one_line_with_place_value_and_remedy);
    tcase_add_test(tc, as_many_clusters_and_as_long_a_name_as_may_be_are_read);
    tcase_add_test(tc, as_long_a_line_and_as_many_ranks_as_may_be_are_read);
    tcase_add_test(tc,
                   lines_that_are_too_long_and_clusters_too_many_are_refused);
    tcase_add_test(tc, the_name_of_a_gateways_host_is_as_long_as_may_be);
    tcase_add_test(
        tc, a_cluster_that_the_file_has_not_is_told_of_those_that_are_there);
    tcase_add_test(tc, what_is_no_file_is_refused_at_once);
    tcase_add_test(tc, a_key_is_made_once_and_only_its_owner_may_read_it);
    tcase_add_test(tc, a_file_that_is_no_key_is_refused);
    suite_add_tcase(s, tc);
    unit_main(s);
    unlink(path);
    return EXIT_SUCCESS;
}
