/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Threads that sleep at a socket.
 */
#include "config.h"

#include <time.h>

#include "base/thread.h"
#include "cluster.h"
#include "socket.h"
#include "socket_thread.h"
#include "wire.h"

void
hearthi_udp_socket_thread_start(pthread_t *thread, void *(*body)(void *))
{
    hearthi_thread_start(thread, body, "hearth_init", "service thread", NULL);
}

/* It sleeps at the socket that `to` is the address of, and is woken by words
 * to stop, which may get lost, too. */
void
hearthi_udp_socket_thread_end(pthread_t thread, const atomic_bool *ended,
                              int fd, const struct sockaddr_in *to)
{
    const struct timespec      nap = { .tv_nsec = 200000 };
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_EXIT,
                                     .from = (uint32_t)hearthi_cluster.rank,
                                     .to = (uint32_t)hearthi_cluster.rank };

    while (!*ended) {
        hearthi_udp_send(fd, to, &m, NULL);
        nanosleep(&nap, NULL);
    }
    pthread_join(thread, NULL);
}
