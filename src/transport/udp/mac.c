/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The MAC of a datagram: SipHash-2-4 under the session's key, over the head
 * and a hash of the body, so that head and body need not lie together.
 *
 * The hash of a short body is SipHash, too.  That of a long one is Poly1305
 * under a second secret key: as a universal hash, whose value no listener sees
 * because SipHash, a pseudo-random function, goes over it.  So its key may
 * serve more than once, which it must not where its value is the tag.  (Hash,
 * then PRF: Carter and Wegman, "New hash functions and their use in
 * authentication and set equality", 1981; Poly1305: RFC 8439.) 4 KiB take 2.0
 * us with SipHash, 1.35 with libsodium's Poly1305 and 0.47 with OpenSSL's,
 * which is the same function.
 *
 * Without a keyed hash the session's random word stands there: it tells this
 * job from others, but not from a listener that repeats it.
 */
#include "config.h"

#include <string.h>

#include "base/report.h"
#include "socket.h"
#include "udp_job.h"
#include "wire.h"

enum { SHORT = 512, DIGEST = 16 }; /* bytes */

#ifdef HAVE_LIBSODIUM
#include <sodium.h>

bool
hearthi_udp_can_mac(void)
{
    return sodium_init() >= 0;
}

static uint64_t
hash(const uint8_t *data, size_t len)
{
    uint64_t h;

    _Static_assert(crypto_shorthash_BYTES == sizeof h &&
                       crypto_shorthash_KEYBYTES == sizeof hearthi_udp.key,
                   "SipHash-2-4");
    crypto_shorthash((uint8_t *)&h, data, len, hearthi_udp.key);
    return h;
}
#else
bool
hearthi_udp_can_mac(void)
{
    return false;
}

static uint64_t
hash(const uint8_t *data, size_t len)
{
    (void)data, (void)len;
    return hearthi_udp.session;
}
#endif

#if defined HAVE_LIBSODIUM && defined HAVE_LIBCRYPTO
#include <openssl/evp.h>

static EVP_MAC      *poly1305;
static pthread_key_t contexts; /* one for each thread */

static void
context_free(void *c)
{
    EVP_MAC_CTX_free(c);
}

void
hearthi_udp_mac_open(void)
{
    poly1305 = EVP_MAC_fetch(NULL, "POLY1305", NULL);
    if (poly1305 == NULL || pthread_key_create(&contexts, context_free) != 0)
        hearthi_fatal("hearth_init",
                      "OpenSSL has no Poly1305 here: allow it, or configure "
                      "--without-libcrypto");
}

/* The contexts of other threads go with their threads. */
void
hearthi_udp_mac_close(void)
{
    context_free(pthread_getspecific(contexts));
    pthread_key_delete(contexts);
    EVP_MAC_free(poly1305);
}

/*
 * OpenSSL's Poly1305 (3.0 with AVX-512) ends a hash whose length is not a
 * multiple of 16 with the upper halves of vector registers in use.  Until
 * something cleans them, every SSE instruction of the caller has to keep them:
 * hearth-ep computed ten times as long after one authenticated datagram.
 */
#ifdef __x86_64__
#include <immintrin.h>

__attribute__((target("avx"), noinline)) static void
upper_halves_zero(void)
{
    _mm256_zeroupper();
}

static void
registers_clean(void)
{
    if (__builtin_cpu_supports("avx"))
        upper_halves_zero();
}
#else
static void
registers_clean(void)
{
}
#endif

static void
long_hash(const uint8_t *body, size_t len, uint8_t digest[DIGEST])
{
    EVP_MAC_CTX *c = pthread_getspecific(contexts);
    size_t       n;

    if (c == NULL) {
        c = EVP_MAC_CTX_new(poly1305);
        pthread_setspecific(contexts, c);
    }
    if (c == NULL ||
        !EVP_MAC_init(c, hearthi_udp.body_key, sizeof hearthi_udp.body_key,
                      NULL) ||
        !EVP_MAC_update(c, body, len) || !EVP_MAC_final(c, digest, &n, DIGEST))
        hearthi_fatal("udp", "OpenSSL's Poly1305 failed");
    registers_clean();
}
#else
void
hearthi_udp_mac_open(void)
{
}

void
hearthi_udp_mac_close(void)
{
}

static void
long_hash(const uint8_t *body, size_t len, uint8_t digest[DIGEST])
{
#ifdef HAVE_LIBSODIUM
    _Static_assert(crypto_onetimeauth_BYTES == DIGEST &&
                       crypto_onetimeauth_KEYBYTES ==
                           sizeof hearthi_udp.body_key,
                   "Poly1305");
    crypto_onetimeauth(digest, body, len, hearthi_udp.body_key);
#else
    (void)body, (void)len, (void)digest;
#endif
}
#endif

uint64_t
hearthi_udp_mac(const uint8_t *head, const void *body, size_t len)
{
    enum { REST = HEARTHI_UDP_HEAD - sizeof(uint64_t) };
    uint8_t  all[REST + DIGEST] = { 0 };
    uint64_t inner;

    if (!hearthi_udp.auth)
        return hearthi_udp.session;
    memcpy(all, head + sizeof inner, REST);
    if (len > SHORT) {
        long_hash(body, len, all + REST);
    } else if (len > 0) {
        inner = hash(body, len);
        memcpy(all + REST, &inner, sizeof inner);
    }
    return hash(all, sizeof all);
}
