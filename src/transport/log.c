/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "log.h"

#include <string.h>

#include "base/assert.h"
#include "base/min.h"

/* Of those that are not long. */
static uint32_t room_short = HEARTHI_LOG, room_named = HEARTHI_LOG;

void
hearthi_log_open(int ranks)
{
    uint64_t each = (uint64_t)ranks * HEARTHI_LOG_EACH;

    if (each < HEARTHI_LOG_LEAST)
        each = HEARTHI_LOG_LEAST;
    room_short = (uint32_t)hearthi_min(each, HEARTHI_LOG);
    room_named = (uint32_t)hearthi_min(each, HEARTHI_LOG_NAMED);
}

uint32_t
hearthi_log_room(int sync)
{
    enum hearthi_sync_kind k = hearthi_sync_kind(sync);

    if (sync - hearthi_sync_first[k] < HEARTHI_LOGS_LONG)
        return HEARTHI_LOG;
    return k == HEARTHI_SYNC_NAMED ? room_named : room_short;
}

static void
no_spans(struct hearthi_ring_span span[2])
{
    span[0] = span[1] = (struct hearthi_ring_span){ 0, 0 };
}

enum hearthi_log_news
hearthi_log_read(const struct hearthi_log *log, uint32_t room, uint64_t epoch,
                 uint32_t *pos, struct hearthi_ring_span span[2])
{
    uint32_t from = *pos;

    HEARTHI_ASSERT(log->whole <= room && log->whole <= log->end);
    no_spans(span);
    *pos = 0;
    if (log->epoch < epoch)
        return HEARTHI_LOG_PAST;
    *pos = log->end;
    if (log->epoch > epoch)
        return HEARTHI_LOG_AHEAD;
    if (log->whole > 0 && log->end - from > room)
        from = log->end - log->whole;
    return log->end != HEARTHI_LOG_FULL &&
                   hearthi_ring_read(room, from, log->end, span)
               ? HEARTHI_LOG_NEWS
               : HEARTHI_LOG_LOST;
}

/* Move the end; `whole` is what the last positions hold of the epoch then. */
static bool
log_write(struct hearthi_log *log, uint32_t room, uint32_t count,
          uint32_t whole, struct hearthi_ring_span span[2])
{
    uint32_t from = log->end;
    bool     fits = hearthi_ring_write(room, &log->end, count, span);

    HEARTHI_ASSERT(!fits || span[0].n + span[1].n == count);
    log->whole = whole <= room ? whole : 0;
    if (log->end > from && log->end != HEARTHI_LOG_FULL)
        return fits;
    /* a position would mean two notices from now on */
    *log =
        (struct hearthi_log){ .epoch = log->epoch, .end = HEARTHI_LOG_FULL };
    return false;
}

bool
hearthi_log_append(struct hearthi_log *log, uint32_t room, uint64_t epoch,
                   uint32_t count, struct hearthi_ring_span span[2])
{
    bool all;

    HEARTHI_ASSERT(log->whole <= room);
    HEARTHI_ASSERT(log->end == HEARTHI_LOG_FULL || log->whole <= log->end);
    no_spans(span);
    if (count == 0)
        return false;
    if (log->epoch < epoch)
        *log = (struct hearthi_log){ .epoch = epoch };
    if (log->end == HEARTHI_LOG_FULL)
        return false;
    all = log->whole > 0 || log->end == 0;
    return log_write(log, room, count, all ? log->whole + count : 0, span);
}

bool
hearthi_log_is_full(const struct hearthi_log *log, uint32_t room,
                    uint64_t epoch, uint32_t count,
                    struct hearthi_ring_span span[2])
{
    no_spans(span);
    if (log->epoch < epoch || log->whole == 0 || count == 0 || count > room ||
        log->whole + count <= room)
        return false;
    return hearthi_ring_read(room, log->end - log->whole, log->end, span);
}

uint32_t
hearthi_log_merge(struct hearthi_log *log, uint32_t room,
                  struct hearthi_notice *all, const struct hearthi_notice *n,
                  uint32_t count, struct hearthi_ring_span span[2])
{
    HEARTHI_ASSERT(log->whole > 0 && log->whole <= room && count <= room);
    memcpy(all + log->whole, n, count * sizeof *n);
    count = (uint32_t)hearthi_notices_merge(all, log->whole + count, room / 2);
    HEARTHI_ASSERT(count > 0);
    return log_write(log, room, count, count, span) ? count : 0;
}
