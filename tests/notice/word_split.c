/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Runs of bytes on their way home: words stay whole (transport/word_split.h).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "harness.h"
#include "property.h"
#include "transport/word_split.h"

enum { CASES = 20000 };

/* However much room messages have. */
START_TEST(a_run_is_cut_between_words)
{
    for (int i = 0; i < CASES; i++) {
        uint64_t s = case_start(i), offset = below(&s, 100);
        size_t   len = 1 + below(&s, 200), room = 15 + below(&s, 60);
        size_t   some = hearthi_word_split(offset, len, below(&s, room));

        ck_assert(some == len || (offset + some) % 8 == 0 || some == 0);
        for (; len > 0; offset += some, len -= some) {
            some = hearthi_word_split(offset, len, room);
            ck_assert(some > 0 && some <= room && some <= len);
            ck_assert(some == len || (offset + some) % 8 == 0);
        }
    }
}
END_TEST

/* Of any length, from any byte to any other, and nothing beside it. */
START_TEST(a_run_is_stored_and_loaded)
{
    _Alignas(8) char from[80], to[80], want[80];

    for (int i = 0; i < CASES; i++) {
        uint64_t s = case_start(i);
        size_t   at = below(&s, 20), src = below(&s, 20), len = below(&s, 40);

        for (size_t k = 0; k < sizeof from; k++) {
            from[k] = (char)below(&s, 256);
            to[k] = want[k] = (char)k;
        }
        memcpy(want + at, from + src, len);
        hearthi_run_store(to + at, from + src, len);
        ck_assert(memcmp(to, want, sizeof to) == 0);
        memset(to + at, 0, len);
        hearthi_run_load(to + at, from + src, len);
        ck_assert(memcmp(to, want, sizeof to) == 0);
    }
}
END_TEST

/* A thread stores runs of equal words, of each length in turn. */

enum { LONG = 8, ROUNDS = 20000 };

static uint64_t   stored[LONG + 1];
static atomic_int ended;

static void *
runs_store(void *none)
{
    char from[sizeof stored];

    for (int round = 0; round < ROUNDS; round++) {
        memset(from, round % 255, sizeof from);
        for (unsigned n = 2; n <= LONG; n++)
            hearthi_run_store((char *)(stored + n % 2), from + 1,
                              n * sizeof *stored);
    }
    atomic_store(&ended, 1);
    return none;
}

/* memcpy(3) of aarch64 with SVE stores some in parts: qemu -cpu max shows that
 * once in a million loads. */
START_TEST(no_word_of_a_run_is_seen_in_parts)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    pthread_t      thread;
    uint64_t       seen;
    int            torn = 0;

    ck_assert(pthread_create(&thread, NULL, runs_store, NULL) == 0);
    for (unsigned i = 0; !atomic_load(&ended); i++) {
        seen = __atomic_load_n(&stored[i % LONG], __ATOMIC_RELAXED);
        torn += seen != (seen & 0xff) * ones;
    }
    pthread_join(thread, NULL);
    ck_assert_int_eq(torn, 0);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("word_split");
    TCase *tc = tcase_create("word_split");

    property_start();
    tcase_add_test(tc, a_run_is_cut_between_words);
    tcase_add_test(tc, a_run_is_stored_and_loaded);
    tcase_add_test(tc, no_word_of_a_run_is_seen_in_parts);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
