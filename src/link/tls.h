/* SPDX-License-Identifier: BSD-2-Clause
 *
 * TLS 1.3 between two gateways that share a key, by OpenSSL.
 *
 * The key is an external pre-shared key (RFC 8446, 2.2) with a Diffie-Hellman
 * exchange (psk_dhe_ke), so that a thief who gets the key later cannot read
 * what went before.  It is the standard's own way for two ends with one secret
 * and no certificates; the handshake, its transcript and the record layer are
 * the library's, which is kept by many and is in every distribution (libsodium
 * has no handshake, libssh and WireGuard bring identities of their own).
 * Without certificates and without other modes there is nothing to negotiate:
 * a server that is given no such key, or a wrong one, answers by an alert.
 *
 * All gateways of a job have one key: each could say that it is another, or be
 * shown its own messages (RFC 9257, 4.1).  The hello that follows says which
 * one speaks, and that they are distinct is checked there.
 */
#ifndef HEARTHI_LINK_TLS_H
#define HEARTHI_LINK_TLS_H

#include <openssl/ssl.h>
#include <stddef.h>
#include <stdint.h>

#include "key.h"

struct hearthi_tls {
    SSL_CTX      *context;
    unsigned char key[HEARTHI_KEY_BYTES];
};

bool hearthi_tls_open(struct hearthi_tls *t, const char *key,
                      struct hearthi_link_error *wrong);
void hearthi_tls_close(struct hearthi_tls *t);

/* One end of a connection.  What is encrypted gathers, and goes out by
 * hearthi_tls_flush(). */
SSL *hearthi_tls_new(struct hearthi_tls *t, int fd, bool server);
void hearthi_tls_free(SSL *s);

/* False: the connection is gone, errno says why.  What the socket does not
 * take stays. */
bool   hearthi_tls_flush(SSL *s);
size_t hearthi_tls_waiting(const SSL *s);

/* Bytes that have come, records that are not whole included. */
uint64_t hearthi_tls_came(const SSL *s);

/* What went wrong with this thread's last call, in the library's words. */
const char *hearthi_tls_error(void);

#endif
