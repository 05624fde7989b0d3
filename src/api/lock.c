/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks by any number, and by address.
 */
#include "config.h"

#include "lock.h"

#include "api.h"
#include "base/cancel.h"
#include "base/report.h"
#include "node/lock_numbers.h"
#include "thread_state.h"
#include "transport/lock_directory.h"

/* What hearth_lock_of() returns is this and more: the lock itself. */
enum { GIVEN = 1 << 30 };

static int
learn(const char *call, uint64_t name)
{
    HEARTHI_UNCANCELLED;
    int sync;

    hearthi_thread_state_waits(call, HEARTHI_NO_NUMBER);
    sync = hearthi_lock_directory_lock(call, name);
    hearthi_thread_state_goes_on();
    hearthi_lock_names_note(sync, name);
    return sync;
}

static int
named(const char *call, uint64_t name)
{
    int sync = hearthi_lock_names_known(name);

    return sync >= 0 ? sync : learn(call, name);
}

/* Another rank was given the number. */
static void
confirm(const char *call, int lock, int sync)
{
    HEARTHI_UNCANCELLED;
    uint64_t name =
        sync < hearthi_syncs ? hearthi_lock_directory_name(sync) : 0;

    if (name == 0)
        hearthi_fatal(call,
                      "lock %d does not exist: locks are 0 to %d, and what "
                      "hearth_lock_of has returned",
                      lock, GIVEN - 1);
    hearthi_lock_names_note(sync, name);
}

static int
given(const char *call, int lock)
{
    uint64_t before = hearthi_lock_numbers_name(lock - GIVEN);
    int      sync;

    if (before != 0)
        return named(call, before);
    sync = hearthi_lock_numbers_sync(lock - GIVEN);
    if (sync >= hearthi_syncs || hearthi_lock_names_key(sync) == 0)
        confirm(call, lock, sync);
    return sync;
}

int
hearthi_lock_find(const char *call, int lock)
{
    hearthi_require_thread(call);
    if (lock < 0)
        hearthi_fatal(call, "lock %d does not exist: locks are 0 to %d", lock,
                      GIVEN - 1);
    return lock < GIVEN ? named(call, hearthi_lock_key_of_number(lock))
                        : given(call, lock);
}

int
hearth_lock_of(const void *address)
{
    uint64_t name;

    hearthi_require_thread("hearth_lock_of");
    if (address == NULL)
        hearthi_fatal("hearth_lock_of",
                      "the address is NULL: pass that of what the lock "
                      "protects");
    name = hearthi_lock_key_of_address(address);
    return GIVEN +
           hearthi_lock_numbers_of(named("hearth_lock_of", name), name);
}
