/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which checkpoint a run goes on from (HEARTH_RESTART), and its files.
 *
 * Rank 0 offers one number after the other, the last first, and all ranks look
 * at it: each at its share of the files, all bytes of them.  The first in
 * which no rank finds damage is taken, before anything of this run depends on
 * it.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/option.h"
#include "base/report.h"
#include "checkpoint.h"
#include "cluster.h"
#include "collective.h"
#include "folder.h"
#include "front/direct.h"
#include "job_folder.h"
#include "space/heap.h"
#include "world.h"

/* LOCK_WAIT: of seconds, in which a job that hearth-run has seen fail gives
 * its folder up: its last ranks may still be about to end. */
enum { LOCK_WAIT = 30, LOOKS = 10 /* a second */ };

struct hearthi_restart hearthi_restart;

/* What HEARTH_RESTART says. */
static struct wanted {
    bool     is_auto, one; /* from the beginning, too; one number only */
    uint64_t number;
    int      damage, found; /* of the last that was offered, by which rank */
    char     where[HEARTHI_FILE_MAX];
    char     path[HEARTHI_FOLDER_PATH]; /* the same, wherever a rank works */
} wanted;

static struct hearthi_folder folder = { -1, -1 }; /* rank 0 */
static unsigned              times; /* it was started from that number */

/* ---- which ---- */

_Noreturn static void
refuse(const char *what)
{
    if (hearthi_cluster.rank != 0)
        hearthi_end_wait();
    hearthi_fatal("hearth_init", "HEARTH_RESTART=%s: %s",
                  hearthi_opt.restart.text, what);
}

static void
wanted_read(void)
{
    const char *text = hearthi_opt.restart.text;
    const char *at;

    wanted = (struct wanted){ .is_auto = strncmp(text, "auto:", 5) == 0 };
    strcpy(wanted.where, wanted.is_auto ? text + 5 : text);
    if (wanted.where[0] == '\0')
        refuse("it names no folder: give one");
    at = hearthi_folder_number_at(wanted.where, &wanted.number);
    wanted.one = at != NULL;
    if (wanted.one)
        wanted.where[at - wanted.where] = '\0';
}

/* Does hearth-run start the job again?  Then it looks into the folder for what
 * became of a start, also of one from the beginning, which is number 0. */
static bool
is_watched(void)
{
    return hearthi_opt.on_failure == HEARTHI_FAILURE_RESTARTS &&
           wanted.is_auto;
}

static int
folder_lock(void)
{
    int failed, looks = is_watched() ? LOCK_WAIT * LOOKS : 0;

    while ((failed = hearthi_folder_open(&folder, wanted.path,
                                         is_watched())) == EBUSY &&
           looks-- > 0)
        usleep(1000000 / LOOKS);
    return failed;
}

/* Rank 0: the folder is there; false: there is none, and need not be. */
static bool
folder_open(void)
{
    int failed = hearthi_job_folder_path(wanted.where, false, wanted.path);

    if (failed == 0)
        failed = folder_lock();
    if (failed == ENOENT && wanted.is_auto && !is_watched())
        return false;
    if (failed == EBUSY)
        refuse("another job uses the folder: wait until it has ended, or give "
               "this one a copy; if that job is gone with its machine, remove "
               "the file lock there");
    if (failed != 0)
        refuse(strerror(failed));
    return true;
}

/* Of another program it is none of ours. */
static void
program_check(const struct hearthi_meta_head *h, uint64_t number)
{
    char name[HEARTHI_META_PROGRAM], text[600];

    hearthi_program_name(name);
    if (strcmp(h->program, name) != 0) {
        snprintf(text, sizeof text,
                 "its checkpoints are of %s, and this is %s: give the folder "
                 "of this program",
                 h->program, name);
        refuse(text);
    }
    if (h->built != hearthi_program_built())
        hearthi_warn("hearth_init",
                     "%s was built anew since number %" PRIu64
                     " of %s was made, which is allowed",
                     name, number, wanted.where);
}

