/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"

enum { PORT_MAX = 65535 };

static bool
name_good(const char *name)
{
    static const char others[] = "abcdefghijklmnopqrstuvwxyz"
                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

    return *name != '\0' && strlen(name) < HEARTHI_CLUSTER_NAME &&
           name[strspn(name, others)] == '\0';
}

bool
hearthi_conf_setting_cluster(struct hearthi_conf *c, const char *name,
                             const struct hearthi_conf_place *at)
{
    struct hearthi_member *k = &c->cluster[c->n];

    if (!name_good(name))
        return hearthi_link_error(
            at->wrong,
            "%s:%d: cluster [%s]: give a name of 1 to %d "
            "letters, digits, dots, - and _",
            at->path, at->line, name, HEARTHI_CLUSTER_NAME - 1);
    for (int i = 0; i < c->n; i++)
        if (strcmp(c->cluster[i].name, name) == 0)
            return hearthi_link_error(at->wrong,
                                      "%s:%d: cluster [%s] stands in line %d "
                                      "already: give each cluster one section",
                                      at->path, at->line, name,
                                      c->cluster[i].line);
    if (c->n == HEARTHI_CLUSTERS_MAX)
        return hearthi_link_error(
            at->wrong,
            "%s:%d: cluster [%s] is one too many: there may "
            "be %d",
            at->path, at->line, name, HEARTHI_CLUSTERS_MAX);
    strcpy(k->name, name);
    k->line = at->line;
    c->n++;
    return true;
}

/* A number and nothing else, or 0. */
static long
number(const char *text, long max)
{
    char *end;
    long  n;

    errno = 0;
    n = strtol(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end != '\0' || errno != 0 ||
        n > max)
        return 0;
    return n;
}

static bool
ranks_set(struct hearthi_member *k, const char *value,
          const struct hearthi_conf_place *at)
{
    long n = number(value, HEARTHI_CONF_RANKS);

    if (n < 1)
        return hearthi_link_error(
            at->wrong,
            "%s:%d: ranks = %s of [%s]: give a number from 1 "
            "to %d",
            at->path, at->line, value, k->name, HEARTHI_CONF_RANKS);
    k->ranks = (int)n;
    return true;
}

/* HOST:PORT, or [ADDRESS]:PORT, whose address has colons of its own. */
static bool
gateway_split(struct hearthi_member *k, const char *value)
{
    const char *host = value, *end = strrchr(value, ':');
    size_t      len;
    long        port;

    if (end == NULL)
        return false;
    port = number(end + 1, PORT_MAX);
    len = (size_t)(end - host);
    if (*host == '[' && len > 2 && end[-1] == ']') {
        host++;
        len -= 2;
    } else if (memchr(host, ':', len) != NULL) {
        return false;
    }
    if (len == 0 || len >= sizeof k->host || strpbrk(host, "[ \t") != NULL ||
        port < 1 || port > PORT_MAX)
        return false;
    memcpy(k->host, host, len);
    k->host[len] = '\0';
    snprintf(k->port, sizeof k->port, "%ld", port);
    return true;
}

static bool
gateway_set(struct hearthi_conf *c, struct hearthi_member *k,
            const char *value, const struct hearthi_conf_place *at)
{
    if (!gateway_split(k, value))
        return hearthi_link_error(
            at->wrong,
            "%s:%d: gateway = %s of [%s]: give HOST:PORT, or "
            "[ADDRESS]:PORT for IPv6, with a port from 1 to "
            "%d",
            at->path, at->line, value, k->name, PORT_MAX);
    for (int i = 0; i < c->n - 1; i++)
        if (strcmp(c->cluster[i].host, k->host) == 0 &&
            strcmp(c->cluster[i].port, k->port) == 0)
            return hearthi_link_error(
                at->wrong,
                "%s:%d: gateway = %s of [%s] is that of "
                "[%s]: give each its own address, or port",
                at->path, at->line, value, k->name, c->cluster[i].name);
    return true;
}

/* The key's path is relative to the folder of the file. */
static bool
key_set(struct hearthi_conf *c, const char *value,
        const struct hearthi_conf_place *at)
{
    const char *slash = strrchr(c->path, '/');
    int         folder = 0, n;

    if (*value != '/' && slash != NULL)
        folder = (int)(slash + 1 - c->path);
    n = snprintf(c->key, sizeof c->key, "%.*s%s", folder, c->path, value);
    if (*value == '\0' || n < 0 || (size_t)n >= sizeof c->key)
        return hearthi_link_error(
            at->wrong,
            "%s:%d: key = %s: give the name of a file (made "
            "by hearth-gateway --new-key)",
            at->path, at->line, value);
    return true;
}

static bool
twice(const char *name, const struct hearthi_conf_place *at)
{
    return hearthi_link_error(at->wrong, "%s:%d: %s is given twice: leave one",
                              at->path, at->line, name);
}

static bool
common_setting(struct hearthi_conf *c, const char *name, const char *value,
               const struct hearthi_conf_place *at)
{
    if (strcmp(name, "key") != 0)
        return hearthi_link_error(at->wrong,
                                  "%s:%d: %s = %s: before the first [cluster] "
                                  "there is key alone",
                                  at->path, at->line, name, value);
    if (*c->key != '\0')
        return twice(name, at);
    return key_set(c, value, at);
}

bool
hearthi_conf_setting(struct hearthi_conf *c, const char *name,
                     const char *value, const struct hearthi_conf_place *at)
{
    bool                   is_ranks = strcmp(name, "ranks") == 0;
    struct hearthi_member *k;

    if (c->n == 0)
        return common_setting(c, name, value, at);
    k = &c->cluster[c->n - 1];
    if (!is_ranks && strcmp(name, "gateway") != 0)
        return hearthi_link_error(
            at->wrong,
            "%s:%d: %s = %s of [%s]: a cluster has gateway "
            "and ranks%s",
            at->path, at->line, name, value, k->name,
            strcmp(name, "key") == 0 ? "; key stands before the first" : "");
    if (is_ranks ? k->ranks > 0 : *k->host != '\0')
        return twice(name, at);
    return is_ranks ? ranks_set(k, value, at) : gateway_set(c, k, value, at);
}

bool
hearthi_conf_settings_complete(struct hearthi_conf       *c,
                               struct hearthi_link_error *wrong)
{
    if (c->n == 0)
        return hearthi_link_error(
            wrong,
            "%s: no cluster: give each a section, [NAME] "
            "gateway = HOST:PORT ranks = N",
            c->path);
    if (*c->key == '\0')
        return hearthi_link_error(
            wrong,
            "%s: no key: make one with hearth-gateway "
            "--new-key FILE, and give key = FILE before the "
            "first [cluster]",
            c->path);
    for (int i = 0; i < c->n; i++) {
        struct hearthi_member *k = &c->cluster[i];

        if (*k->host == '\0' || k->ranks == 0)
            return hearthi_link_error(
                wrong, "%s:%d: [%s] has no %s: give %s", c->path, k->line,
                k->name, *k->host == '\0' ? "gateway" : "ranks",
                *k->host == '\0' ? "gateway = HOST:PORT" : "ranks = N");
        k->first = c->ranks;
        c->ranks += k->ranks;
    }
    return true;
}
