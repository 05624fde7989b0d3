/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A walk through every state of a small model, breadth first, for models of a
 * transport's steps on the words of its memory: each actor takes one step at a
 * time, in every order.
 */
#ifndef HEARTH_MODEL_SEARCH_H
#define HEARTH_MODEL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STATE_MOST = 192 };

/* A model.  States are plain bytes without padding. */
struct search {
    size_t size;
    int    actors;
    int    choices; /* of an actor's next step */

    /* Take a step in place; false if it cannot be taken: then the state may
     * be anything. */
    bool (*step)(void *state, int actor, int choice);

    /* NULL, or what is wrong with a state. */
    const char *(*fault)(const void *state);

    /* Is every actor at its end?  If not, one of them must have a step. */
    bool (*is_end)(const void *state);

    const char *const *rule; /* names of the rules, up to NULL */

    /* NULL, or print a state on the line of the step that led to it. */
    void (*show)(const void *state);
};

/* Which rules are broken, by number, after search_main() read its arguments.
 */
extern unsigned search_broken;

static inline bool
broken(unsigned rule)
{
    return search_broken >> rule & 1;
}

/* Walk from `start` and say what came of it.  Arguments name rules to break;
 * with --trace, the steps that lead to what is wrong come first.
 * Exit status: 0 if it holds, 1 if it fails, 2 if it could not be walked. */
int search_main(int argc, char **argv, const struct search *model,
                const void *start);

#endif
