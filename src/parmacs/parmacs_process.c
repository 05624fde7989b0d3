/* SPDX-License-Identifier: BSD-2-Clause
 *
 * CREATE and WAIT_FOR_END: rank 0 goes on with main(), and the others wait at
 * the first CREATE for what it tells them to run.  They take turns in ends as
 * in beginnings: what one wrote before CREATE, and another until its work was
 * done, is released before the message and acquired behind it.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/cancel.h"
#include "base/report.h"
#include "cluster.h"
#include "front/direct.h"
#include "hearth/hearth.h"
#include "hearth/parmacs.h"
#include "parmacs_main.h"
#include "parmacs_part.h"
#include "parmacs_private.h"
#include "transport/transport.h"

/* ---- entry ----
 *
 * Processes take their numbers from a count under a lock, when CREATE has made
 * them: in the order of ranks, so that what main() meant for process r on
 * every rank is meant for rank r.  So rank r enters its work when rank r - 1
 * has left its first critical section, or waits for something else, or has
 * done.
 *
 * Or main() is last, and rank 1 first: for programs whose count starts at 1,
 * since with threads main() comes to it when it has made all others, and is
 * process n % n = 0 by that, which prints. */

enum { TAG_ORDER = 1, TAG_ENTER, TAG_DONE };

static bool owed;      /* the next one waits for this rank */
static bool main_last; /* rank 0 enters when all others have */

/* A message of no bytes, or of some. */
static void
message_send(const void *at, size_t bytes, int to, int tag)
{
    MPI_Request request;

    HEARTHI_MPI(MPI_Isend(at, (int)bytes, MPI_BYTE, to, tag,
                          hearthi_parmacs.comm, &request));
    hearthi_requests_wait(&request, 1);
}

static void
message_receive(void *at, size_t bytes, int from, int tag)
{
    MPI_Request request;

    HEARTHI_MPI(MPI_Irecv(at, (int)bytes, MPI_BYTE, from, tag,
                          hearthi_parmacs.comm, &request));
    hearthi_requests_wait(&request, 1);
}

void
parmacs_main_last(void)
{
    main_last = true;
}

/* Wait until it is this rank's turn; every rank enters once a round. */
static void
entry_begin(void)
{
    int size = hearthi_parmacs.size, rank = hearthi_parmacs.rank;
    int first = main_last && size > 1 ? 1 : 0;

    if (rank != first)
        message_receive(NULL, 0, (rank + size - 1) % size, TAG_ENTER);
    owed = (rank + 1) % size != first;
}

void
hearthi_parmacs_entry_pass(void)
{
    if (!owed)
        return;
    owed = false;
    message_send(NULL, 0, (hearthi_parmacs.rank + 1) % hearthi_parmacs.size,
                 TAG_ENTER);
}

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

    message_receive(&o, sizeof o, 0, TAG_ORDER);
    ended = o.end != 0;
    return o;
}

static void
done(void)
{
    struct hearthi_parmacs_changes c;

    hearthi_parmacs_entry_pass();
    hearth_release(NULL, 0);
    running = false;
    hearthi_parmacs_globals_changed(&c);
    message_send(&c, sizeof c, 0, TAG_DONE);
}

static _Noreturn void
serve(void)
{
    for (;;) {
        struct order o = order_wait();

        if (o.end)
            exit(EXIT_SUCCESS);
        hearth_acquire(NULL, 0);
        entry_begin();
        running = true;
        hearthi_parmacs_globals_keep();
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
        hearthi_parmacs_globals_keep();
    if (created == 0 && !main_last)
        entry_begin();
    hearth_release(NULL, 0);
    created++;
    message_send(&o, sizeof o, created, TAG_ORDER);
    if (created == hearthi_parmacs.size - 1 && main_last)
        entry_begin();
}

static void
done_wait(void)
{
    int                             n = created + 1;
    struct hearthi_parmacs_changes *c = calloc((size_t)n, sizeof *c);

    if (c == NULL)
        hearthi_fatal("WAIT_FOR_END", "no memory");
    hearthi_parmacs_entry_pass();
    hearthi_parmacs_globals_changed(&c[0]);
    for (; created > 0; created--)
        message_receive(&c[created], sizeof *c, created, TAG_DONE);
    hearthi_parmacs_globals_look(c, n);
    free(c);
    hearth_acquire(NULL, 0);
}

/* ---- the macros ---- */

/* From here on shared memory is what rank 0 has made of it. */
static void
together(work_function *work)
{
    first = work;
    hearthi_parmacs_pointers_open();
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
        message_send(&o, sizeof o, r, TAG_ORDER);
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
