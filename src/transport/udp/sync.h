/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The client's side of locks, flags and atomics.
 */
#ifndef HEARTHI_TRANSPORT_UDP_SYNC_H
#define HEARTHI_TRANSPORT_UDP_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

bool     hearthi_udp_acquire(int sync, bool try, struct hearthi_grant *g);
void     hearthi_udp_release(int sync, uint64_t epoch,
                             const struct hearthi_notice *n, size_t count);
bool     hearthi_udp_delegate(int lock);
bool     hearthi_udp_rw_acquire(int sync, bool write, bool try,
                                struct hearthi_grant *g);
void     hearthi_udp_rw_release(int sync, bool write,
                                const struct hearthi_notice *n, size_t count);
void     hearthi_udp_flag_set(int sync, const struct hearthi_notice *n,
                              size_t count);
void     hearthi_udp_flag_wait(int sync, struct hearthi_grant *g);
void     hearthi_udp_flag_reset(int sync);
uint64_t hearthi_udp_atomic(int home, size_t offset,
                            const struct hearthi_atomic_op *s);

#endif
