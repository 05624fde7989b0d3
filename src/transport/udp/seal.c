/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The seal of a datagram: SipHash-2-4 under the session's key, over the head
 * and the hash of the body, so that head and body need not lie together.
 * Without a keyed hash the session's random word stands there: it tells this
 * job from others, but not from one who listens.
 */
#include "config.h"

#include <string.h>

#include "udp.h"

#ifdef HAVE_LIBSODIUM
#include <sodium.h>

bool
hearthi_udp_can_seal(void)
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
hearthi_udp_can_seal(void)
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

uint64_t
hearthi_udp_seal(const uint8_t *head, const void *body, size_t len)
{
    uint64_t inner = 0;
    uint8_t  all[HEARTHI_UDP_HEAD];

    if (!hearthi_udp.auth)
        return hearthi_udp.session;
    if (len > 0)
        inner = hash(body, len);
    memcpy(all, head + sizeof inner, sizeof all - sizeof inner);
    memcpy(all + sizeof all - sizeof inner, &inner, sizeof inner);
    return hash(all, sizeof all);
}
