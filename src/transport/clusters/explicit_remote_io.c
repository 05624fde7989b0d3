/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "clusters.h"

#include "gateway_channel.h"

static struct hearthi_wan_bytes
head_of(const struct hearthi_remote_io *run)
{
    return (struct hearthi_wan_bytes){ run->at, (uint32_t)run->home,
                                       (uint32_t)run->len };
}

void
hearthi_remote_io_read(const struct hearthi_remote_io *run, int n)
{
    struct hearthi_gateway_channel  *c = hearthi_gateway_channel_take();
    const struct hearthi_wan_message msg = { .op = HEARTHI_WAN_READ,
                                             .to = (uint32_t)run->home };
    struct hearthi_wan_bytes         head[HEARTHI_REMOTE_IO];
    char                             rest[8];

    for (int i = 0; i < n; i++)
        head[i] = head_of(&run[i]);
    hearthi_gateway_channel_ask(c, msg, head, (size_t)n * sizeof *head,
                                "hearth_read");
    for (int i = 0; i < n; i++) {
        hearthi_gateway_channel_read(c, run[i].to, run[i].len);
        hearthi_gateway_channel_read(
            c, rest, hearthi_wan_round(run[i].len) - run[i].len);
    }
    hearthi_gateway_channel_give(c);
}

void
hearthi_remote_io_write(const struct hearthi_remote_io *run, int n)
{
    static const char                zeros[8];
    struct hearthi_gateway_channel  *c = hearthi_gateway_channel_take();
    const struct hearthi_wan_message msg = { .op = HEARTHI_WAN_STORE,
                                             .to = (uint32_t)run->home };
    struct hearthi_wan_bytes         head[HEARTHI_REMOTE_IO];
    struct iovec                     part[3 * HEARTHI_REMOTE_IO];

    for (int i = 0; i < n; i++) {
        head[i] = head_of(&run[i]);
        part[3 * i] = (struct iovec){ &head[i], sizeof head[i] };
        part[3 * i + 1] = (struct iovec){ run[i].to, run[i].len };
        part[3 * i + 2] =
            (struct iovec){ (void *)zeros,
                            hearthi_wan_round(run[i].len) - run[i].len };
    }
    hearthi_gateway_channel_send(c, msg, part, 3 * n);
    hearthi_gateway_channel_hear(c, "hearth_write");
    hearthi_gateway_channel_give(c);
}
