/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How a page was used so far, from one drop of its copy to the next: a byte of
 * the page table.  The rules stand in predict.h.
 */
#ifndef HEARTHI_HABIT_H
#define HEARTHI_HABIT_H

#include <stdbool.h>
#include <stdint.h>

/* Its copy had been used when it was dropped: will the next one be, too? */
bool hearthi_habit_used(uint64_t page);

/* It was fetched in advance, and had not been; true if that was sure. */
bool hearthi_habit_missed(uint64_t page);

/* It is used always, and this fetch need not check it. */
bool hearthi_habit_is_sure(uint64_t page, uint64_t round);

#endif
