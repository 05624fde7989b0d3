/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "log.h"

enum { NO_EPOCH = HEARTHI_EPOCHS }; /* of a log that must not be used */

/* An old log is not newer than ours, though epochs begin again at 0. */
static bool
is_past(const struct hearthi_log *log, uint16_t now)
{
    unsigned ago =
        (unsigned)(now + HEARTHI_EPOCHS - log->epoch) % HEARTHI_EPOCHS;

    return log->epoch != NO_EPOCH && ago > 0 && ago < HEARTHI_EPOCHS / 2;
}

enum hearthi_log_news
hearthi_log_read(const struct hearthi_log *log, uint16_t epoch, uint32_t *pos,
                 struct hearthi_span span[2])
{
    uint32_t from = *pos;

    span[0] = span[1] = (struct hearthi_span){ 0, 0 };
    *pos = 0;
    if (is_past(log, epoch))
        return HEARTHI_LOG_PAST;
    *pos = log->end;
    if (log->epoch != epoch)
        return HEARTHI_LOG_AHEAD;
    return hearthi_ring_read(HEARTHI_LOG, from, log->end, span)
               ? HEARTHI_LOG_NEWS
               : HEARTHI_LOG_LOST;
}

bool
hearthi_log_append(struct hearthi_log *log, uint16_t epoch, uint32_t count,
                   struct hearthi_span span[2])
{
    uint32_t from;
    bool     fits;

    if (count == 0)
        return false;
    if (is_past(log, epoch))
        *log = (struct hearthi_log){ epoch, 0 };
    from = log->end;
    fits = hearthi_ring_write(HEARTHI_LOG, &log->end, count, span);
    if (log->end >= from)
        return fits;
    log->epoch = NO_EPOCH; /* a position would mean two notices from now on */
    return false;
}
