/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where jia_alloc() is in its turn of the hosts.
 */
#ifndef HEARTHI_JIA_ALLOC_H
#define HEARTHI_JIA_ALLOC_H

void hearthi_jia_alloc_open(void);

#endif
