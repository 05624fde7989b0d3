/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tls.h"

#include <openssl/err.h>
#include <string.h>

#include "bio.h"

/* Tells nothing: who listens sees it in clear. */
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
    BIO *pipe = hearthi_bio_new(fd);

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
    return hearthi_bio_flush(SSL_get_wbio(s));
}

size_t
hearthi_tls_waiting(const SSL *s)
{
    return hearthi_bio_waiting(SSL_get_wbio(s));
}

uint64_t
hearthi_tls_came(const SSL *s)
{
    return hearthi_bio_came(SSL_get_rbio(s));
}

const char *
hearthi_tls_error(void)
{
    unsigned long e = ERR_peek_last_error();
    const char   *text = e != 0 ? ERR_reason_error_string(e) : NULL;

    return text != NULL ? text : "no reason given";
}
