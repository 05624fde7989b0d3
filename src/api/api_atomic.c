/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Atomic steps on words of the heap: the calls, and what they refuse.
 */
#include "config.h"

#include <string.h>

#include "api.h"
#include "base/cancel.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/timing.h"
#include "coherence/home_atomic.h"
#include "hearth/hearth.h"
#include "page/page.h"
#include "space/heap.h"

/* Pages that have an entry of the table are known without the lock. */
static bool
is_allocated(const void *p)
{
    uint64_t       page = hearthi_page_of(p);
    const uint8_t *state = &hearthi_table.state[page];

    if (__atomic_load_n(state, __ATOMIC_RELAXED) != HEARTHI_UNUSED)
        return true;
    hearthi_table_lock();
    hearthi_state_note(page);
    hearthi_table_unlock();
    return __atomic_load_n(state, __ATOMIC_RELAXED) != HEARTHI_UNUSED;
}

/* One that is aligned lies in one page. */
static void
word_check(const char *call, const void *word, size_t size)
{
    hearthi_require_thread(call);
    if ((uintptr_t)word % size != 0)
        hearthi_fatal(call, "%p is not aligned to %zu bytes", word, size);
    if (!hearthi_in_heap(word) || !is_allocated(word))
        hearthi_fatal(call, "%p is in no allocation: use a word of the heap",
                      word);
}

static uint64_t
atomic(const char *call, void *word, const struct hearthi_change *c)
{
    HEARTHI_UNCANCELLED;
    uint64_t start, old;

    word_check(call, word, hearthi_atomic_op_bytes(&c->step));
    start = hearthi_time_begin();
    old = hearthi_home_atomic(word, c);
    hearthi_count(atomics, 1);
    hearthi_time_end(lock_ns, start);
    return old;
}

/* What is common to words of both sizes. */
#define ATOMIC(call, word, op, kind, value, expected) \
    atomic(call, word,                                \
           &(struct hearthi_change){                  \
               op, { kind, sizeof *(word) == 4, value, expected } })

int64_t
hearth_fetch_add(int64_t *word, int64_t value)
{
    return (int64_t)ATOMIC("hearth_fetch_add", word, HEARTHI_STEP, HEARTHI_ADD,
                           (uint64_t)value, 0);
}

int64_t
hearth_swap(int64_t *word, int64_t value)
{
    return (int64_t)ATOMIC("hearth_swap", word, HEARTHI_STEP, HEARTHI_SWAP,
                           (uint64_t)value, 0);
}

int64_t
hearth_compare_swap(int64_t *word, int64_t expected, int64_t desired)
{
    return (int64_t)ATOMIC("hearth_compare_swap", word, HEARTHI_STEP,
                           HEARTHI_CAS, (uint64_t)desired, (uint64_t)expected);
}

int64_t
hearth_fetch_and(int64_t *word, int64_t value)
{
    return (int64_t)ATOMIC("hearth_fetch_and", word, HEARTHI_AND, HEARTHI_CAS,
                           (uint64_t)value, 0);
}

int64_t
hearth_fetch_or(int64_t *word, int64_t value)
{
    return (int64_t)ATOMIC("hearth_fetch_or", word, HEARTHI_OR, HEARTHI_CAS,
                           (uint64_t)value, 0);
}

int64_t
hearth_fetch_xor(int64_t *word, int64_t value)
{
    return (int64_t)ATOMIC("hearth_fetch_xor", word, HEARTHI_XOR, HEARTHI_CAS,
                           (uint64_t)value, 0);
}

int32_t
hearth_fetch_add32(int32_t *word, int32_t value)
{
    return (int32_t)ATOMIC("hearth_fetch_add32", word, HEARTHI_STEP,
                           HEARTHI_ADD, (uint32_t)value, 0);
}

int32_t
hearth_swap32(int32_t *word, int32_t value)
{
    return (int32_t)ATOMIC("hearth_swap32", word, HEARTHI_STEP, HEARTHI_SWAP,
                           (uint32_t)value, 0);
}

int32_t
hearth_compare_swap32(int32_t *word, int32_t expected, int32_t desired)
{
    return (int32_t)ATOMIC("hearth_compare_swap32", word, HEARTHI_STEP,
                           HEARTHI_CAS, (uint32_t)desired, (uint32_t)expected);
}

int32_t
hearth_fetch_and32(int32_t *word, int32_t value)
{
    return (int32_t)ATOMIC("hearth_fetch_and32", word, HEARTHI_AND,
                           HEARTHI_CAS, (uint32_t)value, 0);
}

int32_t
hearth_fetch_or32(int32_t *word, int32_t value)
{
    return (int32_t)ATOMIC("hearth_fetch_or32", word, HEARTHI_OR, HEARTHI_CAS,
                           (uint32_t)value, 0);
}

int32_t
hearth_fetch_xor32(int32_t *word, int32_t value)
{
    return (int32_t)ATOMIC("hearth_fetch_xor32", word, HEARTHI_XOR,
                           HEARTHI_CAS, (uint32_t)value, 0);
}

double
hearth_fetch_add_double(double *word, double value)
{
    uint64_t bits, old;
    double   found;

    memcpy(&bits, &value, sizeof bits);
    old = ATOMIC("hearth_fetch_add_double", word, HEARTHI_SUM, HEARTHI_CAS,
                 bits, 0);
    memcpy(&found, &old, sizeof found);
    return found;
}
