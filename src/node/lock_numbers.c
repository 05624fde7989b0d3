/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "lock_numbers.h"

#include <stdlib.h>

#include "base/report.h"
#include "lock_names.h"

struct entry {
    uint64_t key, value;
};

static struct {
    bool          on;
    int           base;
    struct entry *number, *name; /* sorted by the numbers, and by the names */
    size_t        n, room;
} l;

void
hearthi_lock_numbers_begin(bool on, int end)
{
    l.on = on;
    l.base = on ? end : 0;
}

static struct entry *
grown(struct entry *of, size_t room)
{
    of = realloc(of, room * sizeof *of);
    if (of == NULL)
        hearthi_fatal("hearth_init", "no memory for the names of %zu locks",
                      room);
    return of;
}

void
hearthi_lock_numbers_note(int number, uint64_t name)
{
    if (l.n == l.room) {
        l.room = l.room == 0 ? 64 : 2 * l.room;
        l.number = grown(l.number, l.room);
        l.name = grown(l.name, l.room);
    }
    l.number[l.n] = (struct entry){ (uint64_t)number, name };
    l.name[l.n++] = (struct entry){ name, (uint64_t)number };
}

static int
entry_compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return x->key < y->key ? -1 : x->key > y->key;
}

void
hearthi_lock_numbers_settle(void)
{
    if (l.n == 0)
        return;
    qsort(l.number, l.n, sizeof *l.number, entry_compare);
    qsort(l.name, l.n, sizeof *l.name, entry_compare);
}

void
hearthi_lock_numbers_close(void)
{
    free(l.number);
    free(l.name);
    l.number = l.name = NULL;
    l.n = l.room = 0;
    l.on = false;
    l.base = 0;
}

bool
hearthi_lock_numbers_is_on(void)
{
    return l.on;
}

int
hearthi_lock_numbers_end(void)
{
    return l.base + hearthi_syncs - HEARTHI_SYNCS;
}

static const struct entry *
entry_of(const struct entry *in, uint64_t key)
{
    const struct entry wanted = { key, 0 };

    return l.n == 0 ? NULL
                    : bsearch(&wanted, in, l.n, sizeof *in, entry_compare);
}

int
hearthi_lock_numbers_of(int sync, uint64_t name)
{
    const struct entry *e = entry_of(l.name, name);

    return e != NULL ? (int)e->value : l.base + sync - HEARTHI_SYNCS;
}

uint64_t
hearthi_lock_numbers_name(int number)
{
    const struct entry *e = entry_of(l.number, (uint64_t)number);

    return e == NULL ? 0 : e->value;
}

/* What no run has given is beyond all locks there are. */
int
hearthi_lock_numbers_sync(int number)
{
    return number < l.base ? hearthi_syncs : HEARTHI_SYNCS + (number - l.base);
}
