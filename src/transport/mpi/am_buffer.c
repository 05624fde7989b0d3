/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "am_buffer.h"

#include <string.h>

/* A head is an offset, with below it the length of a run, or 0 for a patch and
 * then the size of its units. */
enum { LEN_BITS = 16, SHIFT_BITS = 2 };

/* ---- making ---- */

static uint8_t *
word_put(uint8_t *at, uint64_t word)
{
    memcpy(at, &word, sizeof word);
    return at + sizeof word;
}

void
hearthi_am_buffer_run(struct hearthi_am_buffer *l, size_t offset,
                      const void *src, size_t len)
{
    uint8_t *at =
        word_put(l->body + l->bytes, (uint64_t)offset << LEN_BITS | len);

    memcpy(at, src, len);
    l->bytes += HEARTHI_RUN_HEAD + len;
}

void
hearthi_am_buffer_patch(struct hearthi_am_buffer   *l,
                        const struct hearthi_patch *p, size_t offset,
                        const char *src)
{
    uint8_t *at = l->body + l->bytes;

    at = word_put(at, ((uint64_t)offset << SHIFT_BITS | p->shift) << LEN_BITS);
    at = word_put(at, p->bits);
    at = hearthi_patch_take(at, src, p);
    l->bytes = (uint64_t)(at - l->body);
}

/* ---- storing ---- */

static const uint8_t *
patch_store(char *segment, uint64_t where, const uint8_t *from)
{
    char    *to = segment + (size_t)(where >> SHIFT_BITS);
    unsigned shift = where & ((1 << SHIFT_BITS) - 1);
    uint64_t bits;

    memcpy(&bits, from, sizeof bits);
    from += sizeof bits;
    return hearthi_patch_store(to, from, bits, shift);
}

/* A word is a usual length, and then one store. */
static const uint8_t *
run_store(char *to, const uint8_t *from, size_t len)
{
    if (len == sizeof(uint64_t))
        memcpy(to, from, sizeof(uint64_t));
    else
        memcpy(to, from, len);
    return from + len;
}

void
hearthi_am_buffer_store(const struct hearthi_am_buffer *l, char *segment)
{
    const uint8_t *at = l->body, *end = at + l->bytes;

    while (at < end) {
        uint64_t head, where;
        size_t   len;

        memcpy(&head, at, sizeof head);
        at += sizeof head;
        len = head & ((1 << LEN_BITS) - 1);
        where = head >> LEN_BITS;
        at = len == 0 ? patch_store(segment, where, at)
                      : run_store(segment + (size_t)where, at, len);
    }
}
