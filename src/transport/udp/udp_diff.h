/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Diffs, on their way from the client.
 */
#ifndef HEARTHI_UDP_DIFF_H
#define HEARTHI_UDP_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void hearthi_udp_diffs_open(void);
void hearthi_udp_diffs_close(void);

bool hearthi_udp_patch(int home, size_t offset, const char *src,
                       const uint64_t *mask, size_t blocks, size_t runs);
void hearthi_udp_diff(int home, size_t offset, const void *src, size_t len);
void hearthi_udp_notify(int home);
void hearthi_udp_flush(void);

/* Those that were kept to be packed. */
void hearthi_udp_diffs_send(void);

#endif
