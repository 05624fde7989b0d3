/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Places, memory and values, as lines about races have them.
 */
#include "config.h"

#include "race_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/report.h"
#include "merged.h"
#include "profile/caller.h"
#include "space/heap.h"

static struct hearthi_merged m; /* all places so far */

void
hearthi_race_text_failed(void)
{
    hearthi_fatal("hearth_barrier",
                  "no memory to tell of races: leave HEARTH_RACES out");
}

/* ---- places ---- */

static const char *
path_of(const char *path)
{
    size_t i = 0;

    while (i < m.paths && strcmp(m.path[i], path) != 0)
        i++;
    if (i == HEARTHI_MERGED_PATHS)
        return NULL;
    if (i == m.paths && (m.path[m.paths++] = strdup(path)) == NULL)
        hearthi_race_text_failed();
    return m.path[i];
}

static void
site_resolve(struct hearthi_site *s)
{
    struct hearthi_merged one = { .site = s, .sites = 1 };

    if (s->module == NULL || s->file != NULL || s->function != NULL)
        return;
    one.path[0] = (char *)(uintptr_t)s->module;
    one.paths = 1;
    hearthi_sites_resolve(&one);
}

uint32_t
hearthi_race_site(const char *path, uint64_t offset)
{
    const char          *module = path[0] == '\0' ? NULL : path_of(path);
    struct hearthi_site *more;

    for (size_t i = 0; i < m.sites; i++)
        if (m.site[i].module == module && m.site[i].offset == offset)
            return (uint32_t)i;
    more = realloc(m.site, (m.sites + 1) * sizeof *more);
    if (more == NULL)
        hearthi_race_text_failed();
    m.site = more;
    more[m.sites++] = (struct hearthi_site){ module, offset, NULL, NULL, 0 };
    return (uint32_t)m.sites - 1;
}

static uint32_t
site_at(uintptr_t at)
{
    uint64_t    offset;
    const char *path = hearthi_caller_module(at, &offset);

    return hearthi_race_site(path == NULL ? "" : path, offset);
}

/* A site is looked up when words are made of it, one at a time: most races
 * that are no longer told have sites of their own. */
struct hearthi_site_text
hearthi_race_site_words(uint32_t site)
{
    site_resolve(&m.site[site]);
    return hearthi_site_words(&m, site);
}

/* ---- memory ---- */

/* The youngest allocation that has it, as far as rank 0 knows. */
const struct hearthi_allocated *
hearthi_race_memory(uintptr_t at)
{
    const struct hearthi_allocated *a, *found = NULL;

    for (size_t i = 0; (a = hearthi_allocations_get(i)) != NULL; i++)
        if (at - a->from < a->bytes)
            found = a;
    return found;
}

void
hearthi_race_memory_print(FILE *out, uintptr_t at)
{
    const struct hearthi_allocated *a = hearthi_race_memory(at);
    struct hearthi_site_text        w;
    size_t                          off;

    if (a == NULL) {
        fprintf(out, "memory at %#" PRIxPTR, at);
        return;
    }
    w = hearthi_race_site_words(site_at(a->at));
    off = at - a->from;
    if (a->element > 0)
        fprintf(out, "element %zu", off / a->element);
    if (a->element > 0 && a->element != 4 && a->element != 8)
        fprintf(out, " (byte %zu of it)", off % a->element);
    if (a->element == 0)
        fprintf(out, "byte %zu", off);
    if (a->name != NULL)
        fprintf(out, " of `%s` (%s)", a->name, w.text);
    else
        fprintf(out, " of the %zu bytes from %s", a->bytes, w.text);
}

/* ---- values ---- */

static void
half_print(FILE *out, uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    if (isfinite(f) && fabsf(f) > 1e-6F && fabsf(f) < 1e9F)
        hearthi_decimal_print(out, 7, (double)f);
    else
        fprintf(out, "%" PRId32, (int32_t)bits);
}

/* A number that is small as a double is none: it is an integer. */
static void
word_print(FILE *out, uint64_t bits)
{
    double d;

    memcpy(&d, &bits, sizeof d);
    if (isfinite(d) && fabs(d) > 1e-9 && fabs(d) < 1e18)
        hearthi_decimal_print(out, 15, d);
    else
        fprintf(out, "%" PRId64, (int64_t)bits);
}

/* Of an element of 4 bytes its half of the word; of one of 1 or 2, and where
 * no element is known, the byte. */
void
hearthi_race_value_print(FILE *out, uint64_t word, uint64_t at)
{
    const struct hearthi_allocated *a =
        hearthi_race_memory((uintptr_t)hearthi_heap.base + at);
    const size_t  element = a == NULL ? 0 : a->element;
    unsigned char byte[sizeof word];
    uint32_t      half;

    memcpy(byte, &word, sizeof word);
    memcpy(&half, byte + (at & 4), sizeof half);
    if (element > 0 && element % 8 == 0)
        word_print(out, word);
    else if (element > 0 && element % 4 == 0)
        half_print(out, half);
    else
        fprintf(out, "%#x", byte[at % sizeof word]);
}

void
hearthi_race_words_close(void)
{
    for (size_t i = 0; i < m.sites; i++) {
        free(m.site[i].file);
        free(m.site[i].function);
    }
    free(m.site);
    for (size_t i = 0; i < m.paths; i++)
        free(m.path[i]);
    memset(&m, 0, sizeof m);
}
