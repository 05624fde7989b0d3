/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Records of TLS into frames.  Bodies that fit are handed on where they were
 * decrypted to; a longer one is decrypted into memory of its own, the first
 * part copied there.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "gateway_connection.h"

enum {
    LONG = HEARTHI_CONNECTION_IN / 2,
    BUDGET = 8 << 20, /* bytes before others have their turn */
    HELLO_HEAD = 8,
};

_Static_assert(HELLO_HEAD + HEARTHI_HELLO_MAX < HEARTHI_CONNECTION_IN,
               "a hello fits");

/* A text that is cut, and whose end is marked, by its reader. */
static bool
hello_take(struct hearthi_connection *l)
{
    struct hearthi_connection_in *in = &l->in;
    struct hearthi_gateway_hello  h;
    char                          text[HEARTHI_HELLO_MAX + 1];
    uint32_t                      len;
    size_t                        all = HELLO_HEAD;

    if (in->to < all)
        return true;
    memcpy(&len, in->data, sizeof len);
    len = ntohl(len);
    if (len > HEARTHI_HELLO_MAX)
        return hearthi_connection_fail(l, HEARTHI_CONNECTION_BROKEN,
                                       "it says no hello");
    all += hearthi_connection_padded(len);
    if (in->to < all)
        return true;
    memcpy(text, in->data + HELLO_HEAD, len);
    in->from = all;
    if (!hearthi_gateway_hello_read(&h, text, len))
        return hearthi_connection_fail(l, HEARTHI_CONNECTION_BROKEN,
                                       "it says no hello");
    if (!l->calls->hello(l, &h))
        return false;
    l->state = HEARTHI_CONNECTION_UP;
    return true;
}

/* What is there of a body goes to memory of its own. */
static bool
long_begin(struct hearthi_connection *l, const struct hearthi_frame *head)
{
    struct hearthi_connection_in *in = &l->in;
    size_t                        len = hearthi_connection_padded(head->len);

    if (in->body_room < len) {
        free(in->body);
        in->body = malloc(len);
        in->body_room = in->body != NULL ? len : 0;
    }
    if (in->body == NULL)
        return hearthi_connection_fail(l, HEARTHI_CONNECTION_BROKEN,
                                       "no memory for a message of %u bytes",
                                       head->len);
    in->head = *head;
    in->body_len = len;
    in->body_at = in->to - in->from - sizeof *head;
    memcpy(in->body, in->data + in->from + sizeof *head, in->body_at);
    in->from = in->to = 0;
    return true;
}

static bool
long_end(struct hearthi_connection *l)
{
    struct hearthi_connection_in *in = &l->in;

    HEARTHI_ASSERT(in->body_at <= in->body_len);
    if (in->body_at < in->body_len)
        return true;
    in->body_len = 0;
    return l->calls->frame(l, &in->head, in->body);
}

/* All frames that are whole in data. */
static bool
frames_take(struct hearthi_connection *l)
{
    struct hearthi_connection_in *in = &l->in;

    while (in->to - in->from >= sizeof(struct hearthi_frame)) {
        const unsigned char *at = in->data + in->from;
        struct hearthi_frame head;
        size_t               all;

        memcpy(&head, at, sizeof head);
        all = sizeof head + hearthi_connection_padded(head.len);
        if (head.len > HEARTHI_CONNECTION_LONGEST)
            return hearthi_connection_fail(l, HEARTHI_CONNECTION_BROKEN,
                                           "a message of %u bytes", head.len);
        if (in->to - in->from < all)
            return head.len < LONG || long_begin(l, &head);
        in->from += all;
        if (!l->calls->frame(l, &head, at + sizeof head))
            return false;
    }
    return true;
}

/* Frames begin at multiples of 8 here, too. */
static void
rest_move(struct hearthi_connection_in *in)
{
    HEARTHI_ASSERT(in->from <= in->to && in->to <= sizeof in->data);
    if (in->from == 0)
        return;
    memmove(in->data, in->data + in->from, in->to - in->from);
    in->to -= in->from;
    in->from = 0;
}

static bool
taken(struct hearthi_connection *l)
{
    if (l->in.body_len > 0)
        return long_end(l);
    if (l->state == HEARTHI_CONNECTION_HELLO && !hello_take(l))
        return false;
    if (l->state == HEARTHI_CONNECTION_UP && !frames_take(l))
        return false;
    rest_move(&l->in);
    return true;
}

static int
some_read(struct hearthi_connection *l)
{
    struct hearthi_connection_in *in = &l->in;
    int                           n;

    ERR_clear_error();
    errno = 0;
    if (in->body_len > 0) {
        n = SSL_read(l->ssl, in->body + in->body_at,
                     (int)(in->body_len - in->body_at));
        in->body_at += n > 0 ? (size_t)n : 0;
    } else {
        n = SSL_read(l->ssl, in->data + in->to,
                     (int)(sizeof in->data - in->to));
        in->to += n > 0 ? (size_t)n : 0;
    }
    return n;
}

/* Over a slow link a record alone may take longer than a cluster may be
 * silent. */
static void
heard_note(struct hearthi_connection *l)
{
    uint64_t came = hearthi_tls_came(l->ssl);

    if (came == l->came)
        return;
    l->came = came;
    l->heard = hearthi_clock_kernel();
}

bool
hearthi_connection_read(struct hearthi_connection *l)
{
    size_t all = 0;

    l->more = false;
    for (;;) {
        int n = some_read(l);

        heard_note(l);
        if (n <= 0)
            return hearthi_connection_later(l, n);
        all += (size_t)n;
        l->bytes_in += (size_t)n;
        if (!taken(l))
            return false;
        if (all >= BUDGET) {
            l->more = true;
            return true;
        }
    }
}
