/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "log.h"

#define FULL UINT32_MAX /* the end of a log that has run out of positions */

enum hearthi_log_news
hearthi_log_read(const struct hearthi_log *log, uint64_t epoch, uint32_t *pos,
                 struct hearthi_span span[2])
{
    uint32_t from = *pos;

    span[0] = span[1] = (struct hearthi_span){ 0, 0 };
    *pos = 0;
    if (log->epoch < epoch)
        return HEARTHI_LOG_PAST;
    *pos = log->end;
    if (log->epoch > epoch)
        return HEARTHI_LOG_AHEAD;
    return log->end != FULL &&
                   hearthi_ring_read(HEARTHI_LOG, from, log->end, span)
               ? HEARTHI_LOG_NEWS
               : HEARTHI_LOG_LOST;
}

bool
hearthi_log_is_unchanged(const struct hearthi_log *log, uint32_t pos)
{
    return log->end == pos && log->end != FULL;
}

bool
hearthi_log_append(struct hearthi_log *log, uint64_t epoch, uint32_t count,
                   struct hearthi_span span[2])
{
    uint32_t from;
    bool     fits;

    span[0] = span[1] = (struct hearthi_span){ 0, 0 };
    if (count == 0)
        return false;
    if (log->epoch < epoch)
        *log = (struct hearthi_log){ epoch, 0 };
    if (log->end == FULL)
        return false;
    from = log->end;
    fits = hearthi_ring_write(HEARTHI_LOG, &log->end, count, span);
    if (log->end > from && log->end != FULL)
        return fits;
    log->end = FULL; /* a position would mean two notices from now on */
    return false;
}
