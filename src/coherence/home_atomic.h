/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Atomic changes of a heap word at its home; own copies of the page go.
 */
#ifndef HEARTHI_HOME_ATOMIC_H
#define HEARTHI_HOME_ATOMIC_H

#include <stdint.h>

#include "transport/atomic_op.h"

/* One step of the transport's, or something that is worked out from the value
 * found and step.value. */
enum hearthi_change_op {
    HEARTHI_STEP,
    HEARTHI_AND,
    HEARTHI_OR,
    HEARTHI_XOR,
    HEARTHI_SUM /* of doubles */
};

struct hearthi_change {
    enum hearthi_change_op   op;
    struct hearthi_atomic_op step;
};

/* Gives what was there. */
uint64_t hearthi_home_atomic(void *word, const struct hearthi_change *c);

#endif
