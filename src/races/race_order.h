/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Vector times of intervals, from what all ranks have done since the last
 * barrier.  Pure data.
 *
 * time[r][i * ranks + s] is how many intervals of rank s had ended before the
 * interval i of rank r began, by a chain of releases and acquires.  So
 * interval k of s was before interval i of r if k is less, and after it if
 * that holds the other way round; else nothing orders the two.
 *
 * No pair that hearth.h orders is taken for one that nothing does.  Let a
 * store of one rank be ordered before a store of another.  Then there is a
 * chain: the store, a release of its rank behind it, an acquire of an object
 * by another rank that comes after that release, a release of that rank behind
 * the acquire, and so on, and at last an acquire before the second store.  Of
 * each link:
 *
 *   - The store lies in the interval that its release ends, or in one before:
 *     the release ends the interval first, so what was stored until then has
 *     been compared with its twin (coherence/race_sync.c).
 *   - The release has taken its number before any rank could acquire because
 * of it, and the acquire has read the number of the object when it was over,
 *     or for hearth_acquire() when it began, which hearth.h wants to be after
 *     the release returned.  So the acquire's number is no less.
 *   - What is stored behind an acquire lies in the interval that begins with
 *     it, or in a later one, since the acquire ends an interval when it is
 *     over.
 *
 * So the vector time of the second interval counts the first.  An acquire may
 * be ordered behind more releases than it has seen, and an interval has what
 * all threads of the rank do: then a pair counts as ordered that is not, which
 * is missed (doc/races.md says which).
 *
 * Where every rank has one thread, and each acquire comes because of the
 * release before it, such as with barriers, locks and flags that are set once,
 * the order is what hearth.h says and no more: none that is unordered is left
 * out.
 */
#ifndef HEARTHI_RACE_ORDER_H
#define HEARTHI_RACE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "race_history.h"

struct hearthi_race_order {
    int        ranks;
    uint32_t **time;
};

/* What a rank has done. */
struct hearthi_race_log {
    const struct hearthi_race_event *event;
    size_t                           events;
};

/* False: no memory, or some acquires wait for each other's releases, which
 * happens only where threads of one rank do both at once. */
bool hearthi_race_order_make(struct hearthi_race_order     *o,
                             const struct hearthi_race_log *log, int ranks);
void hearthi_race_order_free(struct hearthi_race_order *o);

/* Was interval i of rank r before interval k of rank s, another one? */
static inline bool
hearthi_race_is_before(const struct hearthi_race_order *o, int r, uint32_t i,
                       int s, uint32_t k)
{
    return i < o->time[s][(size_t)k * (size_t)o->ranks + (size_t)r];
}

#endif
