/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Objects: what a version is, how it is written, how it is checked.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "watch.h"

enum { VERSIONS_AHEAD = 1 << 20 }; /* more is nonsense */

/* splitmix64's finaliser over both. */
uint64_t
mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) *
                 0xbf58476d1ce4e5b9u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t
draw(uint64_t *state, uint64_t below)
{
    *state = mix(*state, below);
    return *state % below;
}

/* Which units version v writes: first, first + step, ... below end. */
struct extent {
    size_t first, step, end;
    bool   same; /* writes what is there already */
};

static struct extent
version_extent(const struct object *o, uint64_t version)
{
    uint64_t      random = mix(o->key, version);
    struct extent e = { 0, 1, o->units, false };

    switch (draw(&random, 8)) {
    case 0: break;
    case 1: e.step = 2 + draw(&random, 15); break;
    case 2:
    case 3:
        e.first = draw(&random, o->units);
        e.end = e.first + 1 + draw(&random, 64);
        break;
    case 4:
        e.first = draw(&random, o->units);
        e.end = e.first + 1;
        break;
    case 5: e.end = 0; break;
    case 6: e.same = true; break;
    default: e.step = 1 + o->units / 4; e.first = draw(&random, e.step);
    }
    if (e.end > o->units)
        e.end = o->units;
    return e;
}

static void
model_advance(struct object *o, uint64_t version)
{
    struct extent e = version_extent(o, version);
    unsigned      unit = o->arena->unit;
    uint64_t      key = mix(o->key + 1, version);

    for (size_t i = e.first; !e.same && i < e.end; i += e.step) {
        uint64_t value = mix(key, i);
        for (unsigned k = 0; k < unit; k++)
            o->model[i * unit + k] = (unsigned char)(value >> 8 * k) & o->mask;
    }
    o->version = version;
}

static unsigned char *
unit_address(const struct object *o, size_t i)
{
    return o->arena->base + (size_t)o->where[i] * o->arena->unit;
}

/* One unit, in one store or in several. */
static void
unit_store(const struct object *o, size_t i, bool split)
{
    unsigned             unit = o->arena->unit;
    const unsigned char *from = o->model + i * unit;
    unsigned char       *to = unit_address(o, i);
    uint32_t             four;
    uint64_t             eight;

    if (unit == 8 && !split) {
        memcpy(&eight, from, 8);
        *(volatile uint64_t *)(void *)to = eight;
    } else if (unit == 4 && !split) {
        memcpy(&four, from, 4);
        *(volatile uint32_t *)(void *)to = four;
    } else {
        for (unsigned k = 0; k < unit; k++)
            ((volatile unsigned char *)to)[k] = from[k];
    }
}

/* How many units from i on lie side by side. */
static size_t
units_together(const struct object *o, size_t i, size_t end)
{
    size_t n = 1;

    while (i + n < end && o->where[i + n] == o->where[i] + n)
        n++;
    return n;
}

static void
version_store(struct actor *a, const struct object *o, uint64_t version)
{
    struct extent e = version_extent(o, version);
    unsigned      unit = o->arena->unit;
    uint64_t      style = draw(&a->random, 3);
    bool          promise = draw(&a->random, 2) == 0;
    size_t        promised = 0;

    for (size_t i = e.first; i < e.end; i += e.step) {
        size_t n = e.step == 1 ? units_together(o, i, e.end) : 1;

        if (promise && i >= promised) {
            hearth_overwrite(unit_address(o, i), n * unit);
            promised = i + n;
        }
        if (style == 0) {
            memcpy(unit_address(o, i), o->model + i * unit, n * unit);
            i += n - 1;
        } else {
            unit_store(o, i, style == 1);
        }
    }
}

/* Say at which versions the byte was what was found. */
static const char *
history_text(struct object *o, size_t byte, unsigned char found, char *text,
             size_t room)
{
    uint64_t  last = o->version;
    long long match = -1;

    memset(o->model, 0, o->units * o->arena->unit);
    for (uint64_t v = 0; v <= last; v++) {
        if (v > 0)
            model_advance(o, v);
        if (o->model[byte] == found)
            match = (long long)v;
    }
    if (match < 0)
        return "no version ever had such a byte there";
    snprintf(text, room, "version %lld was the last to have such a byte there",
             match);
    return text;
}

static const char *
custody_text(const struct actor *a, const struct object *o, char *text,
             size_t room)
{
    static const char *const names[] = { "under lock", "of rank", "read only",
                                         "in chain", "roaming" };
    int keeper = o->custody == UNDER_LOCK ? a->w->lock[o->keeper] : o->keeper;

    snprintf(text, room, "%s %d", names[o->custody], keeper);
    return text;
}

