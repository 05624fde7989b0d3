/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <assert.h>

#include "common.h"

/*
 * A page belongs to the rank in whose part its middle byte lies, and less than
 * a page to the first: what hearth_block() means.
 */
int
app_home(const struct app_run *run, const void *base, size_t bytes,
         const void *at)
{
    const size_t page = app_page_size(run), ranks = (size_t)run->ranks;
    const size_t offset = (size_t)((const char *)at - (const char *)base);
    const size_t middle = offset / page * page + page / 2;

    if (bytes < page)
        return 0;
    return middle < bytes ? (int)(middle * ranks / bytes) : (int)ranks - 1;
}

/* Where this says that each rank's part begins, does the library say so? */
static bool
is_as_said(const struct app_run *run, const char *base, size_t bytes)
{
    for (size_t r = 0; r < (size_t)run->ranks; r++) {
        const char *at = base + bytes / (size_t)run->ranks * r;

        if (app_home(run, base, bytes, at) != hearth_home(at))
            return false;
    }
    return true;
}

void *
app_alloc(const struct app_run *run, size_t count, size_t size,
          hearth_layout layout)
{
    void *p;

    if (run->home == APP_HOMES_FIRST)
        layout = hearth_first_touch();
    else if (run->home != APP_HOMES)
        layout = hearth_on((int)run->home);
    p = hearth_alloc(count, size, layout);
    assert(run->home != APP_HOMES || layout.kind != HEARTH_BLOCK ||
           is_as_said(run, p, count * size));
    return p;
}

size_t
app_home_first(const struct app_run *run, const void *base, size_t rows,
               size_t row_bytes, int rank)
{
    size_t low = 0, high = rows;

    while (low < high) {
        size_t      middle = low + (high - low) / 2;
        const char *at = (const char *)base + middle * row_bytes;

        if (app_home(run, base, rows * row_bytes, at) < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void
app_home_rows(const struct app_run *run, const void *base, size_t rows,
              size_t row_bytes, size_t *first, size_t *last)
{
    *first = app_home_first(run, base, rows, row_bytes, run->rank);
    *last = app_home_first(run, base, rows, row_bytes, run->rank + 1);
}
