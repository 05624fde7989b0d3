/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages into records of TLS.  Small ones share a record; of a long one all
 * but its ends is encrypted from where it lies.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "gateway_connection.h"

static size_t
queued_size(const struct hearthi_queued_message *m)
{
    return sizeof m->head + hearthi_connection_padded(m->head.len);
}

/* As much of the message as there is room for; a head is not cut. */
static size_t
queued_stage(struct hearthi_connection *l, unsigned char *to, size_t room)
{
    struct hearthi_connection_out *o = &l->out;
    struct hearthi_queued_message *m = o->queued;
    const size_t head = sizeof m->head, end = head + m->head.len;
    size_t       before = o->written, n;

    if (o->written == 0) {
        if (room < head)
            return 0;
        m->head.ack = l->calls->ack(l);
        memcpy(to, &m->head, head);
        o->written = head;
        to += head;
        room -= head;
    }
    if (o->written < end) {
        n = end - o->written < room ? end - o->written : room;
        memcpy(to, (const char *)m->body + (o->written - head), n);
        o->written += n;
        to += n;
        room -= n;
    }
    if (o->written >= end) {
        n = queued_size(m) - o->written;
        n = n < room ? n : room;
        memset(to, 0, n);
        o->written += n;
    }
    return o->written - before;
}

static bool
queued_whole(struct hearthi_connection_out *o)
{
    HEARTHI_ASSERT(o->queued == NULL || o->written <= queued_size(o->queued));
    if (o->queued == NULL || o->written < queued_size(o->queued))
        return false;
    hearthi_reliable_queue_written(o->queued);
    o->queued = NULL;
    return true;
}

static bool
queued_next(struct hearthi_connection *l)
{
    if (l->out.queued == NULL && !l->out.last) {
        l->out.queued = l->calls->next(l);
        l->out.written = 0;
    }
    return l->out.queued != NULL;
}

/* A record's worth from the middle of a long body. */
static bool
chunk_direct(struct hearthi_connection_out *o)
{
    const struct hearthi_queued_message *m = o->queued;
    const size_t                         head = sizeof m->head;

    if (m == NULL || o->written < head ||
        head + m->head.len - o->written < sizeof o->stage)
        return false;
    o->chunk = (const unsigned char *)m->body + (o->written - head);
    o->chunk_len = sizeof o->stage;
    o->written += o->chunk_len;
    return true;
}

static size_t
beat_stage(struct hearthi_connection *l)
{
    struct hearthi_frame beat = { .kind = l->out.left ? HEARTHI_FRAME_LEFT
                                                      : HEARTHI_FRAME_BEAT,
                                  .ack = l->calls->ack(l) };

    memcpy(l->out.stage, &beat, sizeof beat);
    l->out.left = false;
    return sizeof beat;
}

static bool
chunk_make(struct hearthi_connection *l)
{
    struct hearthi_connection_out *o = &l->out;
    size_t                         n = 0;

    queued_whole(o);
    if (chunk_direct(o))
        return true;
    while (queued_next(l)) {
        n += queued_stage(l, o->stage + n, sizeof o->stage - n);
        if (!queued_whole(o))
            break;
    }
    if (n == 0 && (o->beat || o->left))
        n = beat_stage(l);
    o->beat = false;
    o->chunk = o->stage;
    o->chunk_len = n;
    return n > 0;
}

static bool
key_change(struct hearthi_connection *l)
{
    if (++l->out.records < l->out.rekey)
        return true;
    l->out.records = 0;
    return SSL_key_update(l->ssl, SSL_KEY_UPDATE_NOT_REQUESTED) == 1;
}

bool
hearthi_connection_write(struct hearthi_connection *l)
{
    struct hearthi_connection_out *o = &l->out;

    while (o->chunk_len > 0 || (chunk_make(l) && key_change(l))) {
        int n;

        ERR_clear_error();
        errno = 0;
        n = SSL_write(l->ssl, o->chunk, (int)o->chunk_len);
        if (n <= 0)
            return hearthi_connection_later(l, n);
        o->chunk += n;
        o->chunk_len -= (size_t)n;
        l->bytes_out += (size_t)n;
        l->said = hearthi_clock_kernel();
    }
    return true;
}

/* What goes to a connection that has room: the pipe takes it all. */
static bool
all_write(struct hearthi_connection *l, const void *data, size_t len)
{
    const char *at = data;

    while (len > 0) {
        int n;

        ERR_clear_error();
        errno = 0;
        n = SSL_write(l->ssl, at, (int)len);
        if (n <= 0)
            return hearthi_connection_fail(l, HEARTHI_CONNECTION_GONE,
                                           "no room");
        at += n;
        len -= (size_t)n;
    }
    return true;
}

bool
hearthi_connection_say_hello(struct hearthi_connection          *l,
                             const struct hearthi_gateway_hello *mine)
{
    static const char zero[8];
    char              text[HEARTHI_HELLO_MAX];
    size_t   len = hearthi_gateway_hello_write(mine, text, sizeof text);
    uint32_t head[2] = { htonl((uint32_t)len), 0 };

    if (len == 0)
        return hearthi_connection_fail(l, HEARTHI_CONNECTION_BROKEN,
                                       "a hello of more than %d bytes",
                                       HEARTHI_HELLO_MAX);
    l->greeted = true;
    return all_write(l, head, sizeof head) && all_write(l, text, len) &&
           all_write(l, zero, hearthi_connection_padded(len) - len);
}

void
hearthi_connection_end_write(struct hearthi_connection *l,
                             enum hearthi_frame_kind kind, const char *text)
{
    static const char    zero[8];
    size_t               len = strlen(text);
    struct hearthi_frame head = { .len = (uint32_t)len, .kind = kind };

    if (all_write(l, &head, sizeof head) && all_write(l, text, len))
        all_write(l, zero, hearthi_connection_padded(len) - len);
}
