/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "page.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/report.h"
#include "space/segment.h"
#include "world.h"

struct hearthi_pagelist hearthi_written, hearthi_provisional;

/* ---- the lock: futex(2), so that the fault handler may take it ---- */

enum { SEIZE_NS = 1000000000 };

/* lock_owner is relaxed: a thread only asks whether it is itself, and sees its
 * own stores.  The steps on lock_word order all else. */
static atomic_int          lock_word; /* 0 free, 1 taken, 2 with waiters */
static const void *_Atomic lock_owner;

/* This thread has left it for a while.  Initial-exec: reading it in a signal
 * handler must not allocate. */
static _Thread_local __attribute__((tls_model("initial-exec"))) bool left;

static void
futex_wait(int seen)
{
    syscall(SYS_futex, &lock_word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void
lock_check(void)
{
    if (left || atomic_load_explicit(&lock_owner, memory_order_relaxed) ==
                    hearthi_thread())
        hearthi_fatal("page fault",
                      "the heap was touched from inside the library: hold "
                      "what MPI is given (hearth_hold), and let no signal "
                      "handler use the heap");
}

static bool
lock_try(void)
{
    int seen = 0;

    if (!atomic_compare_exchange_strong(&lock_word, &seen, 1))
        return false;
    hearthi_witness_tried(HEARTHI_MUTEX_TABLE);
    HEARTHI_ASSERT(lock_owner == NULL);
    atomic_store_explicit(&lock_owner, hearthi_thread(), memory_order_relaxed);
    return true;
}

bool
hearthi_table_trylock(void)
{
    lock_check();
    return lock_try();
}

bool
hearthi_table_seize(void)
{
    uint64_t until = hearthi_now() + SEIZE_NS;

    if (atomic_load_explicit(&lock_owner, memory_order_relaxed) ==
        hearthi_thread())
        return true;
    while (!lock_try()) {
        if (hearthi_now() > until)
            return false;
        sched_yield();
    }
    return true;
}

static void
lock_take(void)
{
    const void *me = hearthi_thread();
    int         seen = 0;

    hearthi_witness_take(HEARTHI_MUTEX_TABLE);
    if (!atomic_compare_exchange_strong(&lock_word, &seen, 1)) {
        if (seen != 2)
            seen = atomic_exchange(&lock_word, 2);
        while (seen != 0) {
            futex_wait(2);
            seen = atomic_exchange(&lock_word, 2);
        }
    }
    HEARTHI_ASSERT(lock_owner == NULL);
    atomic_store_explicit(&lock_owner, me, memory_order_relaxed);
}

void
hearthi_table_lock(void)
{
    lock_check();
    lock_take();
}

void
hearthi_table_unlock(void)
{
    hearthi_witness_give(HEARTHI_MUTEX_TABLE);
    HEARTHI_ASSERT(lock_owner == hearthi_thread() && lock_word != 0);
    atomic_store_explicit(&lock_owner, NULL, memory_order_relaxed);
    if (atomic_exchange(&lock_word, 0) == 2)
        syscall(SYS_futex, &lock_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void
hearthi_table_leave(void)
{
    HEARTHI_ASSERT(!left);
    left = true;
    hearthi_table_unlock();
}

void
hearthi_table_return(void)
{
    HEARTHI_ASSERT(left);
    lock_take();
    left = false;
}

/* ---- lists ---- */

static int
page_order(const void *a, const void *b)
{
    hearthi_page x = *(const hearthi_page *)a, y = *(const hearthi_page *)b;

    return x < y ? -1 : x > y;
}

/* Each page once, in order. */
HEARTHI_FOR_ASSERT static bool
is_in_order(const struct hearthi_pagelist *l)
{
    for (size_t i = 1; i < l->n; i++)
        if (l->page[i - 1] >= l->page[i])
            return false;
    return true;
}

/* Most are in order. */
void
hearthi_pagelist_sort(struct hearthi_pagelist *l)
{
    for (size_t i = 1; i < l->n; i++) {
        if (l->page[i - 1] > l->page[i]) {
            qsort(l->page, l->n, sizeof *l->page, page_order);
            break;
        }
    }
    HEARTHI_ASSERT(is_in_order(l));
}
