/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Runs of bytes on their way home.  8 aligned bytes may be a word that others
 * read while it comes (data_ops.h, notify; hearth_read()), so they come in one
 * message, and are stored as one.
 */
#ifndef HEARTHI_WORD_SPLIT_H
#define HEARTHI_WORD_SPLIT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/min.h"

/* How many bytes of a run go into a message that has room for so many: all, or
 * as many as end with a word.  0: none of them do. */
static inline size_t
hearthi_word_split(uint64_t offset, size_t len, size_t room)
{
    size_t over = (offset + room) % sizeof(uint64_t);

    if (len <= room)
        return len;
    return room > over ? room - over : 0;
}

/* Words that others may load meanwhile, each by one store: `n` bytes, a
 * multiple of 8, to an aligned address.  memcpy(3) makes no such promise. That
 * of x86-64 stores whole words to an aligned address and is some times as
 * fast, so it stays there; those of other machines were seen to store a word
 * in parts (of aarch64 with SVE).  No order is needed between the words of a
 * run: who reads one without synchronising is promised no more than the whole
 * of it. */
static inline void
hearthi_words_store(char *to, const char *from, size_t n)
{
#ifdef __x86_64__
    memcpy(to, from, n);
#else
    uint64_t word;

    for (size_t i = 0; i < n; i += sizeof word) {
        memcpy(&word, from + i, sizeof word);
        __atomic_store_n((uint64_t *)(void *)(to + i), word, __ATOMIC_RELAXED);
    }
#endif
}

/* Store a run.  A word alone is an atomic store with release, for one that
 * tells of flags set before (told_changed() in coherence/sharer_flags.c). */
static inline void
hearthi_run_store(char *to, const char *from, size_t len)
{
    size_t   head = hearthi_min(-(uintptr_t)to % sizeof(uint64_t), len);
    size_t   words = (len - head) / sizeof(uint64_t) * sizeof(uint64_t);
    uint64_t word;

    memcpy(to, from, head);
    to += head;
    from += head;
    HEARTHI_ASSERT(words == 0 || (uintptr_t)to % sizeof(uint64_t) == 0);
    if (words == sizeof word) {
        memcpy(&word, from, sizeof word);
        __atomic_store_n((uint64_t *)(void *)to, word, __ATOMIC_RELEASE);
    } else {
        hearthi_words_store(to, from, words);
    }
    memcpy(to + words, from + words, len - head - words);
}

/* Read one that others store to.  Relaxed: each word is whole, and who needs
 * an order has a fence beside this (shm_fabric.c, gateway_homes.c). */
static inline void
hearthi_run_load(char *to, const char *from, size_t len)
{
    size_t   head = hearthi_min(-(uintptr_t)from % sizeof(uint64_t), len);
    uint64_t word;

    memcpy(to, from, head);
    for (; len - head >= sizeof word; head += sizeof word) {
        word = __atomic_load_n((const uint64_t *)(const void *)(from + head),
                               __ATOMIC_RELAXED);
        memcpy(to + head, &word, sizeof word);
    }
    memcpy(to + head, from + head, len - head);
}

#endif
