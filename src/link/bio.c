/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "bio.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Several records of 16 KiB leave together. */
enum { ROOM = 136 << 10 };

struct pipe {
    int           fd;
    uint64_t      came;
    size_t        from, to; /* what is not sent yet */
    unsigned char out[ROOM];
};

static BIO_METHOD    *method;
static pthread_once_t method_once = PTHREAD_ONCE_INIT;

static bool
would_block(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

bool
hearthi_bio_flush(BIO *b)
{
    struct pipe *p = BIO_get_data(b);

    while (p->from < p->to) {
        ssize_t n =
            send(p->fd, p->out + p->from, p->to - p->from, MSG_NOSIGNAL);

        if (n < 0)
            return would_block();
        p->from += (size_t)n;
    }
    p->from = p->to = 0;
    return true;
}

size_t
hearthi_bio_waiting(BIO *b)
{
    struct pipe *p = BIO_get_data(b);

    return p->to - p->from;
}

uint64_t
hearthi_bio_came(BIO *b)
{
    struct pipe *p = BIO_get_data(b);

    return p->came;
}

static int
out_put(BIO *b, const char *data, int len)
{
    struct pipe *p = BIO_get_data(b);
    size_t       n = (size_t)len;

    BIO_clear_retry_flags(b);
    if (p->to + n > ROOM) {
        if (!hearthi_bio_flush(b))
            return -1;
        memmove(p->out, p->out + p->from, p->to - p->from);
        p->to -= p->from;
        p->from = 0;
    }
    if (n > ROOM - p->to)
        n = ROOM - p->to;
    if (n == 0) {
        BIO_set_retry_write(b);
        return -1;
    }
    memcpy(p->out + p->to, data, n);
    p->to += n;
    return (int)n;
}

static int
in_get(BIO *b, char *data, int len)
{
    struct pipe *p = BIO_get_data(b);
    ssize_t      n = recv(p->fd, data, (size_t)len, 0);

    BIO_clear_retry_flags(b);
    if (n < 0 && would_block())
        BIO_set_retry_read(b);
    p->came += n > 0 ? (size_t)n : 0;
    return (int)n;
}

static long
control(BIO *b, int what, long number, void *pointer)
{
    (void)number, (void)pointer;
    if (what == BIO_CTRL_FLUSH)
        return hearthi_bio_flush(b);
    return 0;
}

static int
pipe_end(BIO *b)
{
    free(BIO_get_data(b));
    return 1;
}

static void
method_make(void)
{
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK,
                          "hearth socket");
    if (method == NULL)
        return;
    BIO_meth_set_write(method, out_put);
    BIO_meth_set_read(method, in_get);
    BIO_meth_set_ctrl(method, control);
    BIO_meth_set_destroy(method, pipe_end);
}

BIO *
hearthi_bio_new(int fd)
{
    struct pipe *p;
    BIO         *b;

    pthread_once(&method_once, method_make);
    if (method == NULL || (p = malloc(sizeof *p)) == NULL)
        return NULL;
    if ((b = BIO_new(method)) == NULL) {
        free(p);
        return NULL;
    }
    p->fd = fd;
    p->came = 0;
    p->from = p->to = 0;
    BIO_set_data(b, p);
    BIO_set_init(b, 1);
    return b;
}
