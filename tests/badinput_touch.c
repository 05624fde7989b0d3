/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Addresses that nobody was given, and threads that may not.
 */
#include <pthread.h>
#include <stddef.h>

#include "badinput.h"

/* Addresses that nobody was given. */
static void
touch_beyond(void)
{
    char *p = hearth_alloc(3 * PAGE, 1, hearth_block());

    hearth_barrier();
    if (me == last)
        p[3 * PAGE + 100] = 1;
}

static void
touch_between(void)
{
    volatile char *p = page_new();

    hearth_alloc(PAGE, 1, hearth_block());
    hearth_barrier();
    if (me == last)
        (void)p[PAGE + 50];
}

static void
touch_freed(void)
{
    volatile char *p = page_new();

    page_new();
    p[me] = 1;
    hearth_free((void *)(size_t)p);
    if (me == last)
        (void)p[0];
}

static void
touch_null(void)
{
    volatile char *volatile p = NULL;

    page_new();
    hearth_barrier();
    if (me == last)
        *p = 1;
}

static void *
touch_from_thread(void *p)
{
    *(volatile char *)p = 1;
    return NULL;
}

/* Of a page that is not here: one at home is nobody's business. */
static void
thread_faults(void)
{
    char     *p = hearth_alloc(PAGE, 1, hearth_on(0));
    pthread_t thread;

    hearth_barrier();
    if (me == last) {
        pthread_create(&thread, NULL, touch_from_thread, p);
        pthread_join(thread, NULL);
    }
}

static void *
lock_from_thread(void *p)
{
    hearth_lock(5);
    hearth_unlock(5);
    return p;
}

static void
thread_locks(void)
{
    pthread_t thread;

    if (me == last) {
        pthread_create(&thread, NULL, lock_from_thread, NULL);
        pthread_join(thread, NULL);
    }
}

const struct badinput badinput_touches[] = {
    BADINPUT(touch_beyond),
    BADINPUT(touch_between),
    BADINPUT(touch_freed),
    BADINPUT(touch_null),
    BADINPUT(thread_faults),
    BADINPUT(thread_locks),
    { 0 },
};