static const char *
layout_text(const struct arena *arena, char *text, size_t room)
{
    switch (arena->layout.kind) {
    case HEARTH_BLOCK: return "block";
    case HEARTH_CYCLIC:
        snprintf(text, room, "cyclic(%llu)",
                 (unsigned long long)arena->layout.pages);
        return text;
    case HEARTH_ON:
        snprintf(text, room, "on(%d)", arena->layout.rank);
        return text;
    case HEARTH_FIRST_TOUCH: return "first touch";
    }
    return "?";
}

_Noreturn static void
byte_fail(struct actor *a, struct object *o, size_t i, unsigned k)
{
    unsigned                unit = o->arena->unit;
    size_t                  byte = i * unit + k;
    volatile unsigned char *at = unit_address(o, i) + k;
    size_t        offset = (size_t)((unsigned char *)at - o->arena->base);
    unsigned char found = *at, want = o->model[byte];
    uint64_t      version = o->version;
    char          custody[40], layout[40], history[80];

    world_fail(a,
               "wrong byte %p (arena %d: %s, elements of %zu; offset %zu = "
               "page %zu + %zu, home %d): found 0x%02x, expected 0x%02x; "
               "version %llu of object %d (%s); %s",
               (void *)(uintptr_t)at, (int)(o->arena - a->w->arena),
               layout_text(o->arena, layout, sizeof layout), o->arena->size,
               offset, offset / 4096, offset % 4096,
               hearth_home((void *)(uintptr_t)at), found, want,
               (unsigned long long)version, o->slot,
               custody_text(a, o, custody, sizeof custody),
               history_text(o, byte, found, history, sizeof history));
}

static bool
unit_right(const struct object *o, size_t i)
{
    unsigned             unit = o->arena->unit;
    const unsigned char *want = o->model + i * unit;
    const unsigned char *at = unit_address(o, i);
    uint32_t             four;
    uint64_t             eight;

    if (unit == 1)
        return *(const volatile unsigned char *)at == *want;
    if (unit == 4) {
        four = *(const volatile uint32_t *)(const void *)at;
        return memcmp(&four, want, 4) == 0;
    }
    eight = *(const volatile uint64_t *)(const void *)at;
    return memcmp(&eight, want, 8) == 0;
}

/* The version there is; what the heap says about it must be right. */
static uint64_t
version_now(struct actor *a, const struct object *o, bool look)
{
    uint64_t want = oracle == NULL ? 0 : oracle->version[o->slot];
    uint64_t found = want;
    char     custody[40];

    if (look || oracle == NULL)
        found = (uint64_t)*version_word(a->w, o->slot);
    if (oracle != NULL
            ? found != want
            : found < o->version || found - o->version > VERSIONS_AHEAD)
        world_fail(a,
                   "wrong version word %p (home %d): found %llu, expected "
                   "%s%llu; of object %d (%s)",
                   (void *)(uintptr_t)version_word(a->w, o->slot),
                   hearth_home((void *)(uintptr_t)version_word(a->w, o->slot)),
                   (unsigned long long)found,
                   oracle == NULL ? "at least " : "",
                   (unsigned long long)(oracle == NULL ? o->version : want),
                   o->slot, custody_text(a, o, custody, sizeof custody));
    return found;
}

void
object_check(struct actor *a, struct object *o)
{
    uint64_t version = version_now(a, o, true);
    size_t   stride = draw(&a->random, 3) ? 1 : 1 + draw(&a->random, 40);
    size_t   first = stride == 1 ? 0 : draw(&a->random, stride);

    while (o->version < version)
        model_advance(o, o->version + 1);
    if (first < o->units)
        tally_add(TALLY_CHECKED, 1 + (o->units - first - 1) / stride);
    for (size_t i = first; i < o->units; i += stride) {
        if (unit_right(o, i))
            continue;
        for (unsigned k = 0; k < o->arena->unit; k++)
            if (unit_address(o, i)[k] != o->model[i * o->arena->unit + k])
                byte_fail(a, o, i, k);
        world_fail(a, "offset %zu of arena %d was wrong, then right",
                   (size_t)(unit_address(o, i) - o->arena->base),
                   (int)(o->arena - a->w->arena));
    }
}

/* Make the next version; often without having read anything before. */
void
object_write(struct actor *a, struct object *o)
{
    uint64_t version = version_now(a, o, draw(&a->random, 2)) + 1;

    if (o->units == 0)
        return;
    while (o->version < version)
        model_advance(o, o->version + 1);
    version_store(a, o, version);
    *version_word(a->w, o->slot) = (int64_t)version;
    o->made++;
    if (oracle != NULL)
        oracle->version[o->slot] = version;
}
