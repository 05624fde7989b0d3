/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Waiting for a word.
 */
#include "config.h"

#include "api.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/timing.h"
#include "coherence/home_add.h"
#include "coherence/home_atomic.h"
#include "coherence/range_sync.h"
#include "hearth/hearth.h"
#include "malloc/malloc.h"
#include "node/relax.h"
#include "races/race_history.h"
#include "thread_state.h"

static bool
holds(int64_t found, int how, int64_t value)
{
    switch (how) {
    case HEARTH_EQ: return found == value;
    case HEARTH_NE: return found != value;
    case HEARTH_GT: return found > value;
    case HEARTH_GE: return found >= value;
    case HEARTH_LT: return found < value;
    default: return found <= value;
    }
}

/* A look at a word that is near costs next to nothing, and so does a turn
 * between two of them at first; one at a word that is not is a message there
 * and back, in which this thread waits as long as it must. */
static int64_t
word_wait(int64_t *word, int how, int64_t value)
{
    uint64_t begun = hearthi_now();
    unsigned turn = 0;

    for (;;) {
        bool    near;
        int64_t found = (int64_t)hearthi_home_word(word, &near);

        if (holds(found, how, value))
            return found;
        hearthi_long_relax(&turn, hearthi_now() - begun, near);
    }
}

/* Others may wait for what this rank has added. */
int64_t
hearth_wait_until(const int64_t *word, int how, int64_t value)
{
    HEARTHI_UNCANCELLED;
    const char *call = "hearth_wait_until";
    uint64_t    start;
    int64_t     found;

    hearthi_word_check(call, word, sizeof *word);
    if (how < HEARTH_EQ || how > HEARTH_LE)
        hearthi_fatal(call,
                      "%d is no way to compare: use HEARTH_EQ, HEARTH_NE, "
                      "HEARTH_GT, HEARTH_GE, HEARTH_LT or HEARTH_LE",
                      how);
    start = hearthi_time_begin();
    hearthi_malloc_send_freed();
    hearthi_home_adds_end();
    if (hearthi_races != NULL) /* what is stored at home is not there yet */
        hearthi_range_sync_release_all();
    hearthi_thread_state_waits(call, HEARTHI_NO_NUMBER);
    found = word_wait((int64_t *)word, how, value);
    hearthi_thread_state_goes_on();
    hearthi_count(atomics, 1);
    hearthi_time_end(lock_ns, start);
    return found;
}
