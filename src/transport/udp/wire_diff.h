/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What DIFF and its answer may say: runs and patches, atomic steps, adds.
 */
#ifndef HEARTHI_WIRE_DIFF_H
#define HEARTHI_WIRE_DIFF_H

#include "wire.h"

enum hearthi_udp_reason
hearthi_udp_diff_check(const struct hearthi_udp_message *m,
                       const struct hearthi_udp_limits  *l);
enum hearthi_udp_reason
hearthi_udp_diffgrant_check(const struct hearthi_udp_message *m,
                            const struct hearthi_udp_limits  *l);

#endif
