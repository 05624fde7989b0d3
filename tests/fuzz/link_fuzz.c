/* SPDX-License-Identifier: BSD-2-Clause
 *
 * libFuzzer's way to what a gateway reads of another one's bytes once they are
 * decrypted: the hello, and frames (fuzz.sh).  In place of TLS there is the
 * input, what follows its hello again and again, in pieces of a length that
 * its first byte gives.  What is handed on must lie where it says, and frames
 * come one after the other, as who sent them wrote them.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "link/gateway_connection.h"

enum { MOST = 300000 };

static const uint8_t *input;
static size_t         size, at, again, piece, read_so_far, expected;
static bool           greeted;

/* ---- in place of TLS, and of the rest of a lane ---- */

int
SSL_read(SSL *ssl, void *to, int room)
{
    size_t n;

    (void)ssl;
    must(room > 0);
    if (at == size && greeted)
        at = again;
    n = size - at < piece ? size - at : piece;
    n = n < (size_t)room ? n : (size_t)room;
    if (n == 0 || read_so_far > MOST)
        return -1;
    memcpy(to, input + at, n);
    at += n;
    read_so_far += n;
    return (int)n;
}

void
ERR_clear_error(void)
{
}

uint64_t
hearthi_tls_came(const SSL *ssl)
{
    (void)ssl;
    return read_so_far;
}

uint64_t
hearthi_clock_kernel(void)
{
    return 1;
}

bool
hearthi_connection_later(struct hearthi_connection *l, int result)
{
    (void)l, (void)result;
    return true;
}

bool
hearthi_connection_fail(struct hearthi_connection  *l,
                        enum hearthi_connection_end end, const char *fmt, ...)
{
    (void)fmt;
    l->end = end;
    return false;
}

/* ---- who is told ---- */

static bool
hello(struct hearthi_connection *l, struct hearthi_gateway_hello *theirs)
{
    const struct hearthi_gateway_hello mine = { .name = "here",
                                                .agree = "a=1\nb=2",
                                                .tell = "" };
    struct hearthi_link_error          wrong;

    (void)l;
    must(!greeted && memchr(theirs->name, '\0', sizeof theirs->name) != NULL);
    must(strlen(theirs->agree) + strlen(theirs->tell) <= HEARTHI_HELLO_MAX);
    hearthi_gateway_hello_agree(&mine, theirs, &wrong);
    greeted = true;
    expected = l->in.from;
    again = expected < size ? expected : size;
    return true;
}

static bool
frame(struct hearthi_connection *l, const struct hearthi_frame *head,
      const void *body)
{
    size_t               len = hearthi_connection_padded(head->len);
    const unsigned char *p = body;

    must(greeted && head->len <= HEARTHI_CONNECTION_LONGEST);
    must((uintptr_t)body % 8 == 0);
    expected += sizeof *head + len;
    must(expected <= read_so_far);
    must(len == 0 || p[0] + p[len - 1] < 1000);
    (void)l;
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct hearthi_connection_calls calls = { .hello = hello,
                                                           .frame = frame };
    static struct hearthi_connection             l;

    if (len == 0)
        return 0;
    memset(&l, 0, offsetof(struct hearthi_connection, in));
    memset(&l.in, 0, offsetof(struct hearthi_connection_in, data));
    l.state = HEARTHI_CONNECTION_HELLO;
    l.calls = &calls;
    greeted = false;
    read_so_far = expected = 0;
    piece = 64 + (size_t)data[0] * data[0];
    input = data + 1;
    size = len - 1;
    at = 0;
    hearthi_connection_read(&l);
    free(l.in.body);
    return 0;
}
