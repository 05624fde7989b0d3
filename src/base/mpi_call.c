/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "mpi_call.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/assert.h"

_Thread_local const char *hearthi_mpi_call;

static atomic_int  operations;
static atomic_bool entered;

void
hearthi_mpi_exclusion_open(void)
{
    operations = 0;
}

/* Relaxed: a hint.  Hearth's thread asks in hearthi_mpi_exclusion_enter(). */
bool
hearthi_mpi_exclusion_is(void)
{
    return atomic_load_explicit(&operations, memory_order_relaxed) > 0;
}

/* Each side writes its word and reads the other's, in one order for all: one
 * of them sees the other. */
void
hearthi_mpi_exclusion_begin(void)
{
    atomic_fetch_add(&operations, 1);
    while (atomic_load(&entered))
        sched_yield();
}

void
hearthi_mpi_exclusion_end(void)
{
    HEARTHI_ASSERT(operations > 0);
    atomic_fetch_sub(&operations, 1);
}

bool
hearthi_mpi_exclusion_enter(void)
{
    atomic_store(&entered, true);
    if (atomic_load(&operations) == 0)
        return true;
    atomic_store(&entered, false);
    return false;
}

/* The release pairs with the loop of hearthi_mpi_exclusion_begin(): what was
 * done in MPI comes before. */
void
hearthi_mpi_exclusion_leave(void)
{
    HEARTHI_ASSERT(entered);
    atomic_store_explicit(&entered, false, memory_order_release);
}
