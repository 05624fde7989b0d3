/* SPDX-License-Identifier: BSD-2-Clause
 *
 * hearth-gateway: what a job over several clusters needs before it starts.
 */
#include "config.h"

#include <getopt.h>
#include <hearth/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link/conf.h"
#include "link/key.h"

enum { BAD_USAGE = 2 };

static const char help_text[] =
    "Usage: hearth-gateway --new-key FILE\n"
    "       hearth-gateway --check FILE\n"
    "\n"
    "Makes and checks what a job over several clusters (HEARTH_CLUSTERS) "
    "needs.\n"
    "\n"
    "  -k, --new-key FILE  write a new key into FILE, which must not be "
    "there\n"
    "                      yet and which only its owner may read; copy it to\n"
    "                      each cluster, by a way that nobody else can read\n"
    "  -c, --check FILE    read the file that names the clusters, and the "
    "key\n"
    "                      that it names, and print what they say\n"
    "  -h, --help          this\n"
    "  -V, --version       the version\n";

static int
wrong_say(const struct hearthi_link_error *wrong)
{
    fprintf(stderr, "hearth-gateway: %s\n", wrong->text);
    return EXIT_FAILURE;
}

static int
key_make(const char *path)
{
    struct hearthi_link_error wrong;

    if (!hearthi_key_make(path, &wrong))
        return wrong_say(&wrong);
    printf("%s: a new key; copy it to each cluster, and let nobody else read "
           "it\n",
           path);
    return EXIT_SUCCESS;
}

static void
clusters_print(const struct hearthi_conf *c)
{
    for (int i = 0; i < c->n; i++) {
        const struct hearthi_member *k = &c->cluster[i];
        bool                         v6 = strchr(k->host, ':') != NULL;

        printf("%s: ranks %d to %d, gateway %s%s%s port %s\n", k->name,
               k->first, k->first + k->ranks - 1, v6 ? "[" : "", k->host,
               v6 ? "]" : "", k->port);
    }
    printf("%d ranks on %d clusters, key %s\n", c->ranks, c->n, c->key);
}

static int
file_check(const char *path)
{
    struct hearthi_link_error wrong;
    struct hearthi_conf      *c = hearthi_conf_read(path, &wrong);
    unsigned char             key[HEARTHI_KEY_BYTES];
    bool                      good;

    if (c == NULL)
        return wrong_say(&wrong);
    good = hearthi_key_read(c->key, key, &wrong);
    memset(key, 0, sizeof key);
    if (good)
        clusters_print(c);
    free(c);
    return good ? EXIT_SUCCESS : wrong_say(&wrong);
}

static int
usage_bad(const char *why)
{
    fprintf(stderr, "hearth-gateway: %s; see hearth-gateway --help\n", why);
    return BAD_USAGE;
}

int
main(int argc, char **argv)
{
    static const struct option options[] = {
        { "new-key", required_argument, NULL, 'k' },
        { "check", required_argument, NULL, 'c' },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { NULL, 0, NULL, 0 },
    };
    int what = getopt_long(argc, argv, "k:c:hV", options, NULL);

    if (what == '?')
        return usage_bad("that is not understood");
    if (what == -1)
        return usage_bad("nothing to do");
    if (optind < argc)
        return usage_bad("one thing at a time");
    switch (what) {
    case 'k': return key_make(optarg);
    case 'c': return file_check(optarg);
    case 'V': puts("hearth-gateway " HEARTH_VERSION); break;
    default: fputs(help_text, stdout);
    }
    return EXIT_SUCCESS;
}
