/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the kernel says in files: a line, a number, and the least of it in the
 * control groups that this process is in.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "info.h"

bool
info_line_find(const char *file, const char *word, char *text)
{
    FILE  *in = fopen(file, "r");
    size_t len = strlen(word);
    bool   found = false;

    while (in != NULL && !found && fgets(text, INFO_LINE, in) != NULL)
        found = strncmp(text, word, len) == 0;
    if (in != NULL)
        fclose(in);
    if (!found)
        return false;
    memmove(text, text + len, strlen(text + len) + 1);
    text[strcspn(text, "\n")] = '\0';
    return true;
}

bool
info_number_read(const char *file, uint64_t *n)
{
    char text[INFO_LINE];

    if (!info_line_find(file, "", text) || text[0] < '0' || text[0] > '9')
        return false; /* "max" */
    *n = strtoull(text, NULL, 10);
    return true;
}

/* Is it among the names of a line of /proc/self/cgroup, which commas part? */
static bool
is_named(const char *names, const char *controller)
{
    size_t len = strlen(controller), n;

    for (;; names += n + 1) {
        n = strcspn(names, ",");
        if (n == len && strncmp(names, controller, n) == 0)
            return true;
        if (names[n] == '\0')
            return false;
    }
}

/* The folder of this process's control group with this controller ("" is
 * version 2), and how much of it is the place where it is mounted. */
static bool
group_find(const char *controller, char *folder, size_t *mounted)
{
    FILE *in = fopen("/proc/self/cgroup", "r");
    char  line[INFO_LINE];
    bool  found = false;

    while (in != NULL && !found && fgets(line, sizeof line, in) != NULL) {
        char *names = strchr(line, ':');
        char *path = names == NULL ? NULL : strchr(names + 1, ':');

        if (path == NULL)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        found = is_named(names + 1, controller);
        if (!found)
            continue;
        *mounted =
            (size_t)snprintf(folder, INFO_LINE, "/sys/fs/cgroup%s%s",
                             controller[0] == '\0' ? "" : "/", controller);
        snprintf(folder + *mounted, INFO_LINE - *mounted, "%s", path);
    }
    if (in != NULL)
        fclose(in);
    return found;
}

bool
info_group_least(const char *controller, const char *file, uint64_t *least)
{
    char     folder[INFO_LINE], name[INFO_LINE + 64];
    size_t   mounted;
    uint64_t n;
    bool     found = false;

    if (!group_find(controller, folder, &mounted))
        return false;
    for (;;) {
        snprintf(name, sizeof name, "%s/%s", folder, file);
        if (info_number_read(name, &n) && (!found || n < *least)) {
            *least = n;
            found = true;
        }
        if (strlen(folder) <= mounted)
            return found;
        *strrchr(folder, '/') = '\0';
    }
}
