/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "parmacs_process.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/cancel.h"
#include "base/report.h"
#include "hearth/hearth.h"
#include "hearth/parmacs.h"
#include "parmacs_entry.h"
#include "parmacs_input.h"
#include "parmacs_memory.h"
#include "parmacs_part.h"

typedef void work_function(void);

/* What rank 0 tells another: what to run, as its distance from what the first
 * CREATE names, since each rank has the program at an address of its own. */
struct order {
    int64_t  end; /* nothing more */
    intptr_t distance;
};

static work_function *first;          /* of the first CREATE */
static int            created;        /* rank 0: ranks that run something */
static bool           running, ended; /* the others */

/* ---- the others ---- */

static struct order
order_wait(void)
{
    struct order o;

    hearthi_parmacs_receive(&o, sizeof o, 0, HEARTHI_TAG_ORDER);
    ended = o.end != 0;
    return o;
}

static void
done(void)
{
    hearthi_parmacs_entry_pass();
    hearth_release(NULL, 0);
    running = false;
    hearthi_parmacs_send(NULL, 0, 0, HEARTHI_TAG_DONE);
}

static _Noreturn void
serve(void)
{
    for (;;) {
        struct order o = order_wait();

        if (o.end)
            exit(EXIT_SUCCESS);
        hearth_acquire(NULL, 0);
        hearthi_parmacs_entry_begin();
        running = true;
        ((work_function *)((uintptr_t)first + (uintptr_t)o.distance))();
        done();
    }
}

/* ---- rank 0 ---- */

static void
create_one(work_function *work)
{
    const struct order o = { 0, (intptr_t)work - (intptr_t)first };

    if (created == hearthi_parmacs.size - 1)
        hearthi_fatal("CREATE",
                      "one process more than the %d rank%s started: start as "
                      "many ranks as the program has processes",
                      hearthi_parmacs.size,
                      hearthi_parmacs.size == 1 ? " that was" : "s that were");
    if (created == 0)
        hearthi_parmacs_entry_begin();
    hearth_release(NULL, 0);
    created++;
    hearthi_parmacs_send(&o, sizeof o, created, HEARTHI_TAG_ORDER);
}

static void
done_wait(void)
{
    hearthi_parmacs_entry_pass();
    for (; created > 0; created--)
        hearthi_parmacs_receive(NULL, 0, created, HEARTHI_TAG_DONE);
    hearth_acquire(NULL, 0);
}

/* ---- the macros ---- */

/* From here on shared memory is what rank 0 has made of it. */
static void
together(work_function *work)
{
    first = work;
    hearthi_parmacs_memory_share();
    hearthi_parmacs_input_close();
    hearthi_parmacs.part = HEARTHI_TOGETHER;
    if (hearthi_parmacs.rank > 0)
        serve();
    hearthi_parmacs_numbers_share();
}

static void
count_check(const char *macro, long n)
{
    if (n == hearthi_parmacs.size)
        return;
    hearthi_parmacs_after_you();
    hearthi_fatal(macro,
                  "%ld process%s, and %d rank%s started: start as many ranks "
                  "as the program has processes",
                  n, n == 1 ? "" : "es", hearthi_parmacs.size,
                  hearthi_parmacs.size == 1 ? " was" : "s were");
}

void
parmacs_create(void (*work)(void), long n)
{
    hearthi_parmacs_require("CREATE");
    if (n != 0)
        count_check("CREATE", n);
    if (hearthi_parmacs.part == HEARTHI_ALONE)
        together(work);
    if (hearthi_parmacs.rank > 0)
        hearthi_fatal("CREATE", "used by a process that CREATE has made: "
                                "let main do it");
    if (n == 0) {
        create_one(work);
        return;
    }
    while (created < n - 1)
        create_one(work);
    work();
    hearthi_parmacs_entry_pass();
}

void
parmacs_wait_for_end(void)
{
    HEARTHI_UNCANCELLED;

    hearthi_parmacs_require("WAIT_FOR_END");
    if (hearthi_parmacs.part == HEARTHI_TOGETHER && hearthi_parmacs.rank > 0)
        hearthi_fatal("WAIT_FOR_END", "used by a process that CREATE has "
                                      "made: let main do it");
    count_check("WAIT_FOR_END", created + 1);
    if (created > 0)
        done_wait();
}

int
parmacs_pid(void)
{
    hearthi_parmacs_require("GET_PID");
    return hearthi_parmacs.rank;
}

static void
rank_0_ends(void)
{
    const struct order o = { 1, 0 };

    done_wait();
    for (int r = 1; r < hearthi_parmacs.size; r++)
        hearthi_parmacs_send(&o, sizeof o, r, HEARTHI_TAG_ORDER);
}

void
hearthi_parmacs_processes_end(void)
{
    if (hearthi_parmacs.part != HEARTHI_TOGETHER)
        return;
    if (hearthi_parmacs.rank == 0) {
        rank_0_ends();
        return;
    }
    if (running)
        done();
    if (!ended && !order_wait().end)
        hearthi_fatal("CREATE", "a process that has left by exit cannot run "
                                "anything more: let it return");
}
