/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How the ring of lines is made.
 */
#ifndef HEARTHI_LIFE_CALL_H
#define HEARTHI_LIFE_CALL_H

#include <stdbool.h>

#include "line.h"

/* Tell where this rank listens, and learn where the next one does.
 * Collective; the ring is closed by the two below. */
void hearthi_lines_prepare(struct hearthi_line *line);

/* Take the call of the rank before, if that is who calls. */
void hearthi_line_answer(struct hearthi_line *prev);

/* Call the next rank; false if it cannot be reached. */
bool hearthi_line_call(struct hearthi_line *next);

/* The socket that the rank before calls at, or -1; no more calls. */
int  hearthi_lines_listen(void);
void hearthi_lines_settle(void);

#endif
