/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A tree of files of the kernel that is made up: /proc/self/cgroup and control
 * groups with limits, which no system needs to have.
 */
#ifndef HEARTH_MADE_UP_H
#define HEARTH_MADE_UP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cgroup.h"

enum { MADE_UP = 200 };

/* From here on Hearth reads limits in a new folder, which is `root`. */
static inline void
made_up_begin(char root[MADE_UP])
{
    const char *tmp = getenv("TMPDIR");

    snprintf(root, MADE_UP, "%.150s/made-up.XXXXXX",
             tmp == NULL ? "/tmp" : tmp);
    if (mkdtemp(root) == NULL)
        abort();
    hearthi_cgroup_root = root;
}

/* A file there, and the folders to it. */
static inline void
made_up_file(const char *root, const char *path, const char *text)
{
    char  name[2 * MADE_UP];
    FILE *out;

    snprintf(name, sizeof name, "%s/%s", root, path);
    for (char *at = name + strlen(root) + 1; (at = strchr(at, '/')) != NULL;
         *at++ = '/') {
        *at = '\0';
        mkdir(name, 0700);
    }
    out = fopen(name, "w");
    if (out == NULL || fputs(text, out) == EOF || fclose(out) != 0)
        abort();
}

static inline void
made_up_end(const char *root)
{
    char command[MADE_UP + 20];

    hearthi_cgroup_root = "";
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command) != 0)
        abort();
}

#endif
