/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Logs that are read by who has no turn.
 */
#ifndef HEARTHI_TRANSPORT_MPI_FLAG_H
#define HEARTHI_TRANSPORT_MPI_FLAG_H

#include "rma_object.h"

/* Publish in an object's log, and let its `serving` say `set`. */
void hearthi_flag_change(int sync, bool set, const struct hearthi_notice *n,
                         size_t count);

/* Read what is news for a grant in the log of an object, of which this was
 * read; others may write there meanwhile. */
void hearthi_flag_log(int sync, struct hearthi_serving s,
                      struct hearthi_grant *g);

#endif
