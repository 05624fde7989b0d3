/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "liveness_line.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "world.h"

uint64_t                     hearthi_liveness_lines_word;
struct hearthi_liveness_line hearthi_liveness_line[HEARTHI_LINES];
void (*hearthi_next_hook)(const struct hearthi_record *r);

bool
hearthi_record_send(int fd, const struct hearthi_record *r)
{
    ssize_t n = send(fd, r, sizeof *r, MSG_DONTWAIT | MSG_NOSIGNAL);

    return n <= 0 || (size_t)n == sizeof *r;
}

void
hearthi_liveness_line_pass(struct hearthi_liveness_line *line,
                           struct hearthi_record         r)
{
    int saved = errno;

    r.word = hearthi_liveness_lines_word;
    if (line->fd >= 0 && !line->shut && !hearthi_record_send(line->fd, &r)) {
        line->shut = true;
        shutdown(line->fd, SHUT_RDWR);
    }
    errno = saved;
}

void
hearthi_next_tell(struct hearthi_record r)
{
    if (hearthi_next_hook != NULL)
        hearthi_next_hook(&r);
    else
        hearthi_liveness_line_pass(&hearthi_liveness_line[HEARTHI_LINE_NEXT],
                                   r);
}

void
hearthi_liveness_line_send(struct hearthi_liveness_line *line,
                           enum hearthi_said said, int by, int about,
                           int weight)
{
    hearthi_liveness_line_pass(line,
                               (struct hearthi_record){ .said = (int32_t)said,
                                                        .by = by,
                                                        .about = about,
                                                        .weight = weight });
}

/* A line that ends after a part of a record was shut by the other end. */
static enum hearthi_heard
line_end(const struct hearthi_liveness_line *line, bool closed)
{
    return closed && line->have == 0 && !line->shut ? HEARTHI_HEARD_END
                                                    : HEARTHI_HEARD_LOST;
}

enum hearthi_heard
hearthi_liveness_line_take(struct hearthi_liveness_line *line,
                           struct hearthi_record        *r)
{
    ssize_t n = recv(line->fd, (char *)&line->part + line->have,
                     sizeof line->part - line->have, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return HEARTHI_HEARD_NOTHING;
    if (n <= 0)
        return line_end(line, n == 0 || errno == ECONNRESET);
    line->heard = true;
    line->have += (unsigned)n;
    if (line->have < sizeof line->part)
        return HEARTHI_HEARD_NOTHING;
    line->have = 0;
    *r = line->part;
    return r->word == hearthi_liveness_lines_word ? HEARTHI_HEARD_RECORD
                                                  : HEARTHI_HEARD_NOTHING;
}

void
hearthi_liveness_line_close(struct hearthi_liveness_line *line)
{
    if (line->fd >= 0)
        close(line->fd);
    line->fd = -1;
}

void
hearthi_liveness_line_renew(struct hearthi_liveness_line *line, int fd)
{
    socklen_t size = sizeof line->at;

    hearthi_liveness_line_close(line);
    line->fd = fd;
    line->heard = true;
    line->shut = line->lost = false;
    line->have = 0;
    if (getpeername(fd, &line->at.any, &size) != 0)
        line->at.any.sa_family = AF_UNSPEC;
}

void
hearthi_liveness_line_beat(struct hearthi_liveness_line *line)
{
    hearthi_liveness_line_send(line, HEARTHI_SAID_BEAT, hearthi_world.rank, 0,
                               0);
}

void
hearthi_liveness_lines_tell(int but, enum hearthi_said said, int by, int about,
                            int weight)
{
    for (int i = 0; i < HEARTHI_LINES; i++)
        if (i != but)
            hearthi_liveness_line_send(&hearthi_liveness_line[i], said, by,
                                       about, weight);
}
