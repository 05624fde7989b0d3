/* SPDX-License-Identifier: BSD-2-Clause
 *
 * libFuzzer's way to the file that names clusters (fuzz.sh).  What is taken is
 * within its bounds, and a file that says the same reads the same; what is not
 * taken is told in one line that begins with the file's name.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "link/conf.h"

static struct hearthi_conf *
bytes_read(const void *bytes, size_t len, struct hearthi_link_error *wrong)
{
    char                 path[40];
    int                  fd = memfd_create("conf", 0);
    struct hearthi_conf *c;

    must(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    c = hearthi_conf_read(path, wrong);
    close(fd);
    must(c != NULL || strncmp(wrong->text, "/proc/self/fd/", 14) == 0);
    return c;
}

static void
holds(const struct hearthi_conf *c)
{
    int ranks = 0;

    must(c->n > 0 && c->n <= HEARTHI_CLUSTERS_MAX && c->key[0] != '\0');
    for (int i = 0; i < c->n; i++) {
        const struct hearthi_member *m = &c->cluster[i];
        char                         at[HEARTHI_GATEWAY_NAME];

        must(m->name[0] != '\0' && m->host[0] != '\0' && m->port[0] != '\0');
        must(memchr(m->name, '\0', sizeof m->name) != NULL);
        must(memchr(m->host, '\0', sizeof m->host) != NULL);
        must(m->ranks > 0 && m->first == ranks);
        must(strlen(hearthi_conf_gateway(m, at)) < sizeof at);
        ranks += m->ranks;
    }
    must(ranks == c->ranks);
}

static void
again(const struct hearthi_conf *c)
{
    enum { ROOM = 1 << 16 };
    static char               text[ROOM];
    struct hearthi_link_error wrong;
    struct hearthi_conf      *same;
    size_t                    n = 0;

    n += (size_t)snprintf(text, ROOM, "key = /k\n");
    for (int i = 0; i < c->n; i++) {
        char at[HEARTHI_GATEWAY_NAME];

        n += (size_t)snprintf(
            text + n, ROOM - n, "[%s] gateway=%s\nranks = %d\n",
            c->cluster[i].name, hearthi_conf_gateway(&c->cluster[i], at),
            c->cluster[i].ranks);
    }
    same = bytes_read(text, n, &wrong);
    must(same != NULL && same->n == c->n && same->ranks == c->ranks);
    for (int i = 0; i < c->n; i++) {
        must(strcmp(same->cluster[i].name, c->cluster[i].name) == 0);
        must(strcmp(same->cluster[i].host, c->cluster[i].host) == 0);
        must(strcmp(same->cluster[i].port, c->cluster[i].port) == 0);
        must(hearthi_conf_find(same, c->cluster[i].name, &wrong) == i);
    }
    free(same);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hearthi_link_error wrong = { "" };
    struct hearthi_conf      *c = bytes_read(data, len, &wrong);

    if (c == NULL)
        return 0;
    holds(c);
    again(c);
    free(c);
    return 0;
}
