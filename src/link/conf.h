/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The file that names the clusters of a job, their gateways and the key:
 *
 *     # clusters.conf
 *     key = clusters.key
 *     [kyushu]  gateway = 192.0.2.10:7100  ranks = 8
 *     [tokyo]
 *     gateway = [2001:db8::4]:7100
 *     ranks = 8
 *
 * An INI file, read by inih: sections are clusters, in the order in which they
 * count their ranks.  Settings may stand in lines of their own or one after
 * the other; what follows # or ; is a comment.
 */
#ifndef HEARTHI_LINK_CONF_H
#define HEARTHI_LINK_CONF_H

#include <stdio.h>

#include "key.h"

enum {
    HEARTHI_CLUSTERS_MAX = 64,
    HEARTHI_CLUSTER_NAME = 49, /* bytes, with the end; inih's own limit */
    HEARTHI_GATEWAY_HOST = 256,
    HEARTHI_CONF_LINE = 1022, /* bytes of a line of the file, with its end */
    HEARTHI_CONF_RANKS = 1000000, /* of a cluster */
};

struct hearthi_member {
    char name[HEARTHI_CLUSTER_NAME];
    char host[HEARTHI_GATEWAY_HOST]; /* of its gateway; no brackets */
    char port[6];
    int  ranks, first; /* how many, and the number of the first */
    int  line;         /* of the file */
};

struct hearthi_conf {
    char                  path[4096], key[4096];
    int                   n, ranks; /* clusters; ranks of all */
    struct hearthi_member cluster[HEARTHI_CLUSTERS_MAX];
};

/* NULL with what is wrong, else to be freed. */
struct hearthi_conf *hearthi_conf_read(const char                *path,
                                       struct hearthi_link_error *wrong);

/* Index of the cluster of that name, or -1 with what is wrong. */
int hearthi_conf_find(const struct hearthi_conf *conf, const char *name,
                      struct hearthi_link_error *wrong);

/* Its gateway as it stands there, "192.0.2.10:7100" or "[2001:db8::4]:7100";
 * returns out. */
enum { HEARTHI_GATEWAY_NAME = HEARTHI_GATEWAY_HOST + 10 };
const char *hearthi_conf_gateway(const struct hearthi_member *c,
                                 char out[static HEARTHI_GATEWAY_NAME]);

/* "kyushu:8,tokyo:8": what all clusters must have in common of their files.
 * Addresses are not: behind a translation of addresses a gateway has one for
 * itself and another for others. */
void hearthi_conf_text(const struct hearthi_conf *conf, char *out,
                       size_t room);

/* ---- what the settings mean, one by one (conf_setting.c) ---- */

/* Each has a place (file and line) for the line that says what is wrong. */
struct hearthi_conf_place {
    const char                *path;
    int                        line;
    struct hearthi_link_error *wrong;
};

/* A section begins. */
bool hearthi_conf_setting_cluster(struct hearthi_conf *c, const char *name,
                                  const struct hearthi_conf_place *at);

/* NAME = VALUE, of the last section or, before the first, of all. */
bool hearthi_conf_setting(struct hearthi_conf *c, const char *name,
                          const char                      *value,
                          const struct hearthi_conf_place *at);

/* The end of the file: is everything there? */
bool hearthi_conf_settings_complete(struct hearthi_conf       *c,
                                    struct hearthi_link_error *wrong);

#endif
