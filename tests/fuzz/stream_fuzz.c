/* SPDX-License-Identifier: BSD-2-Clause
 *
 * libFuzzer's way to messages that come in parts (fuzz.sh).  The input comes
 * again and again, so that buffers grow and close up, cut as its first byte
 * says: the messages are those of all bytes in one piece, whole and in order,
 * and what is left is the beginning of one.
 */
#include <stdarg.h>
#include <string.h>

#include "base/report.h"
#include "fuzz.h"
#include "transport/clusters/message_stream.h"

enum { TIMES = 48, PIECE = 251, LEAST_KEPT = 1 << 16 };

void
hearthi_fatal(const char *call, const char *fmt, ...)
{
    (void)call, (void)fmt;
    abort();
}

/* The length of the message at the beginning of n bytes, or 0. */
static size_t
message_length(const uint8_t *p, size_t n)
{
    struct hearthi_wan_message head;

    if (n < sizeof head)
        return 0;
    memcpy(&head, p, sizeof head);
    return n - sizeof head < hearthi_wan_round(head.len)
               ? 0
               : sizeof head + hearthi_wan_round(head.len);
}

/* Those that are whole, which begin at *at. */
static void
messages_take(struct hearthi_message_stream *b, const uint8_t *all, size_t n,
              size_t *at)
{
    const struct hearthi_wan_message *msg;

    while ((msg = hearthi_message_stream_next(b)) != NULL) {
        size_t len = message_length(all + *at, n - *at);

        must(len > 0);
        must(memcmp(msg, all + *at, len) == 0);
        *at += len;
    }
    must(hearthi_message_stream_left(b) <= n - *at);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hearthi_message_stream b = { .p = NULL };
    size_t                        n = len * TIMES, at = 0, piece;
    uint8_t                      *all = malloc(n + 1);

    must(all != NULL);
    for (size_t i = 0; i < n; i += len)
        memcpy(all + i, data, len);
    piece = len > 0 ? data[0] : 0;
    for (size_t came = 0; came < n; piece = piece * 7 + 1) {
        size_t some = piece % PIECE + 1;

        some = some < n - came ? some : n - came;
        hearthi_message_stream_add(&b, all + came, some);
        came += some;
        messages_take(&b, all, n, &at);
        must(at + hearthi_message_stream_left(&b) == came);
        if (piece % 3 == 0)
            hearthi_message_stream_shrink(&b, LEAST_KEPT);
    }
    must(message_length(all + at, n - at) == 0);
    hearthi_message_stream_free(&b);
    free(all);
    return 0;
}
