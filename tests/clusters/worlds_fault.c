/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A page fault may come from inside malloc(), if that is a program's own: so
 * it does not call it.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "worlds.h"

#ifndef __SANITIZE_ADDRESS__

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

/* Of this thread: how often it allocated, while that is watched. */
static _Thread_local volatile bool watched;
static _Thread_local volatile int  allocated;

void *
malloc(size_t n)
{
    allocated += watched;
    return __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
    allocated += watched;
    return __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
    allocated += watched;
    return __libc_realloc(p, n);
}

/* Of a page, of many, and of one that is written. */
START_TEST(a_fault_on_a_page_of_another_cluster_allocates_nothing)
{
    enum { PAGES = 1024 };
    volatile int64_t sum = 0;
    int64_t         *p;

    fixture_start();
    p = hearth_alloc(PAGES * page_bytes(), 1, hearth_on_cluster(0));
    if (hearth_cluster() == 0)
        p[0] = 1;
    barrier();
    watched = true;
    for (int i = 0; i < PAGES; i++)
        sum += *word(p, i);
    *(word(p, me) + 1 + me) = 1;
    watched = false;
    barrier();
    expect_eq(sum, 1);
    expect_eq(allocated, 0);
    allocated = 0;
    all_expected();
    fixture_stop();
}
END_TEST

void
worlds_fault_tests(TCase *tc)
{
    tcase_add_test(tc, a_fault_on_a_page_of_another_cluster_allocates_nothing);
}

#else

void
worlds_fault_tests(TCase *tc)
{
    (void)tc;
}

#endif
