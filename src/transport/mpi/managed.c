/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks and flags as their manager's memory has them.
 */
#include "config.h"

#include "managed.h"

#include <string.h>

#include "base/report.h"
#include "world.h"

enum { OBJECT = 4096 };

_Static_assert(HEARTHI_LOG_AT + HEARTHI_LOG * sizeof(struct hearthi_notice) <=
                   OBJECT,
               "a log fits its object");

static int
manager(int sync)
{
    return hearthi_manager(sync, hearthi_world.size);
}

static size_t
object_at(int sync)
{
    return hearthi_managed_at(sync, hearthi_world.size) * OBJECT;
}

uint64_t
hearthi_word_op(int sync, size_t word, MPI_Op op, uint64_t value)
{
    return hearthi_fetch_op(hearthi_mpi.sync, manager(sync),
                            object_at(sync) + word, op, value);
}

/* MPICH 4.0.2 misplaces data unless a window's size is a multiple of 16. */
void
hearthi_sync_open(void)
{
    size_t   bytes = hearthi_managed_count(hearthi_world.size) * OBJECT;
    MPI_Info info = hearthi_window_info();
    char    *base;

    HEARTHI_MPI(MPI_Win_allocate((MPI_Aint)bytes, 1, info, hearthi_world.comm,
                                 &base, &hearthi_mpi.sync));
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(hearthi_mpi.sync, MPI_ERRORS_RETURN);
    for (size_t at = 0; at < bytes; at += OBJECT)
        memset(base + at, 0, HEARTHI_LOG_AT);
    HEARTHI_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, hearthi_mpi.sync));
    HEARTHI_MPI(MPI_Win_sync(hearthi_mpi.sync));
    HEARTHI_MPI(MPI_Barrier(hearthi_world.comm));
}

void
hearthi_sync_close(void)
{
    MPI_Win_unlock_all(hearthi_mpi.sync);
    MPI_Win_free(&hearthi_mpi.sync);
}

struct hearthi_serving
hearthi_serving_read(uint64_t w)
{
    return (struct hearthi_serving){ (w & HEARTHI_FLAG_SET) != 0,
                                     (uint16_t)(w >> 48 & HEARTHI_TICKETS),
                                     { (uint16_t)(w >> 32), (uint32_t)w } };
}

uint64_t
hearthi_serving_make(struct hearthi_serving w)
{
    return (w.set ? HEARTHI_FLAG_SET : 0) |
           (uint64_t)(w.ticket & HEARTHI_TICKETS) << 48 |
           (uint64_t)w.log.epoch << 32 | w.log.end;
}

uint64_t
hearthi_serving_get(int sync)
{
    return hearthi_word_op(sync, HEARTHI_SERVING, MPI_NO_OP, 0);
}

/* ---- the log ---- */

enum direction { READ, WRITE };

static void
log_move(int sync, enum direction dir, const struct hearthi_span *span,
         struct hearthi_notice *notice)
{
    for (int i = 0; i < 2; i++) {
        int      len = (int)(span[i].n * sizeof *notice);
        MPI_Aint where = (MPI_Aint)(object_at(sync) + HEARTHI_LOG_AT +
                                    span[i].at * sizeof *notice);

        if (len == 0)
            continue;
        if (dir == READ)
            HEARTHI_MPI(MPI_Get(notice, len, MPI_BYTE, manager(sync), where,
                                len, MPI_BYTE, hearthi_mpi.sync));
        else
            HEARTHI_MPI(MPI_Put(notice, len, MPI_BYTE, manager(sync), where,
                                len, MPI_BYTE, hearthi_mpi.sync));
        hearthi_mpi_count(manager(sync), (size_t)len);
        notice += span[i].n;
    }
    hearthi_flush(hearthi_mpi.sync, manager(sync));
}

void
hearthi_log_get(int sync, uint64_t serving, struct hearthi_grant *g)
{
    struct hearthi_serving w = hearthi_serving_read(serving);
    struct hearthi_span    span[2];
    enum hearthi_log_news  news =
        hearthi_log_read(&w.log, g->epoch, &g->pos, span);

    g->n = span[0].n + span[1].n;
    g->ahead = news == HEARTHI_LOG_AHEAD;
    g->everything = g->ahead || news == HEARTHI_LOG_LOST;
    if (g->n > 0)
        log_move(sync, READ, span, g->notice);
}

/* Append and return the serving word that says so. */
uint64_t
hearthi_log_put(int sync, uint64_t serving, uint16_t epoch,
                const struct hearthi_notice *n, size_t count)
{
    struct hearthi_serving w = hearthi_serving_read(serving);
    struct hearthi_span    span[2];

    if (hearthi_log_append(&w.log, epoch, (uint32_t)count, span))
        log_move(sync, WRITE, span, (struct hearthi_notice *)n);
    return hearthi_serving_make(w);
}
