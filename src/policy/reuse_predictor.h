/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How a page was used so far, from one drop of its copy to the next: a byte of
 * the page table.  The rules stand in reuse_prefetch.h.
 */
#ifndef HEARTHI_REUSE_PREDICTOR_H
#define HEARTHI_REUSE_PREDICTOR_H

#include <stdbool.h>
#include <stdint.h>

/* Its copy had been used when it was dropped: will the next one be, too? */
bool hearthi_reuse_predictor_used(uint64_t page);

/* It was fetched in advance, and had not been; true if that was sure. */
bool hearthi_reuse_predictor_missed(uint64_t page);

/* It is used always, and this fetch need not check it. */
bool hearthi_reuse_predictor_is_sure(uint64_t page, uint64_t round);

#endif
