/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "uffd_pages.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/dlsym_next.h"
#include "base/min.h"
#include "base/option.h"
#include "base/report.h"
#include "pin_count.h"
#include "space/foreign.h"
#include "space/userfault.h"

struct hearthi_uffd_pages hearthi_uffd_pages;

void
hearthi_uffd_pages_open(void)
{
    struct hearthi_uffd_pages *w = &hearthi_uffd_pages;
    const char                *why;

    w->up = false;
    if (hearthi_opt.protect == HEARTHI_PROTECT_MPROTECT)
        return;
    why = hearthi_userfault_open();
    if (why != NULL && hearthi_opt.protect == HEARTHI_PROTECT_USERFAULTFD)
        hearthi_fatal("hearth_init",
                      "HEARTH_PROTECT=userfaultfd: %s: use auto", why);
    if (why != NULL)
        return;
    w->page = hearthi_sparse(hearthi_heap.pages + 1);
    hearthi_uffd_policy_open();
    w->up = true;
}

void
hearthi_uffd_pages_close(void)
{
    struct hearthi_uffd_pages *w = &hearthi_uffd_pages;

    if (!w->up)
        return;
    hearthi_userfault_close();
    hearthi_uffd_policy_close();
    hearthi_sparse_free(w->page, hearthi_heap.pages + 1);
    memset(w, 0, sizeof *w);
}

void
hearthi_uffd_pages_check(void)
{
    if (hearthi_uffd_pages.up && !hearthi_userfault_works())
        hearthi_fatal("page table",
                      "the descriptor of userfaultfd was closed, and copies "
                      "are without protection: close what you have opened "
                      "alone, or set HEARTH_PROTECT=mprotect");
}

static void
check(const char *what, uint64_t page, uint64_t count, int code)
{
    if (code == 0)
        return;
    hearthi_foreign_check("page table");
    hearthi_fatal("page table",
                  "userfaultfd failed to %s %llu pages at %p: %s: try "
                  "HEARTH_PROTECT=mprotect",
                  what, (unsigned long long)count, (void *)hearthi_app(page),
                  strerror(code));
}

/* A copy that is pinned must not go for a moment, and the kernel must find it.
 */
bool
hearthi_may_watch(uint64_t page)
{
    enum hearthi_state state;

    if (hearthi_uffd_pages.page[page] != 0 || hearthi_table.shown[page] != 0)
        return false;
    state = hearthi_state_of(page);
    return state == HEARTHI_INVALID || hearthi_is_in_flight(state) ||
           state == HEARTHI_PREFETCHED || state == HEARTHI_HOME_AWAY ||
           (hearthi_is_copy(state) && !hearthi_is_pinned(page));
}

void
hearthi_uffd_pages_around(uint64_t page, uint64_t *first, uint64_t *end)
{
    uint64_t top = hearthi_table.top;
    uint64_t size = hearthi_uffd_policy_size(hearthi_areas_now(), top);
    uint64_t low = page / size * size, most = hearthi_min(low + size, top);

    *first = page;
    *end = page + 1;
    while (*first > low && hearthi_may_watch(*first - 1))
        --*first;
    while (*end < most && hearthi_may_watch(*end))
        ++*end;
}

bool
hearthi_uffd_pages_are_few(uint64_t page, uint64_t most, uint64_t *first,
                           uint64_t *count)
{
    uint64_t end = page + 1;

    *first = page;
    *count = 0;
    if (!hearthi_is_uffd_page(page))
        return false;
    while (*first > 0 && end - *first <= most &&
           hearthi_is_uffd_page(*first - 1))
        --*first;
    while (end - *first <= most && hearthi_is_uffd_page(end))
        end++;
    *count = end - *first;
    return *count <= most;
}

/* A thread may fault there as soon as they are watched, and asks what they
 * are: so that is noted first. */
void
hearthi_uffd_pages_note(uint64_t page, uint64_t count)
{
    memset(hearthi_uffd_pages.page + page, HEARTHI_UFFD_WATCHED, count);
}

