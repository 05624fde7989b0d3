/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Is the rank that others wait for still there?  A rank that waits for a lock,
 * a flag or a barrier asks a manager or a parent, which answers that it must
 * wait; and a parent waits for children without a word.  None of that tells a
 * rank that is late from one that was stopped while it held the lock.
 *
 * So each rank that waits says hello to the next one, now and then, and that
 * one's service thread answers, whatever its program does.  If a rank is gone
 * all others come to wait, and so does the one before it, which then says
 * which one is gone.  That is one message in a second at most, however many
 * wait.
 */
#include "config.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "base/thread.h"
#include "cluster.h"
#include "datagram_rx.h"
#include "peer_failure.h"
#include "socket.h"
#include "timer.h"
#include "udp_hello.h"
#include "udp_job.h"
#include "wire.h"

static struct {
    struct hearthi_udp_rx in;
    pthread_t             thread;
    uint64_t              period;
    atomic_uint           waiting; /* threads */
    _Atomic(const char *) what;    /* a call that waits */
    atomic_bool           stop, ended;
    uint64_t              heard; /* the last hello that was answered */
} w;

void
hearthi_udp_liveness_wait_begin(const char *what)
{
    w.what = what;
    w.waiting++;
}

void
hearthi_udp_liveness_wait_end(void)
{
    w.waiting--;
}

/* Ask, and hear an answer before the period ends, be it to an earlier hello:
 * on a slow link it may take longer than that. */
static bool
rank_answers(struct hearthi_udp_message *hello)
{
    uint64_t                   end = hearthi_now() + w.period;
    bool                       heard = w.waiting == 0;
    struct hearthi_udp_message m;
    struct sockaddr_in         from;

    hello->seq = hearthi_udp_hello_number();
    if (!heard)
        hearthi_udp_send(w.in.fd, &hearthi_udp.server[hello->to], hello, NULL);
    while (!w.stop && hearthi_now() < end)
        if (hearthi_udp_receive(&w.in, end, &m, &from) &&
            hearthi_udp_is_here(&m, hello, w.heard)) {
            w.heard = m.seq;
            heard = true;
        }
    return heard;
}

/* A period counts as such, however long it took: a rank that was itself
 * stopped has not listened. */
static void *
watch(void *none)
{
    int      next = (hearthi_cluster.rank + 1) % hearthi_cluster.size;
    uint64_t silent = 0;
    struct hearthi_udp_message hello = { .op = HEARTHI_UDP_BCAST,
                                         .from =
                                             (uint32_t)hearthi_cluster.rank,
                                         .to = (uint32_t)next };

    while (!w.stop) {
        silent = rank_answers(&hello) ? 0 : silent + w.period;
        if (silent > hearthi_opt.udp_giveup && !w.stop)
            hearthi_udp_peer_failed(next, w.what);
    }
    w.ended = true;
    return none;
}

void
hearthi_udp_liveness_open(void)
{
    const uint64_t least = 10000000, most = 1000000000;
    uint64_t       share = hearthi_opt.udp_giveup / 40;

    memset(&w, 0, sizeof w);
    w.period = share < least ? least : share < most ? share : most;
    hearthi_udp_rx_open(&w.in, hearthi_udp_socket(0), false);
    hearthi_thread_start(&w.thread, watch, "hearth_init", "service thread",
                         NULL);
}

void
hearthi_udp_liveness_close(void)
{
    struct sockaddr_in own = hearthi_udp_address_of(w.in.fd);

    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    w.stop = true;
    hearthi_udp_receiver_end(w.thread, &w.ended, w.in.fd, &own);
    hearthi_udp_rx_close(&w.in);
}
