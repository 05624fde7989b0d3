/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tls.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* ---- a socket as OpenSSL's input and output ----
 *
 * OpenSSL's own would send each record by a call of its own, and raise SIGPIPE
 * in a program that may not expect it. */

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

static bool
bio_flush(BIO *b)
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

static size_t
bio_waiting(BIO *b)
{
    struct pipe *p = BIO_get_data(b);

    return p->to - p->from;
}

static uint64_t
bio_came(BIO *b)
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
        if (!bio_flush(b))
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
        return bio_flush(b);
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

/* fd stays the caller's. */
static BIO *
bio_new(int fd)
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

/* ---- keys ---- */

/* Tells nothing: a listener sees it in clear. */
static const unsigned char identity[] = "hearth";

enum { IDENTITY = sizeof identity - 1, READ_AHEAD = 256 << 10 };

/* The session that the key stands for, as OpenSSL wants it.  Its cipher gives
 * the hash that goes with the key: SHA-256. */
static SSL_SESSION *
session_new(SSL *s)
{
    static const unsigned char aes128_gcm_sha256[] = { 0x13, 0x01 };
    struct hearthi_tls        *t = SSL_get_app_data(s);
    SSL_SESSION               *one = SSL_SESSION_new();

    if (one != NULL &&
        SSL_SESSION_set1_master_key(one, t->key, sizeof t->key) == 1 &&
        SSL_SESSION_set_cipher(one, SSL_CIPHER_find(s, aes128_gcm_sha256)) ==
            1 &&
        SSL_SESSION_set_protocol_version(one, TLS1_3_VERSION) == 1)
        return one;
    SSL_SESSION_free(one);
    return NULL;
}

static int
client_key(SSL *s, const EVP_MD *hash, const unsigned char **id, size_t *len,
           SSL_SESSION **session)
{
    (void)hash;
    *id = identity;
    *len = IDENTITY;
    *session = session_new(s);
    return *session != NULL;
}

static int
server_key(SSL *s, const unsigned char *id, size_t len, SSL_SESSION **session)
{
    *session = NULL;
    if (len == IDENTITY && memcmp(id, identity, len) == 0)
        *session = session_new(s);
    return 1; /* without a session the handshake fails: no certificate */
}

/* Ciphers whose hash is the key's. */
static bool
context_set(SSL_CTX *c)
{
    SSL_CTX_set_psk_use_session_callback(c, client_key);
    SSL_CTX_set_psk_find_session_callback(c, server_key);
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE |
                            SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(c, 1);
    SSL_CTX_set_default_read_buffer_len(c, READ_AHEAD);
    return SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_num_tickets(c, 0) == 1 &&
           SSL_CTX_set_ciphersuites(c, "TLS_AES_128_GCM_SHA256:"
                                       "TLS_CHACHA20_POLY1305_SHA256") == 1;
}

/* OpenSSL is not to clean up when the program ends: a thread of the library
 * may still be in it. */
bool
hearthi_tls_open(struct hearthi_tls *t, const char *key,
                 struct hearthi_link_error *wrong)
{
    t->context = NULL;
    if (!hearthi_key_read(key, t->key, wrong))
        return false;
    if (OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL) == 1)
        t->context = SSL_CTX_new(TLS_method());
    if (t->context != NULL && context_set(t->context))
        return true;
    hearthi_link_error(wrong, "OpenSSL cannot TLS 1.3 here: %s",
                       hearthi_tls_error());
    hearthi_tls_close(t);
    return false;
}

void
hearthi_tls_close(struct hearthi_tls *t)
{
    SSL_CTX_free(t->context);
    t->context = NULL;
    OPENSSL_cleanse(t->key, sizeof t->key);
}

SSL *
hearthi_tls_new(struct hearthi_tls *t, int fd, bool server)
{
    SSL *s = SSL_new(t->context);
    BIO *pipe = bio_new(fd);

    if (s == NULL || pipe == NULL) {
        SSL_free(s);
        BIO_free(pipe);
        return NULL;
    }
    SSL_set_app_data(s, t);
    SSL_set_bio(s, pipe, pipe);
    if (server) {
        SSL_set_accept_state(s);
    } else {
        /* One that shows a certificate, and not that it knows the key. */
        SSL_set_verify(s, SSL_VERIFY_PEER, NULL);
        SSL_set_connect_state(s);
    }
    return s;
}

void
hearthi_tls_free(SSL *s)
{
    SSL_free(s);
}

bool
hearthi_tls_flush(SSL *s)
{
    return bio_flush(SSL_get_wbio(s));
}

size_t
hearthi_tls_waiting(const SSL *s)
{
    return bio_waiting(SSL_get_wbio(s));
}

uint64_t
hearthi_tls_came(const SSL *s)
{
    return bio_came(SSL_get_rbio(s));
}

const char *
hearthi_tls_error(void)
{
    unsigned long e = ERR_peek_last_error();
    const char   *text = e != 0 ? ERR_reason_error_string(e) : NULL;

    return text != NULL ? text : "no reason given";
}
