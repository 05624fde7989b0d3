/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Atomic steps on words of the heap: the calls, and what they refuse.
 */
#include "config.h"

#include "api.h"
#include "base/cancel.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/timing.h"
#include "coherence/home_add.h"
#include "coherence/home_atomic.h"
#include "hearth/hearth.h"
#include "page/page.h"
#include "space/heap.h"
#include "world.h"

/* Pages that have an entry of the table are known without the lock.  Relaxed:
 * page.h says why. */
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
void
hearthi_word_check(const char *call, const void *word, size_t size)
{
    hearthi_require_thread(call);
    if ((uintptr_t)word % size != 0)
        hearthi_fatal(call, "%p is not aligned to %zu bytes", word, size);
    if (!hearthi_in_heap(word) || !is_allocated(word))
        hearthi_fatal(call, "%p is in no allocation: use a word of the heap",
                      word);
}

static uint64_t
atomic(const char *call, void *word, const struct hearthi_atomic_op *s)
{
    HEARTHI_UNCANCELLED;
    uint64_t start, old;

    hearthi_word_check(call, word, hearthi_atomic_op_bytes(s));
    start = hearthi_time_begin();
    old = hearthi_home_atomic(word, s);
    hearthi_count(atomics, 1);
    hearthi_time_end(lock_ns, start);
    return old;
}

/* What is common to words of both sizes. */
#define ATOMIC(call, word, kind, value, expected)                         \
    atomic(call, word,                                                    \
           &(struct hearthi_atomic_op){ kind, sizeof *(word) == 4, value, \
                                        expected })

int64_t
hearth_fetch_add(int64_t *word, int64_t value)
{
    return (int64_t)ATOMIC("hearth_fetch_add", word, HEARTHI_ADD,
                           (uint64_t)value, 0);
}

int64_t
hearth_swap(int64_t *word, int64_t value)
{
    return (int64_t)ATOMIC("hearth_swap", word, HEARTHI_SWAP, (uint64_t)value,
                           0);
}

int64_t
hearth_compare_swap(int64_t *word, int64_t expected, int64_t desired)
{
    return (int64_t)ATOMIC("hearth_compare_swap", word, HEARTHI_CAS,
                           (uint64_t)desired, (uint64_t)expected);
}

int64_t
hearth_fetch_and(int64_t *word, int64_t value)
{
    return (int64_t)ATOMIC("hearth_fetch_and", word, HEARTHI_AND,
                           (uint64_t)value, 0);
}

int64_t
hearth_fetch_or(int64_t *word, int64_t value)
{
    return (int64_t)ATOMIC("hearth_fetch_or", word, HEARTHI_OR,
                           (uint64_t)value, 0);
}

int64_t
hearth_fetch_xor(int64_t *word, int64_t value)
{
    return (int64_t)ATOMIC("hearth_fetch_xor", word, HEARTHI_XOR,
                           (uint64_t)value, 0);
}

int32_t
hearth_fetch_add32(int32_t *word, int32_t value)
{
    return (int32_t)ATOMIC("hearth_fetch_add32", word, HEARTHI_ADD,
                           (uint32_t)value, 0);
}

int32_t
hearth_swap32(int32_t *word, int32_t value)
{
    return (int32_t)ATOMIC("hearth_swap32", word, HEARTHI_SWAP,
                           (uint32_t)value, 0);
}

int32_t
hearth_compare_swap32(int32_t *word, int32_t expected, int32_t desired)
{
    return (int32_t)ATOMIC("hearth_compare_swap32", word, HEARTHI_CAS,
                           (uint32_t)desired, (uint32_t)expected);
}

int32_t
hearth_fetch_and32(int32_t *word, int32_t value)
{
    return (int32_t)ATOMIC("hearth_fetch_and32", word, HEARTHI_AND,
                           (uint32_t)value, 0);
}

int32_t
hearth_fetch_or32(int32_t *word, int32_t value)
{
    return (int32_t)ATOMIC("hearth_fetch_or32", word, HEARTHI_OR,
                           (uint32_t)value, 0);
}

int32_t
hearth_fetch_xor32(int32_t *word, int32_t value)
{
    return (int32_t)ATOMIC("hearth_fetch_xor32", word, HEARTHI_XOR,
                           (uint32_t)value, 0);
}

double
hearth_fetch_add_double(double *word, double value)
{
    return hearthi_real_of(ATOMIC("hearth_fetch_add_double", word, HEARTHI_SUM,
                                  hearthi_bits_of(value), 0));
}

/* ---- adds without results ---- */

/* Where there are no other nodes a processor's step is all. */
static void
add(const char *call, void *word, enum hearthi_add_kind kind, uint64_t value)
{
    struct hearthi_add here = hearthi_add_of(kind, 0, value);

    hearthi_word_check(call, word, hearthi_add_kind_bytes(kind));
    hearthi_count(atomics, 1);
    if (hearthi_world.nodes == 1)
        hearthi_add_here(word, &here);
    else
        hearthi_home_add(word, kind, value);
}

void
hearth_add(int64_t *word, int64_t value)
{
    add("hearth_add", word, HEARTHI_ADD_WIDE, (uint64_t)value);
}

void
hearth_add32(int32_t *word, int32_t value)
{
    add("hearth_add32", word, HEARTHI_ADD_NARROW, (uint32_t)value);
}

void
hearth_add_double(double *word, double value)
{
    add("hearth_add_double", word, HEARTHI_ADD_REAL, hearthi_bits_of(value));
}
