/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What names a lock: a number or an address, as one word.  0 is none.
 */
#ifndef HEARTHI_LOCK_KEY_H
#define HEARTHI_LOCK_KEY_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t
hearthi_lock_key_of_number(int number)
{
    return (uint64_t)number << 1 | 1;
}

static inline uint64_t
hearthi_lock_key_of_address(const void *address)
{
    return (uint64_t)(uintptr_t)address << 1;
}

/* Spread over all 64 bits (the finaliser of MurmurHash3, by A. Appleby). */
static inline uint64_t
hearthi_lock_key_mix(uint64_t name)
{
    name = (name ^ name >> 33) * UINT64_C(0xff51afd7ed558ccd);
    name = (name ^ name >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return name ^ name >> 33;
}

/* What the user calls it: "9", or "of 0x7f00". */
void hearthi_lock_key_text(uint64_t name, char *text, size_t room);
enum { HEARTHI_LOCK_KEY_TEXT = 24 };

/* ---- abandoned_locks.c ---- */

/* The locks that are lost with a rank that is gone, as far as the ranks know
 * that are left: the lowest few.  Sent as it is; zeros are none. */

enum { HEARTHI_ABANDONED_LOCKS = 3 };

struct hearthi_abandoned_locks {
    uint64_t lock[HEARTHI_ABANDONED_LOCKS]; /* names (lock_names.h), rising;
                                               then 0 */
    uint64_t more;                          /* not 0: and others */
};

/* Nothing if the name is not known. */
void hearthi_abandoned_locks_add(struct hearthi_abandoned_locks *l,
                                 uint64_t                        name);

/* "; lock 9 is lost with it", or nothing. */
void hearthi_abandoned_locks_text(const struct hearthi_abandoned_locks *l,
                                  char *text, size_t room);

#endif
