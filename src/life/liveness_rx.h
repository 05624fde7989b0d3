/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the thread that watches a line does about what it hears, or does not.
 */
#ifndef HEARTHI_LIVENESS_RX_H
#define HEARTHI_LIVENESS_RX_H

#include <stdint.h>

#include "liveness_line.h"

/* How long who finds another silent waits for others who do; nanoseconds. */
uint64_t hearthi_liveness_moment(void);

/* Take all that is there. */
void hearthi_liveness_line_read(struct hearthi_liveness_line *line);

/* Nothing has come over it for longer than HEARTH_UDP_GIVEUP. */
void hearthi_liveness_line_silent(struct hearthi_liveness_line *line);

#endif
