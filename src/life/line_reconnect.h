/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A line that ends may tell of a process that ended, or of a stranger that
 * forged the segment of TCP that ends it: then its rank is called anew, where
 * it listens.  A rank that listens no more is gone; one that answers by the
 * job's word is not.  On the thread that watches the lines.
 */
#ifndef HEARTHI_LINE_RECONNECT_H
#define HEARTHI_LINE_RECONNECT_H

#include <poll.h>
#include <stdint.h>

#include "liveness_line.h"

/* The line has no connection: call its rank, unless that is done already. */
void hearthi_line_reconnect_begin(struct hearthi_liveness_line *line);

/* What to wait for, HEARTHI_LINES, and until when. */
void     hearthi_line_reconnect_wait_for(struct pollfd *p);
uint64_t hearthi_line_reconnect_due(void);

/* Go on with the call for a line.  NOTHING: it goes on, or there is none.
 * RECORD: the rank lives, and the line is there again if this rank makes it,
 * else its rank will make it.  END: it is gone.  LOST: neither is known. */
enum hearthi_heard
hearthi_line_reconnect_look(struct hearthi_liveness_line *line);

/* The line is there again, or is not wanted any more. */
void hearthi_line_reconnect_end(struct hearthi_liveness_line *line);

#endif
