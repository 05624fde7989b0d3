/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/option_type.h"
#include "base/stat.h"
#include "space/heap.h"
#include "split.h"
#include "transport/transport.h"

int me, ranks;

static void
start_on(MPI_Comm comm)
{
    harness_at(__func__, __LINE__);
    split_init(comm);
    me = hearth_rank();
    ranks = hearth_size();
}

void
fixture_start(void)
{
    start_on(MPI_COMM_WORLD);
}

void
fixture_stop(void)
{
    harness_at(__func__, __LINE__);
    hearth_finalize();
}

void
fixture_start_on(MPI_Comm comm, const char *name, const char *value)
{
    char        variable[64];
    const char *old;
    char       *saved;

    snprintf(variable, sizeof variable, "HEARTH_%s", name);
    old = getenv(variable);
    saved = old == NULL ? NULL : strdup(old);
    setenv(variable, value, 1);
    start_on(comm);
    if (saved == NULL)
        unsetenv(variable);
    else
        setenv(variable, saved, 1);
    free(saved);
}

void
fixture_start_with(const char *name, const char *value)
{
    fixture_start_on(MPI_COMM_WORLD, name, value);
}

void
fixture_start_eager(void)
{
    fixture_start_with("LOCK_STAY", "no");
}

void
fixture_start_unforeseen(void)
{
    fixture_start_with("PREDICT", "off");
}

bool
apart(int a, int b)
{
    return hearth_node_of(a) != hearth_node_of(b);
}

static bool
answers(const char *kind)
{
    return strstr(kind, "GRANT") != NULL || strcmp(kind, "NULL") == 0;
}

uint64_t
messages_begun(void)
{
    hearth_stats all;
    uint64_t     n = 0;
    const char  *kind = hearthi_transport->kind_name(0);

    hearth_get_stats(&all);
    if (kind == NULL)
        return all.messages;
    for (unsigned i = 0; kind != NULL;
         kind = hearthi_transport->kind_name(++i))
        n += answers(kind) ? 0 : hearthi_tally.sent[i];
    return n;
}

bool
rma_used(void)
{
    return hearth_nodes() > 1 &&
           strcmp(hearth_option("transport"), "mpi") == 0 &&
           strcmp(hearth_option("fabric"), "mpi") == 0;
}

bool
release_consistency(void)
{
    return strcmp(hearth_option("consistency"), "release") == 0;
}

const char *
bytes_of_pages(size_t pages)
{
    static char text[32];
    const char *asked = getenv("HEARTH_PAGE_SIZE");
    size_t      bytes = (size_t)sysconf(_SC_PAGESIZE);

    if (asked != NULL)
        hearthi_type_of_size.parse(&hearthi_type_of_size, asked, &bytes);
    snprintf(text, sizeof text, "%zu", pages * bytes);
    return text;
}

size_t
page_bytes(void)
{
    return hearthi_heap.page;
}

int64_t *
pages_new(int count)
{
    return hearth_alloc((size_t)count * page_bytes() / sizeof(int64_t),
                        sizeof(int64_t), hearth_cyclic(1));
}

void
tell(int rank, int tag)
{
    MPI_Send(NULL, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}

void
told_by(int rank, int tag)
{
    MPI_Recv(NULL, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void
copies_take(int64_t *pages, int n, int64_t value)
{
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < n; i++)
            expect_eq(*word(pages, i), value);
        barrier();
    }
}

void
dawdle(void)
{
    static uint64_t state;
    struct timespec nap = { 0, 0 };

    if (state == 0)
        state = (uint64_t)me + 1;
    switch (hearthi_random(&state) % 4) {
    case 0: return;
    case 1: sched_yield(); return;
    case 2:
        for (volatile uint64_t i = hearthi_random(&state) % 20000; i > 0; i--)
            continue;
        return;
    default:
        nap.tv_nsec = (long)(hearthi_random(&state) % 200000);
        nanosleep(&nap, NULL);
    }
}

void
sleep_ms(long ms)
{
    struct timespec nap = { ms / 1000, ms % 1000 * 1000000 };

    nanosleep(&nap, NULL);
}
