/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What becomes of memory that is freed: it is cleared, and goes back to the
 * system, while other threads of the rank get on.
 */
#include "windows.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "cluster.h"
#include "fixture.h"
#include "page/page.h"
#include "space/segment.h"
#include "transport/transport.h"

/* Is there memory behind my i-th frame that hearth_alloc gives? */
static bool
has_memory(uint64_t i)
{
    unsigned char there = 0;
    char         *frame =
        hearthi_segments.base[hearthi_cluster.node_rank] +
        hearthi_frame_at(hearthi_segments.arena + i, hearthi_heap.shift);

    mincore(frame, (size_t)sysconf(_SC_PAGESIZE), &there);
    return there & 1;
}

/* Where ranks share a node, what is swapped out cannot be told from what was
 * never there. */
static bool
machine_swaps(void)
{
    struct sysinfo machine;

    return sysinfo(&machine) != 0 || machine.totalswap > 0;
}

/* A network card would not see the memory that took its place. */
START_TEST(memory_goes_back_unless_a_card_may_have_registered_it)
{
    char *p = hearth_alloc((size_t)page_bytes() * ranks, 1, hearth_cyclic(1));

    p[me * page_bytes()] = 1;
    barrier();
    expect(has_memory(0));
    hearth_free(p);
    expect_eq(has_memory(0), hearthi_transport->registers());
    expect_eq(hearthi_transport->registers(), rma_used());
    all_expected();
}
END_TEST

/* What Hearth clears memory by, or looks first what there is to clear: the
 * first of these calls takes a little longer, so that another thread comes to
 * have a core meanwhile. */
static _Atomic bool clears;

static void
clearing_takes_long(void)
{
    if (atomic_exchange(&clears, false))
        usleep(20000);
}

int
madvise(void *at, size_t bytes, int advice)
{
    if (advice == MADV_REMOVE)
        clearing_takes_long();
    return (int)syscall(SYS_madvise, at, bytes, advice);
}

int
mincore(void *at, size_t bytes, unsigned char *there)
{
    clearing_takes_long();
    return (int)syscall(SYS_mincore, at, bytes, there);
}

off_t
lseek(int fd, off_t at, int from)
{
    clearing_takes_long();
    return (off_t)syscall(SYS_lseek, fd, at, from);
}

/* Looks for a freed page whose memory is not cleared yet, holding the lock. */
struct watch {
    pthread_t            thread;
    uint64_t             page;
    const volatile char *memory;
    _Atomic bool         stop;
    bool                 seen;
};

static void *
watch_clearing(void *arg)
{
    struct watch *w = arg;

    while (!w->stop && !w->seen) {
        hearthi_table_lock();
        w->seen =
            hearthi_state_of(w->page) == HEARTHI_UNUSED && *w->memory != 0;
        hearthi_table_unlock();
        sched_yield();
    }
    return NULL;
}

/* The last page of mine, which is cleared last. */
static void
watch_start(struct watch *w, const char *p, size_t bytes)
{
    uint64_t page = hearthi_page_of(p + ((size_t)me + 1) * bytes - 1), frame;

    hearthi_table_lock();
    frame = hearthi_home_frame_of(page);
    hearthi_table_unlock();
    *w = (struct watch){ .page = page };
    w->memory = hearthi_segments.base[hearthi_cluster.node_rank] +
                hearthi_frame_at(frame, hearthi_heap.shift);
    pthread_create(&w->thread, NULL, watch_clearing, w);
}

/* Clearing takes seconds where much is freed.  With the lock held, a thread
 * that has it would never see memory that waits to be cleared. */
START_TEST(threads_have_the_page_table_while_freed_memory_is_cleared)
{
    enum { BYTES = 12 << 20, ROUNDS = 20 };
    bool         seen = false;
    struct watch w;

    for (int i = 0; i < ROUNDS && failing_rank(seen) >= 0; i++) {
        char *p = hearth_alloc((size_t)BYTES * ranks, 1, hearth_block());

        memset(p + (size_t)BYTES * me, 1, BYTES);
        watch_start(&w, p, BYTES);
        clears = true;
        hearth_free(p);
        w.stop = true;
        pthread_join(w.thread, NULL);
        seen |= w.seen;
    }
    expect_timely(seen);
    all_expected();
}
END_TEST

/* Filling holes would cost memory that nobody uses.  (Where a card has pinned
 * the window, the memory is there before.) */
START_TEST(freeing_what_was_never_touched_costs_no_memory)
{
    enum { PAGES = 64 };
    char *p = hearth_alloc((size_t)page_bytes() * PAGES * ranks, 1,
                           hearth_cyclic(1));
    bool  had = has_memory(PAGES - 1);

    barrier();
    hearth_free(p);
    if (hearth_nodes() == ranks || !machine_swaps())
        expect_eq(has_memory(PAGES - 1), had);
    all_expected();
}
END_TEST

void
windows_freed(TCase *tc)
{
    tcase_add_test(tc, freeing_what_was_never_touched_costs_no_memory);
    tcase_add_test(tc, memory_goes_back_unless_a_card_may_have_registered_it);
    tcase_add_test(tc,
                   threads_have_the_page_table_while_freed_memory_is_cleared);
}