void
hearthi_uffd_pages_watch(uint64_t page, uint64_t count)
{
    HEARTHI_ASSERT(hearthi_uffd_pages.up);
    HEARTHI_ASSERT(hearthi_table.shown[page] == 0);
    hearthi_uffd_pages_note(page, count);
    check("watch", page, count,
          hearthi_userfault_watch(hearthi_app(page),
                                  count << hearthi_heap.shift));
}

void
hearthi_uffd_pages_forget(uint64_t page, uint64_t count)
{
    for (uint64_t p = page; hearthi_uffd_pages.up && p < page + count; p++)
        if (hearthi_uffd_pages.page[p] != 0)
            hearthi_uffd_pages.page[p] = 0;
}

void
hearthi_uffd_pages_clear(uint64_t page, uint64_t count)
{
    if (!hearthi_uffd_pages.up)
        return;
    hearthi_sparse_clear(hearthi_uffd_pages.page + page, count);
    hearthi_uffd_policy_forget(page, count);
}

/* A frame has got memory when it was filled; where a part of it never was, it
 * gets zeros. */
static void
show(uint64_t page, uint64_t count, bool write)
{
    char  *at = hearthi_app(page);
    size_t len = count << hearthi_heap.shift;
    int    code = hearthi_userfault_show(at, len, write);

    if (code == EFAULT) {
        hearthi_populate(hearthi_heap.cached + (page << hearthi_heap.shift),
                         len, true);
        code = hearthi_userfault_show(at, len, write);
    }
    check("show", page, count, code);
}

/* What is hidden already stays so: no run is cut for it. */
static void
hide(uint64_t page, uint64_t count)
{
    uint64_t n = 0;

    while (n < count && !hearthi_is_copy(hearthi_table.state[page + n]))
        n++;
    if (n < count)
        check("hide", page, count,
              hearthi_userfault_hide(hearthi_app(page),
                                     count << hearthi_heap.shift));
}

/* They are copies from now on. */
static void
run_set(uint64_t page, uint64_t count, bool was_copy, enum hearthi_state to)
{
    char  *at = hearthi_app(page);
    size_t len = count << hearthi_heap.shift;
    bool   write = to == HEARTHI_DIRTY;

    if (was_copy) {
        check(write ? "open" : "close", page, count,
              hearthi_userfault_allow(at, len, write));
    } else {
        show(page, count, write);
    }
}

void
hearthi_uffd_pages_set(uint64_t page, uint64_t count, enum hearthi_state to)
{
    const uint8_t *state = hearthi_table.state;

    HEARTHI_ASSERT(hearthi_is_uffd_page(page));
    if (!hearthi_is_copy(to)) {
        hide(page, count);
        return;
    }
    for (uint64_t end = page + count, n; page < end; page += n) {
        bool was = hearthi_is_copy(state[page]);

        for (n = 1; page + n < end && hearthi_is_copy(state[page + n]) == was;
             n++)
            ;
        run_set(page, n, was, to);
    }
}

void
hearthi_uffd_pages_show(uint64_t page, uint64_t count)
{
    show(page, count, hearthi_table.state[page] == HEARTHI_DIRTY);
}

/* What is shown stays as it is when it is shown once more. */
void
hearthi_uffd_pages_renew(uint64_t page)
{
    if (!hearthi_is_uffd_page(page))
        return;
    run_set(page, 1, true, hearthi_table.state[page]);
    hearthi_uffd_pages_show(page, 1);
}

/* mprotect first: what userfaultfd forbids is allowed when it leaves. */
void
hearthi_uffd_pages_unwatch(uint64_t page, uint64_t count, int prot)
{
    void  *at = hearthi_app(page);
    size_t len = count << hearthi_heap.shift;

    HEARTHI_ASSERT(hearthi_is_uffd_page(page));
    if (hearthi_mprotect(at, len, prot) != 0)
        check("leave", page, count, errno);
    check("leave", page, count, hearthi_userfault_leave(at, len));
    memset(hearthi_uffd_pages.page + page, HEARTHI_UFFD_LEFT, count);
}
