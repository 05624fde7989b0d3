/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "parmacs_private.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/min.h"
#include "base/report.h"
#include "collective.h"
#include "parmacs_part.h"
#include "parmacs_program.h"

/* ---- pointers ---- */

enum { RESIDENT_AT_ONCE = 4096 }; /* pages that the kernel is asked for */

static bool looking; /* for pointers, on this rank */

/* Rank 1 looks for all: what main() stores, it stores on each rank. */
void
hearthi_parmacs_pointers_open(void)
{
    uint64_t loaded;

    hearthi_program_find();
    loaded = hearthi_program.loaded;
    hearthi_collective_bcast(&loaded, sizeof loaded, 0, hearthi_parmacs.comm);
    looking = hearthi_parmacs.rank == 1 && loaded != hearthi_program.loaded;
}

static void
pointer_say(const char *at, uintptr_t to)
{
    struct hearthi_symbols s;
    const hearthi_symbol  *y;

    hearthi_symbols_open(&s);
    y = hearthi_symbol_around(&s, to - hearthi_program.loaded);
    hearthi_warn("CREATE",
                 "shared memory has the address of %s at %p, and each process "
                 "has the program at addresses of its own: link it with "
                 "-no-pie, or what follows that address will crash",
                 y == NULL ? "static memory" : s.names + y->st_name,
                 (const void *)at);
    hearthi_symbols_close(&s);
}

static void
words_look(const char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes && looking; i += sizeof(uintptr_t)) {
        uintptr_t word;

        memcpy(&word, at + i, sizeof word);
        if (word - hearthi_program.low >=
            hearthi_program.high - hearthi_program.low)
            continue;
        looking = false;
        pointer_say(at + i, word);
    }
}

/* The pages of the kernel, not those of the heap. */
void
hearthi_parmacs_pointers_look(const char *at, size_t bytes)
{
    size_t        page = (size_t)sysconf(_SC_PAGESIZE);
    size_t        most = RESIDENT_AT_ONCE * page;
    unsigned char there[RESIDENT_AT_ONCE];

    for (; bytes > 0 && looking; at += most, bytes -= most) {
        most = hearthi_min(most, bytes);
        if (mincore((void *)(uintptr_t)at, most, there) != 0)
            return;
        for (size_t i = 0; i * page < most; i++)
            if ((there[i] & 1) != 0)
                words_look(at + i * page, page);
    }
}

/* ---- results ---- */

static char *kept[HEARTHI_PROGRAM_PARTS]; /* the parts as they were */

void
hearthi_parmacs_globals_keep(void)
{
    hearthi_program_find();
    for (int i = 0; i < hearthi_program.parts; i++) {
        if (kept[i] == NULL)
            kept[i] = malloc(hearthi_program.part[i].bytes);
        if (kept[i] != NULL)
            memcpy(kept[i], hearthi_program.part[i].at,
                   hearthi_program.part[i].bytes);
    }
}

/* What the linker took out of a library is no variable of the program's. */
static bool
is_variable(const struct hearthi_symbols *s, const hearthi_symbol *y)
{
    return ELF64_ST_TYPE(y->st_info) == STT_OBJECT && y->st_size > 0 &&
           strchr(s->names + y->st_name, '@') == NULL;
}

static bool
is_changed(const hearthi_symbol *y)
{
    const char *at = (const char *)(hearthi_program.loaded + y->st_value);

    for (int i = 0; i < hearthi_program.parts; i++) {
        const struct hearthi_program_part *p = &hearthi_program.part[i];
        size_t                             from = (size_t)(at - p->at);

        if (kept[i] != NULL && from < p->bytes &&
            y->st_size <= p->bytes - from)
            return memcmp(at, kept[i] + from, y->st_size) != 0;
    }
    return false;
}

static bool
is_anything_changed(void)
{
    for (int i = 0; i < hearthi_program.parts; i++)
        if (kept[i] != NULL && memcmp(hearthi_program.part[i].at, kept[i],
                                      hearthi_program.part[i].bytes) != 0)
            return true;
    return false;
}

static int
place_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

void
hearthi_parmacs_globals_changed(struct hearthi_parmacs_changes *c)
{
    struct hearthi_symbols s;

    c->n = 0;
    if (!is_anything_changed())
        return;
    hearthi_symbols_open(&s);
    for (size_t i = 0; i < s.n && c->n < HEARTHI_PARMACS_VARIABLES; i++)
        if (is_variable(&s, &s.symbol[i]) && is_changed(&s.symbol[i]))
            c->variable[c->n++] = s.symbol[i].st_value;
    hearthi_symbols_close(&s);
    qsort(c->variable, c->n, sizeof c->variable[0], place_compare);
}

/* Or may it have done? */
static bool
has(const struct hearthi_parmacs_changes *c, uint64_t variable)
{
    if (c->n == HEARTHI_PARMACS_VARIABLES)
        return true;
    return bsearch(&variable, c->variable, c->n, sizeof variable,
                   place_compare) != NULL;
}

/* Did rank r alone change it? */
static bool
is_alone(const struct hearthi_parmacs_changes *c, int n, int r,
         uint64_t variable)
{
    for (int i = 0; i < n; i++)
        if (i != r && has(&c[i], variable))
            return false;
    return true;
}

static struct hearthi_parmacs_changes said;

/* False if it was said before, or too many were. */
static bool
note(uint64_t variable)
{
    for (size_t i = 0; i < said.n; i++)
        if (said.variable[i] == variable)
            return false;
    if (said.n == HEARTHI_PARMACS_VARIABLES)
        return false;
    said.variable[said.n++] = variable;
    return true;
}

static void
change_say(int rank, uint64_t variable, unsigned others)
{
    struct hearthi_symbols s;
    const hearthi_symbol  *y;
    char                   more[40] = "";

    if (others > 0)
        snprintf(more, sizeof more, " (and %u more)", others);
    hearthi_symbols_open(&s);
    y = hearthi_symbol_around(&s, variable);
    if (y != NULL)
        hearthi_warn("WAIT_FOR_END",
                     "the global variable %s%s was changed by process %d "
                     "alone, and main() has its own: allocate it by G_MALLOC, "
                     "or, where numbers are drawn from 1 on, use m4 "
                     "-DHEARTH_MAIN_LAST, if main() is to see it",
                     s.names + y->st_name, more, rank);
    hearthi_symbols_close(&s);
}

void
hearthi_parmacs_globals_look(const struct hearthi_parmacs_changes *c, int n)
{
    for (int r = 1; r < n; r++) {
        uint64_t first = 0;
        unsigned count = 0;

        for (size_t i = 0; i < c[r].n; i++)
            if (is_alone(c, n, r, c[r].variable[i]) &&
                note(c[r].variable[i]) && count++ == 0)
                first = c[r].variable[i];
        if (count > 0)
            change_say(r, first, count - 1);
    }
}

void
hearthi_parmacs_globals_close(void)
{
    for (int i = 0; i < hearthi_program.parts; i++) {
        free(kept[i]);
        kept[i] = NULL;
    }
    said.n = 0;
}
