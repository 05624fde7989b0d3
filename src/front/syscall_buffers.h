/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a call to the kernel or to the C library reads and writes of the heap,
 * and the pin of it for as long as the call lasts.
 */
#ifndef HEARTHI_SYSCALL_BUFFERS_H
#define HEARTHI_SYSCALL_BUFFERS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "hearth/hearth.h"
#include "space/heap.h"

enum {
    HEARTHI_SYSCALL_BUFFERS = 8, /* most in one call, and room to spare */
    /* In how: it is not bytes, but so many struct iovec, struct mmsghdr or
     * strings. */
    HEARTHI_SYSCALL_VECTOR = 64,
    HEARTHI_SYSCALL_MESSAGES = 128,
    HEARTHI_SYSCALL_TEXTS = 256
};

struct hearthi_syscall_buffer {
    const void *p;
    size_t      bytes;
    int         how; /* HEARTH_READ, HEARTH_WRITE: what the kernel does */
};

/* Nothing in it is read before something of the heap was added, so that the
 * compiler leaves n alone of it where all else is outside. */
struct hearthi_syscall_buffers {
    const char                   *call;
    bool                          pinned;
    int                           n;
    int                           before; /* errno */
    struct hearthi_syscall_buffer span[HEARTHI_SYSCALL_BUFFERS];
};

static inline void
hearthi_syscall_buffer_put(struct hearthi_syscall_buffers *s, const void *p,
                           size_t bytes, int how)
{
    s->span[s->n++] = (struct hearthi_syscall_buffer){ p, bytes, how };
}

/* A macro, so that `bytes` may be what only an address of the heap is asked
 * for. */
#define HEARTHI_SYSCALL_BUFFER(s, p, bytes, how)                \
    do {                                                        \
        if (hearthi_in_heap(p))                                 \
            hearthi_syscall_buffer_put((s), (p), (bytes), how); \
    } while (0)

/* The kernel refuses more. */
static inline size_t
hearthi_few(size_t count)
{
    return count > IOV_MAX ? 0 : count;
}

static inline bool
hearthi_vector_in_heap(const struct iovec *v, size_t count)
{
    for (size_t i = 0; v != NULL && i < hearthi_few(count); i++)
        if (hearthi_in_heap(v[i].iov_base))
            return true;
    return false;
}

static inline void
hearthi_syscall_buffers_vector(struct hearthi_syscall_buffers *s,
                               const struct iovec *v, size_t count, int how)
{
    HEARTHI_SYSCALL_BUFFER(s, v, count * sizeof *v, HEARTH_READ);
    if (hearthi_vector_in_heap(v, count))
        hearthi_syscall_buffer_put(s, v, count, how | HEARTHI_SYSCALL_VECTOR);
}

/* The kernel changes lengths in a message that it fills. */
static inline void
hearthi_syscall_buffers_message(struct hearthi_syscall_buffers *s,
                                const struct msghdr *m, int how)
{
    if (m == NULL)
        return;
    HEARTHI_SYSCALL_BUFFER(s, m, sizeof *m, HEARTH_READ | how);
    HEARTHI_SYSCALL_BUFFER(s, m->msg_name, m->msg_namelen, how);
    HEARTHI_SYSCALL_BUFFER(s, m->msg_control, m->msg_controllen, how);
    hearthi_syscall_buffers_vector(s, m->msg_iov, m->msg_iovlen, how);
}

/* Names and control data of many messages are left alone: their lengths are
 * changed by the call, and there is no place to keep them. */
static inline void
hearthi_syscall_buffers_messages(struct hearthi_syscall_buffers *s,
                                 const struct mmsghdr *m, size_t count,
                                 int how)
{
    HEARTHI_SYSCALL_BUFFER(s, m, count * sizeof *m,
                           HEARTH_READ | HEARTH_WRITE);
    for (size_t i = 0; m != NULL && i < hearthi_few(count); i++)
        if (hearthi_vector_in_heap(m[i].msg_hdr.msg_iov,
                                   m[i].msg_hdr.msg_iovlen)) {
            hearthi_syscall_buffer_put(s, m, count,
                                       how | HEARTHI_SYSCALL_MESSAGES);
            return;
        }
}

/* Strings, and NULL behind the last. */
static inline void
hearthi_syscall_buffers_texts(struct hearthi_syscall_buffers *s,
                              char *const                    *v)
{
    size_t count = 0;
    bool   any = false;

    for (; v != NULL && v[count] != NULL; count++)
        any = any || hearthi_in_heap(v[count]);
    HEARTHI_SYSCALL_BUFFER(s, v, (count + 1) * sizeof *v, HEARTH_READ);
    if (any)
        hearthi_syscall_buffer_put(s, v, count,
                                   HEARTH_READ | HEARTHI_SYSCALL_TEXTS);
}

/* Pin all of it, unless it is pinned already or pins cannot be had now.  Keeps
 * errno in *s and makes it 0. */
void hearthi_syscall_buffers_hold(struct hearthi_syscall_buffers *s);

/* Drop what was pinned, and put back errno if it is 0 still.  Says so when the
 * call has failed with EFAULT.  For pthread_cleanup_push(). */
void hearthi_syscall_buffers_drop(void *spans);

#endif
