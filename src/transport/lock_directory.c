/* SPDX-License-Identifier: BSD-2-Clause
 *
 * In a rank's segment, words of 64 bits:
 *   0                 how many names its locks have
 *   1 .. each         the names, in the order in which they came
 *   from each + 1 on  a hash table with open addressing, of the numbers of
 *                     these names from 1 on; 0 is none
 *
 * A name is never taken back, so a rank that looks for one needs no lock: it
 * finds the name's number, and by that the name itself, or a place that was
 * free when it looked.  A rank that is to give a name looks again under a
 * lock, one of a few by the name's manager, so that no other rank gives one
 * there meanwhile.  It makes the lock ready and writes the name before its
 * number, each step complete before the next, so that a rank that finds the
 * number may use all of it.
 */
#include "config.h"

#include "lock_directory.h"

#include "base/assert.h"
#include "base/option.h"
#include "base/report.h"
#include "node/lock_names.h"
#include "remote_word.h"
#include "space/segment.h"
#include "transport.h"
#include "world.h"

/* Twice as many places as names. */
static size_t
table_size(void)
{
    size_t n = 2;

    while (n < 2 * hearthi_lock_names_each)
        n *= 2;
    return n;
}

static size_t
table_at(void)
{
    return 1 + hearthi_lock_names_each;
}

size_t
hearthi_lock_directory_bytes(void)
{
    return (table_at() + table_size()) * sizeof(uint64_t);
}

/* ---- words ---- */

static size_t
offset_of(size_t word)
{
    return hearthi_segments.names_at + word * sizeof(uint64_t);
}

static uint64_t
get(int manager, size_t word)
{
    return hearthi_remote_word_get(manager, offset_of(word));
}

static void
put(int manager, size_t word, uint64_t value)
{
    hearthi_remote_word_put(manager, offset_of(word), value);
}

/* ---- names ---- */

struct place {
    int    manager;
    size_t word; /* of the table */
};

static struct place
place_first(uint64_t name)
{
    uint64_t mixed = hearthi_lock_key_mix(name);

    return (struct place){ (int)((mixed >> 32) % (uint64_t)hearthi_world.size),
                           table_at() + (size_t)mixed % table_size() };
}

/* The number of a name, from the place on where it may be first; or 0, and the
 * place where it belongs. */
static uint64_t
number_find(struct place *p, uint64_t name)
{
    uint64_t number;

    while ((number = get(p->manager, p->word)) != 0 &&
           get(p->manager, number) != name)
        p->word =
            p->word + 1 < table_at() + table_size() ? p->word + 1 : table_at();
    return number;
}

static int
lock_of(int manager, uint64_t number)
{
    HEARTHI_ASSERT(number > 0 && number <= hearthi_lock_names_each);
    return hearthi_managed_named((size_t)(number - 1), manager,
                                 hearthi_world.size);
}

static uint64_t
name_give(const char *call, const struct place *p, uint64_t name)
{
    uint64_t number = get(p->manager, 0) + 1;

    if (number > hearthi_lock_names_each)
        hearthi_fatal(call,
                      "more locks by number or address are in use than "
                      "HEARTH_LOCKS=%zu allows: set it higher",
                      hearthi_opt.locks);
    HEARTHI_ASSERT(get(p->manager, p->word) == 0);
    HEARTHI_ASSERT(get(p->manager, number) == 0);
    if (hearthi_transport->sync.begin != NULL)
        hearthi_transport->sync.begin(lock_of(p->manager, number));
    put(p->manager, number, name);
    put(p->manager, 0, number);
    put(p->manager, p->word, number);
    return number;
}

/* Nothing is published under these locks. */
int
hearthi_lock_directory_lock(const char *call, uint64_t name)
{
    struct place p = place_first(name);
    int          naming = HEARTHI_NAMING_AT + p.manager % HEARTHI_NAMING;
    uint64_t     number = number_find(&p, name);

    if (number == 0) {
        struct hearthi_grant g = { .epoch = hearthi_epochs.acquire };

        hearthi_transport->sync.acquire(naming, false, &g);
        number = number_find(&p, name);
        if (number == 0)
            number = name_give(call, &p, name);
        hearthi_transport->sync.release(naming, hearthi_epochs.release, NULL,
                                        0);
    }
    return lock_of(p.manager, number);
}

uint64_t
hearthi_lock_directory_name(int lock)
{
    return get(hearthi_manager(lock, hearthi_world.size),
               1 + hearthi_managed_at(lock, hearthi_world.size));
}

size_t
hearthi_lock_directory_count(void)
{
    return get(hearthi_world.rank, 0);
}

uint64_t
hearthi_lock_directory_own(size_t i)
{
    return get(hearthi_world.rank, 1 + i);
}
