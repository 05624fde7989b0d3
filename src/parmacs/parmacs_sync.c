/* SPDX-License-Identifier: BSD-2-Clause
 *
 * LOCK, BARRIER, PAUSE and CONDVAR.
 *
 * A pause is a flag as long as there are flags, and then a word under a lock
 * with a condition.  Conditions are shared where there are more than Hearth
 * has: then all that wait are woken, and look again.
 */
#include "config.h"

#include "base/cancel.h"
#include "base/report.h"
#include "hearth/hearth.h"
#include "hearth/parmacs.h"
#include "parmacs_part.h"

enum {
    CONDS_OWN = HEARTH_CONDS / 4 * 3, /* each of one CONDVAR */
    CONDS_SHARED = HEARTH_CONDS - CONDS_OWN
};

static int
cond_shared(int number)
{
    return CONDS_OWN + number % CONDS_SHARED;
}

/* ---- locks ---- */

void
parmacs_lock_init(int *lock, long n)
{
    HEARTHI_UNCANCELLED;
    int number;

    hearthi_parmacs_require("LOCKINIT");
    number = hearthi_parmacs_number_new(HEARTHI_NUMBER_LOCK, n);
    for (long i = 0; i < n; i++)
        lock[i] = number + (int)i;
}

static bool
lock_is_real(const char *macro, int lock)
{
    hearthi_parmacs_require(macro);
    hearthi_parmacs_number_check(macro, HEARTHI_NUMBER_LOCK, lock);
    return !hearthi_parmacs_is_rehearsing();
}

void
parmacs_lock(int lock)
{
    HEARTHI_UNCANCELLED;

    if (lock_is_real("LOCK", lock))
        hearth_lock(lock);
}

void
parmacs_unlock(int lock)
{
    HEARTHI_UNCANCELLED;

    if (!lock_is_real("UNLOCK", lock))
        return;
    hearth_unlock(lock);
    hearthi_parmacs_entry_pass();
}

/* ---- barriers ---- */

void
parmacs_barrier(long n)
{
    HEARTHI_UNCANCELLED;
    int size = hearthi_parmacs.size;

    hearthi_parmacs_require("BARRIER");
    if (n != size || (size > 1 && hearthi_parmacs.part == HEARTHI_ALONE)) {
        hearthi_parmacs_after_you();
        hearthi_fatal("BARRIER",
                      "for %ld processes%s, and %d rank%s started: start as "
                      "many ranks as the program has processes",
                      n, n == size ? ", of which CREATE has made none" : "",
                      size, size == 1 ? " was" : "s were");
    }
    hearthi_parmacs_entry_pass();
    hearth_barrier();
}

/* ---- pauses ---- */

void
parmacs_pause_init(struct parmacs_pause *pause)
{
    HEARTHI_UNCANCELLED;

    hearthi_parmacs_require("PAUSEINIT");
    pause->number = hearthi_parmacs_number_new(HEARTHI_NUMBER_PAUSE, 1);
    pause->set = 0;
}

static bool
pause_is_real(const char *macro, const struct parmacs_pause *pause)
{
    hearthi_parmacs_require(macro);
    hearthi_parmacs_number_check(macro, HEARTHI_NUMBER_PAUSE, pause->number);
    return !hearthi_parmacs_is_rehearsing();
}

static bool
has_flag(const struct parmacs_pause *pause)
{
    return pause->number <= HEARTH_FLAGS;
}

/* One that has no flag. */
static void
word_set(struct parmacs_pause *pause, int set)
{
    int lock = hearth_lock_of(pause);

    hearth_lock(lock);
    pause->set = set;
    if (set)
        hearth_cond_broadcast(cond_shared(pause->number));
    hearth_unlock(lock);
}

static void
word_wait(const struct parmacs_pause *pause)
{
    int lock = hearth_lock_of(pause);

    hearth_lock(lock);
    while (!pause->set)
        hearth_cond_wait(cond_shared(pause->number), lock);
    hearth_unlock(lock);
}

void
parmacs_pause_clear(struct parmacs_pause *pause)
{
    HEARTHI_UNCANCELLED;

    if (!pause_is_real("CLEARPAUSE", pause))
        return;
    if (has_flag(pause))
        hearth_flag_reset(pause->number - 1);
    else
        word_set(pause, 0);
}

void
parmacs_pause_set(struct parmacs_pause *pause)
{
    HEARTHI_UNCANCELLED;

    if (!pause_is_real("SETPAUSE", pause))
        return;
    if (has_flag(pause))
        hearth_flag_set(pause->number - 1);
    else
        word_set(pause, 1);
}

void
parmacs_pause_wait(struct parmacs_pause *pause)
{
    HEARTHI_UNCANCELLED;

    if (!pause_is_real("WAITPAUSE", pause))
        return;
    hearthi_parmacs_entry_pass();
    if (has_flag(pause))
        hearth_flag_wait(pause->number - 1);
    else
        word_wait(pause);
}

/* ---- condition variables ---- */

void
parmacs_cond_init(int *cond)
{
    HEARTHI_UNCANCELLED;

    hearthi_parmacs_require("CONDVARINIT");
    *cond = hearthi_parmacs_number_new(HEARTHI_NUMBER_COND, 1);
}

static bool
cond_is_real(const char *macro, int cond)
{
    hearthi_parmacs_require(macro);
    hearthi_parmacs_number_check(macro, HEARTHI_NUMBER_COND, cond);
    return !hearthi_parmacs_is_rehearsing();
}

static int
cond_of(int number)
{
    return number <= CONDS_OWN ? number - 1 : cond_shared(number);
}

void
parmacs_cond_wait(int cond, int lock)
{
    HEARTHI_UNCANCELLED;

    if (!cond_is_real("CONDVARWAIT", cond) ||
        !lock_is_real("CONDVARWAIT", lock))
        return;
    hearthi_parmacs_entry_pass();
    hearth_cond_wait(cond_of(cond), lock);
}

void
parmacs_cond_broadcast(int cond)
{
    HEARTHI_UNCANCELLED;

    if (cond_is_real("CONDVARBCAST", cond))
        hearth_cond_broadcast(cond_of(cond));
}

void
parmacs_cond_signal(int cond)
{
    HEARTHI_UNCANCELLED;

    if (!cond_is_real("CONDVARSIGNAL", cond))
        return;
    if (cond <= CONDS_OWN)
        hearth_cond_signal(cond_of(cond));
    else
        hearth_cond_broadcast(cond_of(cond));
}
