/* SPDX-License-Identifier: BSD-2-Clause
 *
 * libFuzzer's way to the judge of what gateways and ranks send (fuzz.sh): each
 * message that it takes is read once more, as the gateway does, and must hold.
 */
#include <string.h>

#include "fuzz.h"
#include "life/liveness_line.h"
#include "notice/notice.h"
#include "transport/clusters/wan_validate.h"
#include "transport/log.h"
#include "wan_shape.h"

static char segment[WAN_AT + (WAN_FRAMES << WAN_SHIFT)];

static void
runs_use(const struct hearthi_wan_message *a, const char *body)
{
    size_t bytes = 0;

    for (size_t at = 0; at < a->len; at += sizeof(struct hearthi_wan_run)) {
        struct hearthi_wan_run r;

        memcpy(&r, body + at, sizeof r);
        must(r.home < WAN_RANKS && r.page + r.count <= WAN_PAGES);
        memset(segment + r.frame, 1, r.count);
        segment[WAN_AT + ((r.frame + r.count - 1) << WAN_SHIFT)] = 1;
        bytes += (size_t)r.count << WAN_SHIFT;
    }
    must(bytes <= WAN_LONGEST);
}

static void
bytes_use(const struct hearthi_wan_message *a, const char *body)
{
    for (size_t at = 0; at < a->len;) {
        struct hearthi_wan_bytes r;

        memcpy(&r, body + at, sizeof r);
        at += sizeof r;
        must(r.home < WAN_RANKS);
        if (a->op == HEARTHI_WAN_STORE) {
            memcpy(segment + r.at, body + at, r.len);
            at += hearthi_wan_round(r.len);
        } else {
            must(segment[r.at] + segment[r.at + r.len - 1] < 1000);
        }
    }
}

static void
notices_use(const struct hearthi_wan_message *a, const char *body)
{
    for (size_t at = 0; at < a->len; at += sizeof(struct hearthi_notice)) {
        struct hearthi_notice n;

        memcpy(&n, body + at, sizeof n);
        must(n.writer < WAN_RANKS);
        must(n.count == HEARTHI_INVALIDATE_ALL ||
             n.page + n.count <= WAN_PAGES);
    }
}

static void
ask_use(const struct hearthi_wan_message *a, const char *body, bool far)
{
    must(!far || a->op < HEARTHI_WAN_FORGET || a->op == HEARTHI_WAN_GATHER ||
         a->op == HEARTHI_WAN_BARRIER || a->op == HEARTHI_WAN_TELL);
    switch ((enum hearthi_wan_op)a->op) {
    case HEARTHI_WAN_FETCH:
    case HEARTHI_WAN_KEEP: runs_use(a, body); break;
    case HEARTHI_WAN_STORE:
    case HEARTHI_WAN_READ: bytes_use(a, body); break;
    case HEARTHI_WAN_ATOMIC:
        memset(segment + a->at, 0, a->narrow ? 4 : 8);
        break;
    case HEARTHI_WAN_RELEASE:
    case HEARTHI_WAN_SET:
        must(a->n > HEARTHI_LOG ||
             a->n * sizeof(struct hearthi_notice) == a->len);
        must(a->to < wan_bounds.syncs);
        notices_use(a, body);
        break;
    case HEARTHI_WAN_BARRIER:
    case HEARTHI_WAN_FORGET: notices_use(a, body); break;
    case HEARTHI_WAN_TELL:
        must(a->len == sizeof(struct hearthi_record));
        must(a->to < WAN_RANKS && (!far || (a->to >= 2 && a->to < 5)));
        break;
    case HEARTHI_WAN_ENDING: must(memchr(body, '\0', a->len) != NULL); break;
    default: break;
    }
}

/* A copy that ends where it says, so that a byte behind is found. */
static void
judge(const struct hearthi_wan_message *ask, size_t there, bool far)
{
    size_t whole = sizeof *ask + hearthi_wan_round(ask->len);

    if (hearthi_wan_message_fault(ask, there, far, &wan_bounds) != NULL)
        return;
    must(whole <= there);
    if (!ask->answer)
        ask_use(ask, (const char *)(ask + 1), far);
    else
        must(far && ask->rank >= 2 && (ask->rank < 5 || ask->rank == 7));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    void *copy = malloc(len + 1);

    must(copy != NULL);
    memcpy(copy, data, len);
    if (len >= sizeof(struct hearthi_wan_message)) {
        if (data[len - 1] % 4 > 0)
            wan_shape(copy, len);
        judge(copy, len, true);
        judge(copy, len, false);
    }
    free(copy);
    return 0;
}
