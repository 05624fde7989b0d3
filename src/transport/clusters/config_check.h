/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What must be the same in all clusters, or memory would not be.
 */
#ifndef HEARTHI_CONFIG_CHECK_H
#define HEARTHI_CONFIG_CHECK_H

#include "link/conf.h"

/* Lines of NAME=VALUE, which gateways compare when they meet. */
const char *hearthi_config_text(void);

/* Choose the page size where HEARTH_PAGE_SIZE is auto, which follows from the
 * systems of all clusters; if one gives another, end the job.  Collective, of
 * all ranks, before the heap is laid out. */
void hearthi_config_page_size(const struct hearthi_conf *conf);

#endif
