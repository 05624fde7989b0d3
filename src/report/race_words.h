/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Places, memory and values, as lines about races have them.  On rank 0.
 */
#ifndef HEARTHI_RACE_WORDS_H
#define HEARTHI_RACE_WORDS_H

#include <stdint.h>
#include <stdio.h>

#include "advice.h"
#include "profile/allocations.h"

/* The index of a place: in no file with an empty path; and its words. */
uint32_t                 hearthi_race_site(const char *path, uint64_t offset);
struct hearthi_site_text hearthi_race_site_words(uint32_t site);

/* The youngest allocation that has an address, as far as rank 0 knows; or
 * NULL. */
const struct hearthi_allocated *hearthi_race_memory(uintptr_t at);

/* "element 12 of `a` (sor.c:30)". */
void hearthi_race_memory_print(FILE *out, uintptr_t at);

/* What a word has for an offset of the heap: the word, a half or a byte of it,
 * by the size of the elements there. */
void hearthi_race_value_print(FILE *out, uint64_t word, uint64_t at);

_Noreturn void hearthi_race_text_failed(void);
void           hearthi_race_words_close(void);

#endif
