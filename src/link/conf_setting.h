/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the settings of the clusters' file mean, one by one.
 */
#ifndef HEARTHI_CONF_SETTING_H
#define HEARTHI_CONF_SETTING_H

#include "conf.h"

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
