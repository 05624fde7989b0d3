/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is asserted of each change of a page's state (page.h).
 */
#include "config.h"

#include "page.h"

#ifdef HEARTHI_DEBUG

/* From which states a page comes to one: a page that is frozen is invalid for
 * a moment, and from there may become all that it can be at its home. */
enum { ANY_HOME = 0x780 };
static const unsigned from_of[] = {
    [HEARTHI_INVALID] = 1 << HEARTHI_INVALID | 1 << HEARTHI_PREFETCHED |
                        1 << HEARTHI_CLEAN | 1 << HEARTHI_DIRTY | ANY_HOME,
    [HEARTHI_CLEAN] = 1 << HEARTHI_INVALID | 1 << HEARTHI_IN_FLIGHT |
                      1 << HEARTHI_PREFETCHED | 1 << HEARTHI_DIRTY |
                      1 << HEARTHI_CLEAN, /* between others (hull.h) */
    [HEARTHI_DIRTY] = 1 << HEARTHI_INVALID | 1 << HEARTHI_IN_FLIGHT |
                      1 << HEARTHI_PREFETCHED | 1 << HEARTHI_CLEAN,
    [HEARTHI_HOME_OPEN] = 1 << HEARTHI_INVALID | 1 << HEARTHI_HOME_AWAY,
    [HEARTHI_HOME_ARMED] = 1 << HEARTHI_INVALID | ANY_HOME,
    [HEARTHI_HOME_DIRTY] = 1 << HEARTHI_INVALID | ANY_HOME,
    [HEARTHI_HOME_AWAY] = 1 << HEARTHI_INVALID | ANY_HOME,
};

/* The marks that a page must have in a state, and those it must not have. */
static const uint8_t marks_of[][2] = {
    [HEARTHI_INVALID] = { 0, 0 },
    [HEARTHI_CLEAN] = { HEARTHI_RESIDENT, 0 },
    [HEARTHI_DIRTY] = { HEARTHI_RESIDENT | HEARTHI_LISTED, 0 },
    [HEARTHI_HOME_OPEN] = { 0, HEARTHI_TRACKED },
    [HEARTHI_HOME_ARMED] = { HEARTHI_TRACKED, 0 },
    [HEARTHI_HOME_DIRTY] = { HEARTHI_TRACKED | HEARTHI_LISTED, 0 },
    [HEARTHI_HOME_AWAY] = { 0, 0 },
};

bool
hearthi_states_may_become(uint64_t page, uint64_t count, enum hearthi_state to)
{
    for (uint64_t p = page; p < page + count; p++)
        if (!(from_of[to] >> hearthi_state_of(p) & 1))
            return false;
    return true;
}

bool
hearthi_states_are_marked(uint64_t page, uint64_t count, enum hearthi_state to)
{
    for (uint64_t p = page; p < page + count; p++)
        if ((hearthi_table.mark[p] & (marks_of[to][0] | marks_of[to][1])) !=
            marks_of[to][0])
            return false;
    return true;
}

/* All are placed, and at home here where the state says so. */
bool
hearthi_states_are_placed(uint64_t page, uint64_t count, enum hearthi_state to)
{
    const struct hearthi_allocation *a = hearthi_page_place_of(page)->in;

    for (uint64_t p = page; p < page + count; p++) {
        const struct hearthi_page_place *r = hearthi_page_place_of(p);

        if (r->in == NULL || r->in != a ||
            (to != HEARTHI_INVALID &&
             hearthi_is_home(r->state) != hearthi_is_home(to)))
            return false;
    }
    return true;
}

#endif
