/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "mutex.h"

#ifdef HEARTHI_DEBUG

#include "report.h"

static const char *const where[] = {
#define HEARTHI_MUTEX(name, where, what) where " (" what ")",
#include "mutex.def"
#undef HEARTHI_MUTEX
};

_Static_assert(HEARTHI_MUTEXES <= 32, "a bit for each");

/* A bit for each mutex.  Initial-exec: the handler of faults uses it. */
static _Thread_local __attribute__((tls_model("initial-exec"))) unsigned held;

static unsigned
bit(enum hearthi_mutex m)
{
    return 1U << m;
}

/* The first one of a set. */
static const char *
first_of(unsigned set)
{
    return where[__builtin_ctz(set)];
}

void
hearthi_witness_take(enum hearthi_mutex m)
{
    unsigned not_before = held & ~(bit(m) - 1);

    if (not_before != 0 && !hearthi_is_ending())
        hearthi_fatal("assertion",
                      "mutex of %s is taken by a thread that has that of %s: "
                      "the order is that of src/base/mutex.def",
                      where[m], first_of(not_before));
    held |= bit(m);
}

void
hearthi_witness_tried(enum hearthi_mutex m)
{
    held |= bit(m);
}

void
hearthi_witness_give(enum hearthi_mutex m)
{
    if (!hearthi_witness_has(m) && !hearthi_is_ending())
        hearthi_fatal("assertion",
                      "mutex of %s is given by a thread that has not taken it",
                      where[m]);
    held &= ~bit(m);
}

bool
hearthi_witness_has(enum hearthi_mutex m)
{
    return (held & bit(m)) != 0;
}

unsigned
hearthi_witness_all(void)
{
    return held;
}

void
hearthi_witness_same(unsigned before)
{
    if (held != before && !hearthi_is_ending())
        hearthi_fatal(
            "assertion", "a call or a fault ends and mutex of %s was %s in it",
            first_of(held ^ before),
            held & ~before ? "taken and not given" : "given and not taken");
}

#endif
