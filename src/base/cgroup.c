/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "cgroup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

const char *hearthi_cgroup_root = "";

/* ---- the group of this process ---- */

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

/* A line "NUMBER:NAMES:PATH": the path, if the controller is named. */
static const char *
path_in(char *line, const char *controller)
{
    char *names = strchr(line, ':');
    char *path = names == NULL ? NULL : strchr(names + 1, ':');

    if (path == NULL)
        return NULL;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    return is_named(names + 1, controller) ? path : NULL;
}

/* Where version 2 is mounted: below that of version 1 where both are. */
static const char *
mount_of(const char *controller)
{
    char        name[HEARTHI_LINE];
    struct stat s;

    if (controller[0] != '\0')
        return controller;
    snprintf(name, sizeof name, "%s/sys/fs/cgroup/unified/cgroup.procs",
             hearthi_cgroup_root);
    return stat(name, &s) == 0 ? "unified" : "";
}

/* The folder of this process's control group with this controller, and how
 * much of it is the place where it is mounted. */
static bool
group_find(const char *controller, char *folder, size_t *mounted)
{
    char        name[HEARTHI_LINE], line[HEARTHI_LINE];
    const char *path = NULL, *mount = mount_of(controller);
    FILE       *in;

    snprintf(name, sizeof name, "%s/proc/self/cgroup", hearthi_cgroup_root);
    in = hearthi_file_to_read(name);
    while (in != NULL && path == NULL && fgets(line, sizeof line, in) != NULL)
        path = path_in(line, controller);
    if (in != NULL)
        fclose(in);
    if (path == NULL)
        return false;
    *mounted = (size_t)snprintf(folder, HEARTHI_LINE, "%s/sys/fs/cgroup%s%s",
                                hearthi_cgroup_root,
                                mount[0] == '\0' ? "" : "/", mount);
    if (*mounted >= HEARTHI_LINE)
        return false;
    snprintf(folder + *mounted, HEARTHI_LINE - *mounted, "%s",
             strcmp(path, "/") == 0 ? "" : path);
    return true;
}

/* ---- limits ---- */

/* What a group's file says, if it is a limit. */
typedef bool limit_read(const char *folder, const char *file, uint64_t *n);

static bool
number_read(const char *folder, const char *file, uint64_t *n)
{
    char name[2 * HEARTHI_LINE];

    snprintf(name, sizeof name, "%s/%s", folder, file);
    return hearthi_file_number(name, n);
}

/* Thousandths of a processor's time. */
static bool
share_of(uint64_t quota, uint64_t period, uint64_t *n)
{
    if (period == 0)
        return false;
    *n = quota * 1000 / period;
    return true;
}

/* Of version 2: "MICROSECONDS PERIOD". */
static bool
share_read(const char *folder, const char *file, uint64_t *n)
{
    char     name[2 * HEARTHI_LINE], text[HEARTHI_LINE];
    uint64_t quota, period;

    snprintf(name, sizeof name, "%s/%s", folder, file);
    return hearthi_file_line(name, "", text) &&
           sscanf(text, "%" SCNu64 " %" SCNu64, &quota, &period) == 2 &&
           share_of(quota, period, n);
}

/* Of version 1: a file for each. */
static bool
quota_read(const char *folder, const char *file, uint64_t *n)
{
    uint64_t quota, period;

    return number_read(folder, file, &quota) &&
           number_read(folder, "cpu.cfs_period_us", &period) &&
           share_of(quota, period, n);
}

/* The limits that were found so far. */
struct limits {
    struct hearthi_cgroup_limit *l;
    int                          n;
};

/* The place of a group's limit: the group's own if it has one, a new one, or
 * that of the greatest. */
static struct hearthi_cgroup_limit *
place_of(struct limits *all, const struct stat *group)
{
    struct hearthi_cgroup_limit *greatest = all->l;

    for (int i = 0; i < all->n; i++) {
        if (all->l[i].device == group->st_dev &&
            all->l[i].group == group->st_ino)
            return &all->l[i];
        if (all->l[i].most > greatest->most)
            greatest = &all->l[i];
    }
    if (all->n == HEARTHI_LEVELS)
        return greatest;
    all->l[all->n].most = UINT64_MAX;
    return &all->l[all->n++];
}

static void
limit_note(struct limits *all, uint64_t n, const char *folder,
           const char *file)
{
    struct stat                  s;
    struct hearthi_cgroup_limit *l;

    if (stat(folder, &s) != 0)
        return;
    l = place_of(all, &s);
    if (n >= l->most)
        return;
    l->most = n;
    l->device = s.st_dev;
    l->group = s.st_ino;
    snprintf(l->file, sizeof l->file, "%s/%s", folder, file);
}

/* Each group from this process's up.  Where the path is another system's, as
 * in a container without a namespace of groups, its own group is where the
 * controller is mounted. */
static void
limits_find(struct limits *all, const char *controller, const char *file,
            limit_read *read)
{
    char     folder[HEARTHI_LINE];
    size_t   mounted;
    uint64_t n;

    if (!group_find(controller, folder, &mounted))
        return;
    for (;;) {
        if (read(folder, file, &n))
            limit_note(all, n, folder, file);
        if (strlen(folder) <= mounted)
            return;
        *strrchr(folder, '/') = '\0';
    }
}

int
hearthi_cgroup_memory(struct hearthi_cgroup_limit l[HEARTHI_LEVELS])
{
    struct limits all = { l, 0 };

    limits_find(&all, "", "memory.max", number_read);
    limits_find(&all, "", "memory.high", number_read);
    limits_find(&all, "memory", "memory.limit_in_bytes", number_read);
    return all.n;
}

int
hearthi_cgroup_processors(struct hearthi_cgroup_limit l[HEARTHI_LEVELS])
{
    struct limits all = { l, 0 };

    limits_find(&all, "", "cpu.max", share_read);
    limits_find(&all, "cpu", "cpu.cfs_quota_us", quota_read);
    return all.n;
}

struct hearthi_cgroup_limit
hearthi_cgroup_least(const struct hearthi_cgroup_limit *l, int n)
{
    struct hearthi_cgroup_limit least = { .most = UINT64_MAX };

    for (int i = 0; i < n; i++)
        if (l[i].most < least.most)
            least = l[i];
    return least;
}

uint64_t
hearthi_cgroup_number(const char *controller, const char *file)
{
    struct hearthi_cgroup_limit l[HEARTHI_LEVELS];
    struct limits               all = { l, 0 };

    limits_find(&all, controller, file, number_read);
    return hearthi_cgroup_least(l, all.n).most;
}
