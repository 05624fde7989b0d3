/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "apart.h"

#include "channel.h"

static struct hearthi_ask_bytes
head_of(const struct hearthi_apart *run)
{
    return (struct hearthi_ask_bytes){ run->at, (uint32_t)run->home,
                                       (uint32_t)run->len };
}

void
hearthi_apart_read(const struct hearthi_apart *run, int n)
{
    struct hearthi_channel  *c = hearthi_channel_take();
    const struct hearthi_ask ask = { .op = HEARTHI_ASK_READ,
                                     .to = (uint32_t)run->home };
    struct hearthi_ask_bytes head[HEARTHI_APART];
    char                     rest[8];

    for (int i = 0; i < n; i++)
        head[i] = head_of(&run[i]);
    hearthi_channel_ask(c, ask, head, (size_t)n * sizeof *head, "hearth_read");
    for (int i = 0; i < n; i++) {
        hearthi_channel_read(c, run[i].to, run[i].len);
        hearthi_channel_read(c, rest,
                             hearthi_ask_round(run[i].len) - run[i].len);
    }
    hearthi_channel_give(c);
}

void
hearthi_apart_write(const struct hearthi_apart *run, int n)
{
    static const char        zeros[8];
    struct hearthi_channel  *c = hearthi_channel_take();
    const struct hearthi_ask ask = { .op = HEARTHI_ASK_STORE,
                                     .to = (uint32_t)run->home };
    struct hearthi_ask_bytes head[HEARTHI_APART];
    struct iovec             part[3 * HEARTHI_APART];

    for (int i = 0; i < n; i++) {
        head[i] = head_of(&run[i]);
        part[3 * i] = (struct iovec){ &head[i], sizeof head[i] };
        part[3 * i + 1] = (struct iovec){ run[i].to, run[i].len };
        part[3 * i + 2] =
            (struct iovec){ (void *)zeros,
                            hearthi_ask_round(run[i].len) - run[i].len };
    }
    hearthi_channel_send(c, ask, part, 3 * n);
    hearthi_channel_hear(c, "hearth_write");
    hearthi_channel_give(c);
}
