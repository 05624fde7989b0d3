/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which rank is to blame for silence?  A rank whose own network is down hears
 * no other, and the rank that it asked is as alive as the others: so before it
 * blames that rank, it asks those of all other hosts.
 */
#include "config.h"

#include "peer_failure.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/clock.h"
#include "base/option.h"
#include "cluster.h"
#include "life/life.h"
#include "socket.h"
#include "udp_hello.h"
#include "udp_job.h"

/* In nanoseconds: asked so often, for so long. */
enum { AGAIN = 50000000, ASKED = 1000000000 };

bool
hearthi_udp_is_here(const struct hearthi_udp_message *m,
                    const struct hearthi_udp_message *hello, uint64_t since)
{
    return m->op == HEARTHI_UDP_NULL && m->kind == 0 && m->from == hello->to &&
           m->slot == hello->slot && m->seq > since && m->seq <= hello->seq &&
           m->at == hello->at;
}

/* Neither on this rank's machine nor on that of the silent one, whichever
 * addresses their ranks were first heard from. */
static bool
is_witness(int rank, int silent)
{
    const int *of = hearthi_cluster.machine_of;

    return of[rank] != of[hearthi_cluster.rank] && of[rank] != of[silent];
}

/* Ask all witnesses; how many there are. */
static int
witnesses_ask(struct hearthi_udp_rx *in, struct hearthi_udp_message *hello,
              int silent)
{
    int n = 0;

    for (int r = 0; r < hearthi_cluster.size; r++)
        if (is_witness(r, silent)) {
            hello->to = (uint32_t)r;
            hearthi_udp_send(in->fd, &hearthi_udp.server[r], hello, NULL);
            n++;
        }
    return n;
}

/* There are ranks of other hosts to ask, and none of them answers. */
static bool
is_cut_off(int silent)
{
    struct hearthi_udp_message hello = { .op = HEARTHI_UDP_BCAST,
                                         .from =
                                             (uint32_t)hearthi_cluster.rank };
    struct hearthi_udp_rx      in;
    struct hearthi_udp_message m;
    struct sockaddr_in         from;
    uint64_t                   now = hearthi_now(), end = now + ASKED;
    uint64_t                   since = hearthi_udp_hello_number();
    bool                       heard = false;
    int                        n = 1;

    hearthi_udp_rx_open(&in, hearthi_udp_socket(0), false);
    for (; n > 0 && !heard && now < end; now = hearthi_now()) {
        hello.seq = hearthi_udp_hello_number();
        n = witnesses_ask(&in, &hello, silent);
        while (n > 0 && !heard &&
               hearthi_udp_receive(&in, now + AGAIN, &m, &from)) {
            hello.to = m.from;
            heard = hearthi_udp_is_here(&m, &hello, since);
        }
    }
    hearthi_udp_rx_close(&in);
    return n > 0 && !heard;
}

void
hearthi_udp_peer_failed(int rank, const char *what)
{
    int                       me = hearthi_cluster.rank;
    bool                      cut = is_cut_off(rank);
    const struct sockaddr_in *at = &hearthi_udp.server[cut ? me : rank];

    if (cut)
        hearthi_life_gone(me, what,
                          "rank %d (%s, UDP port %u) has had no answer from "
                          "any other host for %zu s: its network is down, or "
                          "a firewall stops UDP; HEARTH_UDP_GIVEUP is how "
                          "long to wait",
                          me, inet_ntoa(at->sin_addr), ntohs(at->sin_port),
                          hearthi_opt.udp_giveup / 1000000000);
    hearthi_life_gone(rank, what,
                      "rank %d (%s, UDP port %u) has not answered for %zu s: "
                      "it was ended or stopped, or the network is down; "
                      "HEARTH_UDP_GIVEUP is how long to wait",
                      rank, inet_ntoa(at->sin_addr), ntohs(at->sin_port),
                      hearthi_opt.udp_giveup / 1000000000);
}
