/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Requests and answers of ranks of one node: the same messages as between
 * hosts, in the boxes of the node's channel.
 */
#include "config.h"

#include "shm_message.h"

#include <pthread.h>
#include <string.h>

#include "base/assert.h"
#include "base/option.h"
#include "base/report.h"
#include "base/thread.h"
#include "cluster.h"
#include "node/shm_channel.h"
#include "udp_job.h"
#include "wire.h"

enum { ROOM = HEARTHI_UDP_HEAD + HEARTHI_UDP_SMALL };

static pthread_t thread;
static bool      serves;
static void (*service)(const struct hearthi_udp_message *ask);

bool
hearthi_udp_shm_channel_used(void)
{
    return hearthi_cluster.node_size > 1 &&
           hearthi_opt.udp_local == HEARTHI_LOCAL_SHM;
}

bool
hearthi_udp_is_local(int rank)
{
    return hearthi_udp_shm_channel_used() &&
           hearthi_cluster.node_of[rank] == hearthi_cluster.node &&
           rank != hearthi_cluster.rank;
}

static size_t
message_write(uint8_t *to, const struct hearthi_udp_message *m)
{
    HEARTHI_ASSERT(HEARTHI_UDP_HEAD + m->body_len <= ROOM);
    hearthi_udp_encode(m, to);
    if (m->body_len > 0)
        memcpy(to + HEARTHI_UDP_HEAD, m->body, m->body_len);
    return HEARTHI_UDP_HEAD + m->body_len;
}

static enum hearthi_udp_reason
message_read(const uint8_t *from, size_t len, struct hearthi_udp_message *m)
{
    return hearthi_udp_decode_parts(from, from + HEARTHI_UDP_HEAD, len,
                                    &hearthi_udp.limits, m);
}

/* ---- the client's part ---- */

void
hearthi_udp_shm_channel_ask(const struct hearthi_udp_message *ask)
{
    size_t len = message_write(hearthi_shm_channel_request(ask->slot), ask);

    hearthi_shm_channel_ask(hearthi_cluster.node_rank_of[ask->to], ask->slot,
                            len);
}

void
hearthi_udp_shm_channel_answer(unsigned                    slot,
                               struct hearthi_udp_message *answer)
{
    size_t         len;
    const uint8_t *bytes = hearthi_shm_channel_wait(slot, &len);

    message_read(bytes, len, answer);
}

/* ---- the server's part ---- */

void
hearthi_udp_shm_channel_grant(const struct hearthi_udp_message *m)
{
    int    to = hearthi_cluster.node_rank_of[m->to];
    size_t len = message_write(hearthi_shm_channel_answer(to, m->slot), m);

    hearthi_shm_channel_grant(to, m->slot, len);
}

static void
take(int from, const uint8_t *request, size_t len)
{
    struct hearthi_udp_message m;

    if (message_read(request, len, &m) != HEARTHI_UDP_GOOD)
        hearthi_fatal("udp", "rank %d has sent nonsense through shared memory",
                      hearthi_cluster.node_member[from]);
    service(&m);
}

static void *
serve(void *none)
{
    (void)none;
    hearthi_shm_channel_serve(take);
    return NULL;
}

/* ---- start and end ---- */

void
hearthi_udp_shm_channel_open(
    void (*serve_one)(const struct hearthi_udp_message *ask))
{
    serves = hearthi_udp_shm_channel_used();
    if (!serves)
        return;
    service = serve_one;
    hearthi_shm_channel_open(HEARTHI_UDP_SLOTS, ROOM);
    hearthi_thread_start(&thread, serve, "hearth_init", "service thread",
                         NULL);
}

void
hearthi_udp_shm_channel_close(void)
{
    if (!serves)
        return;
    serves = false;
    hearthi_shm_channel_serve_end();
    pthread_join(thread, NULL);
    hearthi_shm_channel_close();
}