/* Three starts are enough, unless there is no other number. */
static bool
may_start(uint64_t number, bool last)
{
    struct hearthi_meta m;
    int                 fd = hearthi_folder_number(folder.fd, number);
    int                 failed = fd < 0 ? errno : hearthi_meta_read(&m, fd);

    if (fd >= 0)
        close(fd);
    if (failed == EPROTO)
        refuse("the folder is of another version of Hearth, whose format "
               "differs: use that version");
    if (failed != 0)
        return true; /* all ranks will see that */
    program_check(&m.head, number);
    hearthi_meta_free(&m);
    times = wanted.one ? 0 : hearthi_folder_starts(folder.fd, number);
    if (times < HEARTHI_STARTS_MOST || last)
        return true;
    hearthi_warn("hearth_init",
                 "number %" PRIu64 " of %s was started %u times and reached "
                 "no new checkpoint: the one before is taken",
                 number, wanted.where, times);
    return false;
}

/* ---- is it whole? ---- */

static int
meta_open(uint64_t number)
{
    struct hearthi_restart *r = &hearthi_restart;
    char                    name[HEARTHI_FOLDER_PATH + 32];

    snprintf(name, sizeof name, "%s/%" PRIu64, wanted.path, number);
    r->folder =
        hearthi_descriptor(open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (r->folder < 0)
        return errno;
    r->number = number;
    return hearthi_meta_read(&r->meta, r->folder);
}

static int
share_check(void)
{
    const struct hearthi_meta  *m = &hearthi_restart.meta;
    struct hearthi_image_reader file;
    char                        name[HEARTHI_RANK_NAME];
    int                         failed = 0;

    for (uint64_t f = (uint64_t)hearthi_cluster.rank;
         f < m->head.ranks && failed == 0;
         f += (uint64_t)hearthi_cluster.size) {
        hearthi_rank_name(f, name);
        failed = hearthi_image_open(&file, hearthi_restart.folder, name,
                                    &m->file[f]);
        if (failed != 0)
            break;
        failed = hearthi_image_check(&file);
        hearthi_image_close(&file);
    }
    return failed;
}

static void
number_leave(void)
{
    struct hearthi_restart *r = &hearthi_restart;

    if (r->folder >= 0)
        close(r->folder);
    hearthi_meta_free(&r->meta);
    r->folder = -1;
}

/* Collective: is this one whole on all ranks?  The first of those that see
 * that it is not says so, and then what it saw: rank 0, which ends the job
 * where no other number is to be had, would end it before the line is out. */
static bool
number_check(uint64_t number)
{
    int failed = meta_open(number), first;

    if (failed == 0)
        failed = share_check();
    if (hearthi_collective_int(failed == 0, MPI_LAND))
        return true;
    first = hearthi_collective_first(failed != 0, hearthi_cluster.comm);
    if (first == hearthi_cluster.rank && !wanted.one)
        hearthi_warn("hearth_init",
                     "number %" PRIu64 " of %s cannot be restarted: %s; the "
                     "one before is taken",
                     number, wanted.where, hearthi_damage_text(failed));
    hearthi_collective_bcast(&failed, sizeof failed, first,
                             hearthi_cluster.comm);
    wanted.damage = failed;
    wanted.found = first;
    number_leave();
    return false;
}

_Noreturn static void
none_refuse(void)
{
    char text[200];

    if (!wanted.one)
        refuse("the folder has no checkpoint that is whole");
    if (wanted.damage == 0)
        refuse("there is no such checkpoint");
    snprintf(text, sizeof text,
             "number %" PRIu64 " cannot be restarted: %s, as rank %d sees",
             wanted.number, hearthi_damage_text(wanted.damage), wanted.found);
    refuse(text);
}

/* The next number that rank 0 offers, from the last on; 0: none. */
static uint64_t
number_offer(const uint64_t *number, size_t *n)
{
    while (*n > 0) {
        uint64_t next = number[--*n];

        if (wanted.one && next != wanted.number)
            continue;
        if (may_start(next, *n == 0))
            return next;
    }
    return 0;
}

/* All ranks: a number that is whole, or 0; `any`: there is one at all. */
static uint64_t
number_choose(bool *any)
{
    uint64_t *number = NULL, offered = 0;
    size_t    n = 0;
    int       failed = 0;

    if (hearthi_cluster.rank == 0 && folder_open())
        failed = hearthi_folder_numbers(folder.fd, &number, &n);
    if (failed != 0)
        refuse(strerror(failed));
    *any = hearthi_collective_int(n > 0, MPI_LOR);
    hearthi_collective_bcast(wanted.path, sizeof wanted.path, 0,
                             hearthi_cluster.comm);
    do {
        if (hearthi_cluster.rank == 0)
            offered = number_offer(number, &n);
        hearthi_collective_bcast(&offered, sizeof offered, 0,
                                 hearthi_cluster.comm);
    } while (offered != 0 && !number_check(offered));
    free(number);
    return offered;
}

/* ---- what the heap is to be ---- */

static void
options_take(const struct hearthi_meta_head *h)
{
    if (hearthi_opt.page_size != 0 && hearthi_opt.page_size != h->page)
        refuse("the checkpoint has another HEARTH_PAGE_SIZE: leave that out");
    if (hearthi_opt.heap != 0 &&
        ((hearthi_opt.heap + h->page - 1) & ~(h->page - 1)) != h->heap)
        refuse("the checkpoint has another HEARTH_HEAP: leave that out");
    if (hearthi_opt.malloc_guard)
        refuse("HEARTH_MALLOC_GUARD=yes does not go with it, since no object "
               "of the run before is watched: leave that out");
    hearthi_opt.page_size = h->page;
    hearthi_opt.heap = h->heap;
    hearthi_heap_given = (struct hearthi_heap_given){
        .is = true,
        .base = (char *)(uintptr_t)h->base,
        .arenas = h->arenas,
        .arena = h->arena,
        .count = h->arena_count,
        .words = h->arena_words,
    };
}

void
hearthi_restart_open(void)
{
    struct hearthi_restart *r = &hearthi_restart;
    uint64_t                number;
    bool                    any;

    hearthi_heap_given.is = false;
    r->is = false;
    r->folder = -1;
    wanted = (struct wanted){ .is_auto = false };
    if (hearthi_opt.restart.text[0] == '\0')
        return;
    hearthi_one_cluster("hearth_init with HEARTH_RESTART");
    wanted_read();
    number = number_choose(&any);
    if (number == 0 && (!wanted.is_auto || any))
        none_refuse();
    if (number == 0)
        times = folder.fd < 0 ? 0 : hearthi_folder_starts(folder.fd, 0);
    hearthi_job_folder_give(&folder);
    folder = (struct hearthi_folder){ -1, -1 };
    if (number == 0)
        return;
    r->is = true;
    strcpy(r->where, wanted.where);
    r->own.fd = -1;
    r->own_rank = (uint64_t)hearthi_cluster.rank % r->meta.head.ranks;
    options_take(&r->meta.head);
}

/* ---- and back ---- */

static void
started_tell(void)
{
    const struct hearthi_restart *r = &hearthi_restart;
    char                          line[HEARTHI_FILE_MAX + 64];
    int                           n;

    n = snprintf(line, sizeof line,
                 "hearth: restarted from number %" PRIu64 " of %s\n",
                 r->number, r->where);
    hearthi_report_lines(line, (size_t)n);
}

void
hearthi_restart_fill(void)
{
    bool is = hearthi_restart.is;

    if (hearthi_world.rank == 0 && !wanted.one && (is || is_watched()))
        hearthi_job_folder_started(is ? hearthi_restart.number : 0, times + 1);
    if (!is)
        return;
    hearthi_restore_allocations();
    hearthi_restore_contents();
    if (hearthi_world.rank == 0)
        started_tell();
}

void
hearthi_restart_close(void)
{
    struct hearthi_restart *r = &hearthi_restart;

    if (r->is)
        hearthi_image_close(&r->own);
    if (hearthi_world.rank == 0 && is_watched())
        hearthi_job_folder_ended();
    else if (hearthi_world.rank == 0)
        hearthi_job_folder_started(0, 0);
    if (r->is)
        number_leave();
    r->is = false;
}
