/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Service threads.
 */
#ifndef HEARTHI_SOCKET_THREAD_H
#define HEARTHI_SOCKET_THREAD_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

/* A thread that no signal of the program's goes to. */
void hearthi_udp_socket_thread_start(pthread_t *thread, void *(*body)(void *));
void hearthi_udp_socket_thread_end(pthread_t thread, const atomic_bool *ended,
                                   int fd, const struct sockaddr_in *to);

#endif
