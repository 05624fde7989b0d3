/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A checkpoint that takes long says so: a line of rank 0 after two seconds,
 * and each time that twice as much has gone by.  A thread says it, since rank
 * 0 may be inside fsync(2) for most of that.
 */
#include "config.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "base/thread.h"
#include "checkpoint.h"

enum { FIRST_SECONDS = 2 };

static const uint64_t SECOND = 1000000000; /* ns */

static struct {
    struct hearthi_poller thread;
    const char           *where;
    uint64_t              number, begin;
    _Atomic uint64_t      bytes;   /* that rank 0 has written */
    atomic_bool           written; /* its file is on the disk */
} p;

static void
line_say(void)
{
    char line[HEARTHI_FILE_MAX + 160];
    int  n =
        snprintf(line, sizeof line,
                 "hearth: number %" PRIu64 " of %s is being written for "
                 "%" PRIu64 " s: rank 0 has written %" PRIu64 " MiB%s\n",
                 p.number, p.where, (hearthi_now() - p.begin) / SECOND,
                 p.bytes >> 20, p.written ? ", and waits for the others" : "");

    hearthi_report_lines(line, (size_t)n);
}

static void *
watch(void *none)
{
    uint64_t      due = p.begin + FIRST_SECONDS * SECOND;
    struct pollfd fd;

    while (!p.thread.stop) {
        hearthi_poller_wait(&p.thread, &fd, 1, due);
        if (p.thread.stop || hearthi_now() < due)
            continue;
        line_say();
        due += due - p.begin;
    }
    return none;
}

void
hearthi_checkpoint_progress_begin(const char *where, uint64_t number)
{
    p.where = where;
    p.number = number;
    p.begin = hearthi_now();
    p.bytes = 0;
    p.written = false;
    hearthi_poller_start(&p.thread, watch,
                         "the thread that tells how far a checkpoint is");
}

void
hearthi_checkpoint_progress_note(uint64_t bytes, bool written)
{
    p.bytes = bytes;
    p.written = written;
}

void
hearthi_checkpoint_progress_end(void)
{
    hearthi_poller_end(&p.thread);
}
