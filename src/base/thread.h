/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Hearth's own threads, and what any thread does about signals of faults and
 * about a core that it shares with others.
 */
#ifndef HEARTHI_THREAD_H
#define HEARTHI_THREAD_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A thread that no signal of the program's goes to, but for its own faults: it
 * may drive MPI, which copies the program's messages, and with SIGSEGV blocked
 * a fault ends the process without a word.  Where there can be none the job
 * ends: `what` is the thread, for the call, and `without` what does without
 * it, or NULL. */
void hearthi_thread_start(pthread_t  *thread, void *(*body)(void *),
                          const char *call, const char *what,
                          const char *without);

/* Is this thread, as the kernel numbers them, one of these? */
bool hearthi_thread_is_own(int thread);

/* One that waits for descriptors, and for being woken, until it is to stop. */
struct hearthi_poller {
    pthread_t   thread;
    int         wake; /* eventfd */
    atomic_bool stop;
};

void hearthi_poller_start(struct hearthi_poller *t, void *(*body)(void *),
                          const char            *what);
void hearthi_poller_wake(struct hearthi_poller *t);
void hearthi_poller_end(struct hearthi_poller *t);
void hearthi_poller_forked(struct hearthi_poller *t); /* in a child */

/* In the thread: until something comes or it is woken, or it is `due`; of n
 * descriptors the last one is set here. */
void hearthi_poller_wait(struct hearthi_poller *t, struct pollfd *fd,
                         unsigned n, uint64_t due);

/* ---- all threads of the process (tasks.c) ----
 *
 * As the kernel has them, also those of which nothing else is known (proc(5)).
 */

/* Call for each, until that is false; false if they cannot be listed,
 * or if a call was. */
bool hearthi_tasks_each(bool (*look)(int thread, void *to), void *to);

/* The words of a thread's stack, from its top on, if it is blocked in the
 * kernel: how many, of room at most; 0 if it runs, or if it cannot be known.
 */
size_t hearthi_task_stack(int thread, uintptr_t *word, size_t room);

/* Is it in pthread_join(3), for a thread that has yet to end? */
bool hearthi_task_joins(int thread);

/* Has it a signal of faults blocked?  Its name goes to *name then. */
enum { HEARTHI_TASK_NAME = 64 };
bool hearthi_task_blocks_faults(int thread, char name[HEARTHI_TASK_NAME]);

/* A thread that is in a page fault may be on a stack of Hearth's, at whose top
 * the address of this is: what led there is on another. */
extern const char hearthi_fault_stack_mark;

/* ---- faults ----
 *
 * The signals by which page faults come: SIGSEGV, and SIGBUS for pages that
 * are protected by userfaultfd.  No thread has them blocked, but for what
 * libhearth cannot see (front/sigmask.c). */

static inline bool
hearthi_is_fault_signal(int signum)
{
    return signum == SIGSEGV || signum == SIGBUS;
}

/* Take them out of a set. */
static inline void
hearthi_fault_signals_open(sigset_t *set)
{
    sigdelset(set, SIGSEGV);
    sigdelset(set, SIGBUS);
}

/* Let this thread have them, whatever mask it has inherited.  Libhearth's own
 * pthread_sigmask() leaves this as it is. */
static inline void
hearthi_fault_signals_unblock(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    sigaddset(&set, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* *set without them: in *room, or itself. */
static inline const sigset_t *
hearthi_sigmask_open(const sigset_t *set, sigset_t *room)
{
    if (set == NULL ||
        (sigismember(set, SIGSEGV) != 1 && sigismember(set, SIGBUS) != 1))
        return set;
    *room = *set;
    hearthi_fault_signals_open(room);
    return room;
}

/* ---- cores ---- */

/* How long the calling thread may have its core while others want it, from
 * Linux 6.12 on (EEVDF; sched_setattr(2)): a thread with short slices that
 * wakes does not wait for the rest of another thread's slice.  Nothing if it
 * is not of Linux's ordinary policy, or if that is refused. */
void hearthi_sched_slice_short(void);

/* A library that spins while it waits keeps its core until the kernel's next
 * look, milliseconds later, from the very process that it waits for.  Between
 * these two calls a timer makes the calling thread yield instead, as profilers
 * interrupt a thread: by a signal, after which most system calls go on
 * (SA_RESTART), but not poll(2), sleep(3) and the like.
 *
 * One pair at a time.  Nothing if ranks have a core each, where the program
 * uses SIGURG itself, by a handler or by blocking it, or where the kernel has
 * no timer to give. */
void hearthi_yield_timer_begin(bool crowded);
void hearthi_yield_timer_end(void);

/* hearthi_yield_timer_end(), behind a call that gave this. */
static inline int
hearthi_yield_timer_tick(int code)
{
    hearthi_yield_timer_end();
    return code;
}

#endif
