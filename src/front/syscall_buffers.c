/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A call may come from an MPI library.  The thread that called the library may
 * hold the page table, or threads that hold the table may wait for it: to wait
 * for the table would be for ever, and no page can be fetched.  What MPI hands
 * over is a buffer of an operation that is under way, and so pinned until that
 * has ended (front/request_pins.h): it goes on as it is.
 */
#include "config.h"

#include "syscall_buffers.h"

#include <errno.h>
#include <stdint.h>

#include "api/api_pin.h"
#include "base/cancel.h"
#include "base/mpi_call.h"
#include "base/option.h"
#include "base/report.h"
#include "page/fork_child.h"
#include "page/page.h"
#include "world.h"

typedef void piece_function(const struct hearthi_syscall_buffers *s,
                            const void *p, size_t bytes, int how);

/* What lies in its allocation of a buffer: a program that gives more room than
 * there is, to a call that does not use it, is served. */
static size_t
bytes_within(const void *p, size_t bytes)
{
    size_t most;

    hearthi_table_lock();
    most = hearthi_bytes_behind(p);
    hearthi_table_unlock();
    return bytes < most ? bytes : most;
}

static void
piece_pin(const struct hearthi_syscall_buffers *s, const void *p, size_t bytes,
          int how)
{
    bytes = bytes_within(p, bytes);
    if (bytes > 0)
        hearthi_pin(s->call, p, bytes, how);
}

static void
piece_unpin(const struct hearthi_syscall_buffers *s, const void *p,
            size_t bytes, int how)
{
    (void)s;
    bytes = bytes_within(p, bytes);
    if (bytes > 0)
        hearthi_unpin(p, bytes, how);
}

/* In a child of fork(2), which has no transport. */
static void
piece_read(const struct hearthi_syscall_buffers *s, const void *p,
           size_t bytes, int how)
{
    (void)s, (void)how;
    hearthi_fork_read(p, bytes_within(p, bytes));
}

static void
vector_do(const struct hearthi_syscall_buffers *s, piece_function *f,
          const struct hearthi_syscall_buffer *of)
{
    const struct iovec *v = of->p;

    for (size_t i = 0; i < of->bytes; i++)
        if (hearthi_in_heap(v[i].iov_base))
            f(s, v[i].iov_base, v[i].iov_len, of->how);
}

static void
messages_do(const struct hearthi_syscall_buffers *s, piece_function *f,
            const struct hearthi_syscall_buffer *of)
{
    const struct mmsghdr *m = of->p;

    for (size_t i = 0; i < of->bytes; i++) {
        const struct msghdr *h = &m[i].msg_hdr;

        vector_do(s, f,
                  &(struct hearthi_syscall_buffer){ h->msg_iov, h->msg_iovlen,
                                                    of->how });
    }
}

static void
texts_do(const struct hearthi_syscall_buffers *s, piece_function *f,
         const struct hearthi_syscall_buffer *of)
{
    char *const *v = of->p;

    for (size_t i = 0; i < of->bytes; i++)
        if (hearthi_in_heap(v[i]))
            f(s, v[i], strlen(v[i]) + 1, of->how);
}

/* For each piece in the heap. */
static void
pieces_do(const struct hearthi_syscall_buffers *s, piece_function *f)
{
    enum {
        KIND = HEARTHI_SYSCALL_VECTOR | HEARTHI_SYSCALL_MESSAGES |
               HEARTHI_SYSCALL_TEXTS
    };

    for (int i = 0; i < s->n; i++) {
        struct hearthi_syscall_buffer span = s->span[i];

        span.how &= ~KIND;
        switch (s->span[i].how & KIND) {
        case HEARTHI_SYSCALL_VECTOR: vector_do(s, f, &span); break;
        case HEARTHI_SYSCALL_MESSAGES: messages_do(s, f, &span); break;
        case HEARTHI_SYSCALL_TEXTS: texts_do(s, f, &span); break;
        default: f(s, span.p, span.bytes, span.how);
        }
    }
}

/* Not everything is up where there is a heap: at start, at the end, and in
 * what fork() has made.  Below MPI_THREAD_MULTIPLE other threads get what is
 * here, and else EFAULT. */
void
hearthi_syscall_buffers_hold(struct hearthi_syscall_buffers *s)
{
    HEARTHI_UNCANCELLED;
    bool inside = hearthi_mpi_call != NULL &&
                  hearthi_opt.transport == HEARTHI_TRANSPORT_MPI;

    s->before = errno;
    s->pinned = hearthi_world.up && hearthi_opt.interpose && !inside &&
                hearthi_may_call_mpi();
    if (s->pinned)
        pieces_do(s, piece_pin);
    else if (!hearthi_world.up)
        pieces_do(s, piece_read);
    errno = 0;
}

static void
refused_say(const struct hearthi_syscall_buffers *s)
{
    const char *why =
        !hearthi_world.up ? "Hearth is not up in this process, so pages that "
                            "are not here cannot be brought: give it private "
                            "memory and copy"
        : hearthi_mpi_call != NULL
            ? "a call of MPI has handed it over that is not held: hold it by "
              "hearth_hold() meanwhile"
        : !hearthi_opt.interpose
            ? "HEARTH_INTERPOSE=no, so no call brings pages for the kernel: "
              "hold them by hearth_hold() meanwhile"
        : !hearthi_may_call_mpi()
            ? "a thread other than the one that called hearth_init cannot "
              "bring pages: initialise MPI with MPI_THREAD_MULTIPLE"
            : "see whether all of the buffer lies in one allocation";

    hearthi_warn(s->call, "the kernel could not use %zu %s at %p (EFAULT): %s",
                 s->span[0].bytes,
                 s->span[0].how >= HEARTHI_SYSCALL_VECTOR ? "pieces" : "bytes",
                 s->span[0].p, why);
}

void
hearthi_syscall_buffers_drop(void *spans)
{
    HEARTHI_UNCANCELLED;
    struct hearthi_syscall_buffers *s = spans;
    int                             after = errno;

    if (s->pinned)
        pieces_do(s, piece_unpin);
    if (after == EFAULT)
        refused_say(s);
    errno = after == 0 ? s->before : after;
}
