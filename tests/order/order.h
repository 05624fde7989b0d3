/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Models of code without locks for relacy, which plays executions of C11's
 * memory model: every load may give each value that the orders leave open.  A
 * model has a few threads with the same steps as the code that it names, and
 * numbers the places where an order is needed.  As it is it holds; with any
 * one of these orders taken away relacy must find an execution that is wrong.
 */
#ifndef HEARTH_TESTS_ORDER_H
#define HEARTH_TESTS_ORDER_H

#include <iostream>
#include <streambuf>

#include <relacy/relacy.hpp>

/* The place whose order is taken away, from 1 on; 0 for none. */
static unsigned weak;

static rl::memory_order
order(unsigned place, rl::memory_order strong)
{
    return place == weak ? rl::mo_relaxed : strong;
}

/* With the place of the call, which relacy tells. */
#define ORDER(place, strong) order(place, rl::strong), $
#define RELAXED              rl::mo_relaxed, $
#define FENCE(place, strong)                        \
    do {                                            \
        if (weak != (place))                        \
            rl::atomic_thread_fence(rl::strong, $); \
    } while (0)

/* What relacy says, without memory of its own: relacy has that of the model.
 */
struct text : std::streambuf {
    char at[1 << 16];

    text()
    {
        clear();
    }
    void clear()
    {
        setp(at, at + sizeof at);
    }
    std::streamsize length()
    {
        return pptr() - at;
    }
};

template <class MODEL>
static bool
model_is_right(const char *name)
{
    rl::test_params p;
    static text     kept;
    std::ostream    said(&kept);
    bool            found;

    kept.clear();
    p.search_type = rl::random_scheduler_type;
    p.iteration_count = weak == 0 ? 60000 : 400000;
    p.output_stream = &said;
    p.progress_stream = &said;
    found = !rl::simulate<MODEL>(p);
    if (found == (weak != 0))
        return true;
    std::cout << name << ", order " << weak << ": "
              << (found ? "" : "nothing was found") << "\n";
    std::cout.write(kept.at, kept.length());
    return false;
}

/* It and each of its orders, numbered to `places`, are checked: 0, or 1. */
template <class MODEL>
static int
model_check(const char *name, unsigned places)
{
    bool right = true;

    for (weak = 0; weak <= places; weak++)
        right &= model_is_right<MODEL>(name);
    std::cout << (right ? "ok - " : "not ok - ") << name
              << ", and without any of " << places
              << " orders it does not hold\n";
    return !right;
}

#endif
