/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a core dump would hold: the mappings without the flag "dd" (do not
 * dump) in /proc/self/smaps, which the kernel writes in full.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "space/heap.h"

enum { PAGES = 4096, FREED = 64, SLACK = 64 << 20 };

/* Bytes of a dump: in all, and of those at addresses of the heap.  Private
 * memory counts by what was touched, shared memory in full. */
struct dump {
    size_t all, heap;
};

/* One line of a mapping's record: its end completes it. */
static void
line_read(const char *line, struct dump *d)
{
    static uintptr_t from, to;
    static size_t    touched;
    uintptr_t        first, last;
    size_t           kb;

    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &first, &last) == 2) {
        from = first;
        to = last;
        return;
    }
    if (sscanf(line, "Anonymous: %zu kB", &kb) == 1)
        touched = kb << 10;
    if (strncmp(line, "VmFlags:", 8) != 0 || strstr(line, " dd") != NULL)
        return;
    d->all += strstr(line, " sh") != NULL ? to - from : touched;
    if (hearthi_in_heap((void *)from))
        d->heap += to - from;
}

static struct dump
dump_now(void)
{
    struct dump d = { 0, 0 };
    char        line[1024];
    FILE       *f = fopen("/proc/self/smaps", "r");

    if (f == NULL)
        return d;
    while (fgets(line, sizeof line, f) != NULL)
        line_read(line, &d);
    fclose(f);
    return d;
}

static size_t
pages_at_home(const int64_t *pages, int count)
{
    size_t n = 0;

    for (int i = 0; i < count; i++)
        n += hearth_home(pages + (size_t)i * page_bytes() / sizeof *pages) ==
             me;
    return n;
}

static void
home_memory_once(const struct dump *before, const int64_t *pages, int count)
{
    struct dump now = dump_now();
    size_t      home = pages_at_home(pages, count) * page_bytes();

    expect_eq(now.heap, home);
    expect(now.all < before->all + home + SLACK);
    all_expected();
}

static void
all_touched(int64_t *pages, int count)
{
    for (int i = 0; i < count; i++)
        if (i % ranks == me)
            *word(pages, i) = i;
    barrier();
    for (int i = 0; i < count; i++)
        expect_eq(*word(pages, i), i);
}

START_TEST(a_core_holds_home_memory_once_at_its_own_addresses)
{
    struct dump before = dump_now();
    int64_t    *block, *cyclic;

    fixture_start();
    home_memory_once(&before, NULL, 0);
    block = hearth_alloc(PAGES, page_bytes(), hearth_block());
    all_touched(block, PAGES);
    home_memory_once(&before, block, PAGES);
    cyclic = pages_new(FREED);
    all_touched(cyclic, FREED);
    hearth_free(cyclic);
    home_memory_once(&before, block, PAGES);
    hearth_free(block);
    home_memory_once(&before, NULL, 0);
    fixture_stop();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("dump");
    TCase *t = tcase_create("dump");

    tcase_add_test(t, a_core_holds_home_memory_once_at_its_own_addresses);
    suite_add_tcase(s, t);
    return mpi_main(argc, argv, s);
}
