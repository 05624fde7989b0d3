/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "job_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/report.h"
#include "meta.h"

static struct hearthi_folder restarted = { -1, -1 }, other = { -1, -1 };
static char                  began_in[HEARTHI_FOLDER_PATH]; /* or empty */

/* ---- names ---- */

void
hearthi_job_folder_open(void)
{
    if (getcwd(began_in, sizeof began_in) == NULL)
        began_in[0] = '\0';
}

int
hearthi_job_folder_path(const char *where, bool from_option,
                        char path[HEARTHI_FOLDER_PATH])
{
    char        now[HEARTHI_FOLDER_PATH];
    const char *in = began_in;
    int         n;

    if (!from_option)
        in = getcwd(now, sizeof now);
    if (where[0] == '/')
        in = NULL;
    else if (in == NULL || in[0] == '\0')
        return from_option ? ENOENT : errno;
    n = snprintf(path, HEARTHI_FOLDER_PATH, "%s%s%s", in == NULL ? "" : in,
                 in == NULL ? "" : "/", where);
    return n < 0 || n >= HEARTHI_FOLDER_PATH ? ENAMETOOLONG : 0;
}

/* ---- folders ---- */

/* What the last one says that can be read: false if there is none. */
static bool
last_read(const struct hearthi_folder *f, struct hearthi_meta *m)
{
    uint64_t *number;
    size_t    n;
    bool      known = false;
    int       failed = hearthi_folder_numbers(f->fd, &number, &n);

    while (failed == 0 && n-- > 0 && !known) {
        int fd = hearthi_folder_number(f->fd, number[n]);

        known = fd >= 0 && hearthi_meta_read(m, fd) == 0;
        if (fd >= 0)
            close(fd);
    }
    free(number);
    return known;
}

static void
program_check(const struct hearthi_folder *f, const char *where)
{
    char                name[HEARTHI_META_PROGRAM];
    struct hearthi_meta m;

    hearthi_program_name(name);
    if (!last_read(f, &m))
        return;
    if (strcmp(m.head.program, name) != 0)
        hearthi_fatal("hearth_checkpoint",
                      "%s has checkpoints of %s, and this is %s: give each "
                      "program a folder of its own",
                      where, m.head.program, name);
    hearthi_meta_free(&m);
}

static bool
is_at(const struct hearthi_folder *f, const char *path)
{
    struct stat have, named;

    return f->fd >= 0 && fstat(f->fd, &have) == 0 && stat(path, &named) == 0 &&
           have.st_dev == named.st_dev && have.st_ino == named.st_ino;
}

int
hearthi_job_folder_use(const char *path, const char *where,
                       const struct hearthi_folder **f)
{
    int failed;

    *f = is_at(&restarted, path) ? &restarted : &other;
    if (is_at(*f, path))
        return 0;
    hearthi_folder_close(&other);
    failed = hearthi_folder_open(&other, path, true);
    if (failed == EBUSY)
        hearthi_fatal("hearth_checkpoint",
                      "another job writes checkpoints to %s: give each job "
                      "a folder of its own, or remove %s/lock if that job is "
                      "gone with its machine",
                      where, where);
    if (failed == 0)
        program_check(&other, where);
    return failed;
}

/* The next start is another run if the library is opened again. */
void
hearthi_job_folder_give(const struct hearthi_folder *f)
{
    hearthi_folder_close(&restarted);
    restarted = *f;
}

void
hearthi_job_folder_started(uint64_t number, unsigned times)
{
    if (restarted.fd >= 0)
        hearthi_folder_started(restarted.fd, number, times);
}

void
hearthi_job_folder_ended(void)
{
    if (restarted.fd >= 0)
        hearthi_folder_ended(restarted.fd);
}

void
hearthi_job_folder_close(void)
{
    hearthi_folder_close(&restarted);
    hearthi_folder_close(&other);
}
