/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Size classes, and blocks of small objects against a list of what was taken.
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "malloc/size_class.h"
#include "malloc/slab.h"
#include "property.h"

enum { BLOCK = 1 << 16, STEPS = 20000 };

START_TEST(a_class_is_the_least_that_holds_the_bytes)
{
    for (size_t bytes = 1; bytes <= HEARTHI_SMALL; bytes++) {
        unsigned c = hearthi_size_class_of(bytes);

        ck_assert_uint_lt(c, HEARTHI_SIZE_CLASSES);
        ck_assert_uint_ge(hearthi_size_class_bytes(c), bytes);
        if (c > 0)
            ck_assert_uint_lt(hearthi_size_class_bytes(c - 1), bytes);
        ck_assert_uint_eq(hearthi_size_class_bytes(c) % 16, 0);
    }
    ck_assert_uint_eq(hearthi_size_class_of(HEARTHI_SMALL),
                      HEARTHI_SIZE_CLASSES - 1);
}
END_TEST

/* Every byte of the block, for every class. */
START_TEST(only_the_first_byte_of_a_slot_is_its_address)
{
    static char block[BLOCK];

    for (unsigned c = 0; c < HEARTHI_SIZE_CLASSES; c++) {
        struct hearthi_slab *s = hearthi_slab_new(block, BLOCK, c, 0);
        size_t               size = hearthi_size_class_bytes(c);

        for (size_t at = 0; at < BLOCK; at++) {
            int slot = hearthi_slot_of(s, block + at);

            if (at % size == 0 && at / size < BLOCK / size)
                ck_assert_int_eq(slot, (int)(at / size));
            else
                ck_assert_int_eq(slot, HEARTHI_NO_SLOT);
        }
        free(s);
    }
}
END_TEST

static void
slab_check(unsigned class, uint64_t *random)
{
    static char          block[BLOCK];
    static char          taken[BLOCK / 16], used[BLOCK / 16];
    struct hearthi_slab *s = hearthi_slab_new(block, BLOCK, class, 0);
    uint32_t slots = BLOCK / (uint32_t)hearthi_size_class_bytes(class);
    uint32_t n = 0;

    memset(taken, 0, sizeof taken);
    memset(used, 0, sizeof used);
    ck_assert_uint_eq(s->slots, slots);
    for (int step = 0; step < STEPS; step++) {
        uint32_t slot = (uint32_t)below(random, slots);

        ck_assert_uint_eq(s->left, slots - n);
        if (taken[slot]) {
            ck_assert(hearthi_slot_is_live(s, (int)slot));
            ck_assert(hearthi_slot_return(s, (int)slot));
            ck_assert(!hearthi_slot_return(s, (int)slot));
            hearthi_slab_give(s, slot);
            taken[slot] = 0;
            n--;
        } else {
            ck_assert(!hearthi_slot_return(s, (int)slot));
            if (n == slots)
                continue;
        }
        if (below(random, 3) > 0 && n < slots) {
            bool was;

            slot = hearthi_slab_take(s, &was);
            ck_assert(!taken[slot]);
            ck_assert_int_eq(was, used[slot]);
            ck_assert(!hearthi_slot_is_live(s, (int)slot));
            hearthi_slot_lend(s, slot);
            taken[slot] = used[slot] = 1;
            n++;
        }
    }
    free(s);
}

START_TEST(a_slot_is_taken_once_and_returned_once)
{
    uint64_t random = case_start(0);

    for (unsigned c = 0; c < HEARTHI_SIZE_CLASSES; c += 3)
        slab_check(c, &random);
}
END_TEST

int
main(void)
{
    property_start();
    Suite *s = suite_create("slab");
    TCase *t = tcase_create("slab");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_class_is_the_least_that_holds_the_bytes);
    tcase_add_test(t, only_the_first_byte_of_a_slot_is_its_address);
    tcase_add_test(t, a_slot_is_taken_once_and_returned_once);
    suite_add_tcase(s, t);
    return unit_main(s);
}
