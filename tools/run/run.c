/* SPDX-License-Identifier: BSD-2-Clause
 *
 * hearth-run: when a job is started again.
 *
 * In its folder a job leaves what became of a start (checkpoint/folder.h): a
 * new number, or how often it was started from the last one, or that the run
 * came to its end.  A job that left nothing has not come through
 * hearth_init(): with the status of an error of Hearth's it was refused, and
 * would be again; else the launcher may not have found all machines that it
 * needs, and fewer ranks may do.
 */
#include "config.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "checkpoint/folder.h"
#include "checkpoint/image.h"
#include "run.h"

/* ---- what became of a start ---- */

struct seen {
    uint64_t last;
    char     starts[64];
};

enum fate { NOT_UP, BROKEN_OFF, ENDED };

static void
folder_read(int fd, struct seen *s)
{
    uint64_t *number;
    void     *text;
    size_t    n;

    if (hearthi_folder_numbers(fd, &number, &n) == 0 && n > 0)
        s->last = number[n - 1];
    free(number);
    if (hearthi_small_file_get(fd, "starts", sizeof s->starts - 1, &text,
                               &n) == 0) {
        memcpy(s->starts, text, n);
        free(text);
    }
}

/* `forget` that an earlier run came to its end. */
static void
folder_see(const char *folder, bool forget, struct seen *s)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    *s = (struct seen){ .last = 0 };
    if (fd < 0)
        return;
    folder_read(fd, s);
    if (forget && strcmp(s->starts, HEARTHI_STARTS_ENDED) == 0 &&
        unlinkat(fd, "starts", 0) == 0)
        s->starts[0] = '\0';
    close(fd);
}

static enum fate
fate_of(const struct seen *before, const struct seen *after)
{
    bool same = strcmp(before->starts, after->starts) == 0;

    if (!same && strcmp(after->starts, HEARTHI_STARTS_ENDED) == 0)
        return ENDED;
    if (before->last != after->last || (after->starts[0] != '\0' && !same))
        return BROKEN_OFF;
    return NOT_UP;
}

/* An error of Hearth's has ended it: by MPI_Abort, or, where that does not
 * return in time, by an alarm (api/init.c), which MPICH's launcher gives
 * as 14.
 */
static bool
is_error(int status)
{
    return status == HEARTHI_EXIT || status == SIGALRM ||
           status == 128 + SIGALRM;
}

/* ---- lines ---- */

static void
start_say(const struct run *r, long start, int status)
{
    char ended[80] = "", ranks[40] = "";

    if (start > 1)
        snprintf(ended, sizeof ended, "start %ld ended with status %d; ",
                 start - 1, status);
    if (r->least > 0)
        snprintf(ranks, sizeof ranks, ", %ld ranks",
                 ranks_find(r->launcher, r->option));
    fprintf(stderr, "hearth-run: %sstart %ld of at most %ld%s, folder %s\n",
            ended, start, r->tries + 1, ranks, r->folder);
}

static void
end_say(long start, int status, const char *why)
{
    fprintf(stderr,
            "hearth-run: start %ld ended with status %d; the job is not "
            "started again: %s\n",
            start, status, why);
}

/* ---- whether to go on ---- */

/* Half as many, but not fewer than may be. */
static void
ranks_lower(struct run *r)
{
    long ranks = ranks_find(r->launcher, r->option), fewer = ranks / 2;

    if (fewer < r->least)
        fewer = r->least;
    if (r->least > 0 && fewer < ranks)
        ranks_replace(r->launcher, r->option, fewer);
}

/* Why it is not started again, or NULL. */
static const char *
end_reason(struct run *r, const struct seen *before, int status, int asked,
           long start)
{
    struct seen after;
    enum fate   fate;

    if (asked != 0)
        return "a signal asked to end it";
    if (!r->restarts)
        return "HEARTH_ON_FAILURE is not restart";
    folder_see(r->folder, false, &after);
    fate = fate_of(before, &after);
    if (fate == ENDED)
        return "its run came to its end";
    if (fate == NOT_UP && is_error(status))
        return "it was refused";
    if (fate == NOT_UP && (status == 126 || status == 127))
        return "there is no such command";
    if (start > r->tries)
        return "these were all tries";
    if (fate == NOT_UP)
        ranks_lower(r);
    return NULL;
}

static int
job_run(struct run *r)
{
    int asked = 0, status = 0;

    for (long start = 1;; start++) {
        struct seen before = { .last = 0 };
        const char *why;

        if (r->folder != NULL)
            folder_see(r->folder, r->restarts, &before);
        if (r->restarts)
            start_say(r, start, status);
        status = launcher_run(r->launcher, &asked);
        if (status == EXIT_SUCCESS)
            return EXIT_SUCCESS;
        if (asked == 0)
            asked = launcher_asked();
        why = end_reason(r, &before, status, asked, start);
        if (why != NULL) {
            end_say(start, status, why);
            return status;
        }
    }
}

int
main(int argc, char **argv)
{
    struct run r;
    int        status = run_read(&r, argc, argv);

    if (status >= 0)
        return status;
    launcher_prepare();
    return job_run(&r);
}
