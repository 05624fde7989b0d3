/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "thread_state.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mutex.h"
#include "base/report.h"
#include "lock.h"
#include "space/heap.h"

enum { TEXT = 64 };

_Thread_local __attribute__((tls_model(
    "initial-exec"))) struct hearthi_thread_state hearthi_thread_state;

const void *_Atomic *hearthi_holder;

static pthread_mutex_t              mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t               once = PTHREAD_ONCE_INIT;
static pthread_key_t                key;
static struct hearthi_thread_state *users; /* with the mutex */

static size_t
holder_bytes(void)
{
    return (size_t)hearthi_syncs * sizeof *hearthi_holder;
}

/* Of an earlier start. */
static void
reads_forget(struct hearthi_thread_state *u, void *unused)
{
    (void)unused;
    u->reads = NULL;
}

void
hearthi_thread_states_open(void)
{
    hearthi_holder = hearthi_sparse(holder_bytes());
    hearthi_thread_state.held = 0;
    hearthi_thread_states_each(reads_forget, NULL);
}

void
hearthi_thread_states_close(void)
{
    hearthi_sparse_free((void *)hearthi_holder, holder_bytes());
    hearthi_holder = NULL;
}

/* Another thread may have had the mutex. */
void
hearthi_thread_states_forked(void)
{
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    users = hearthi_thread_state.known ? &hearthi_thread_state : NULL;
    hearthi_thread_state.next = NULL;
}

/* Relaxed: of other threads it need not be exact. */
bool
hearthi_held_text(char *text, size_t room, const void *thread)
{
    int first = -1, n = 0;

    for (int i = hearthi_syncs_top - 1; i >= 0; i--) {
        const void *holder =
            atomic_load_explicit(&hearthi_holder[i], memory_order_relaxed);

        if (holder == NULL || (thread != NULL && holder != thread))
            continue;
        first = i;
        n++;
    }
    if (n == 0)
        return false;
    if (n > 1)
        snprintf(text, room, "lock %s and %d more are",
                 hearthi_lock_text(first).text, n - 1);
    else
        snprintf(text, room, "lock %s is", hearthi_lock_text(first).text);
    return true;
}

/* ---- threads come and go ---- */

static void
user_end(void *value)
{
    struct hearthi_thread_state  *user = value;
    struct hearthi_thread_state **at = &users;
    char                          text[TEXT];

    if (hearthi_world.up && user->held > 0 &&
        hearthi_held_text(text, sizeof text, hearthi_thread()))
        hearthi_fatal("pthread_exit",
                      "a thread ends while %s held by it, which no other can "
                      "unlock: call hearth_unlock first",
                      text);
    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_THREAD_STATES);
    while (*at != user) {
        HEARTHI_ASSERT(*at != NULL);
        at = &(*at)->next;
    }
    *at = user->next;
    user->known = false;
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_THREAD_STATES);
}

static void
key_make(void)
{
    pthread_key_create(&key, user_end);
}

void
hearthi_thread_state_begin(void)
{
    pthread_once(&once, key_make);
    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_THREAD_STATES);
    HEARTHI_ASSERT(!hearthi_thread_state.known);
    hearthi_thread_state.next = users;
    users = &hearthi_thread_state;
    hearthi_thread_state.known = true;
    hearthi_thread_state.tid = (int)syscall(SYS_gettid);
    hearthi_thread_state.identity = hearthi_thread();
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_THREAD_STATES);
    pthread_setspecific(key, &hearthi_thread_state);
}

/* ---- the end of the rank ---- */

/* What it waits in, or NULL.  The number may be that of a later wait: then the
 * call before it has ended, which is seen since. */
const char *
hearthi_thread_state_call(struct hearthi_thread_state *u, int *number)
{
    uintptr_t call = atomic_load_explicit(&u->call, memory_order_acquire);
    uintptr_t then;

    *number = atomic_load_explicit(&u->number, memory_order_acquire);
    then = atomic_load_explicit(&u->call, memory_order_relaxed);
    if (((call ^ then) & ~HEARTHI_SEEN) != 0)
        return NULL;
    return (const char *)(call & ~HEARTHI_SEEN);
}

/* Of another thread than this one. */
static const char *
waits_in(int *number)
{
    const char *call = NULL;

    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_THREAD_STATES);
    for (struct hearthi_thread_state *u = users; u != NULL && call == NULL;
         u = u->next)
        call = hearthi_thread_state_call(u, number);
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_THREAD_STATES);
    return call;
}

/* Is the number that of a lock? */
static bool
is_lock_call(const char *call, int number)
{
    return number >= 0 && (strcmp(call, "hearth_lock") == 0 ||
                           strcmp(call, "hearth_trylock") == 0);
}

void
hearthi_thread_states_lost(int rank, struct hearthi_abandoned_locks *lost)
{
    const char *call;
    int         number;

    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_THREAD_STATES);
    for (struct hearthi_thread_state *u = users; u != NULL; u = u->next) {
        call = hearthi_thread_state_call(u, &number);
        if (call != NULL && is_lock_call(call, number) &&
            hearthi_manager(number, hearthi_world.size) == rank)
            hearthi_abandoned_locks_add(lost, hearthi_lock_names_key(number));
    }
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_THREAD_STATES);
}

static void
wait_text(const char *call, int number, char *text, size_t room)
{
    if (is_lock_call(call, number))
        snprintf(text, room, "%s (%s)", call, hearthi_lock_text(number).text);
    else if (number >= 0)
        snprintf(text, room, "%s (%d)", call, number);
    else
        snprintf(text, room, "%s", call);
}

bool
hearthi_thread_states_wait(char *text, size_t room)
{
    int         number;
    const char *waits = waits_in(&number);

    if (waits != NULL)
        wait_text(waits, number, text, room);
    return waits != NULL;
}

/* One more beat of a wait, or the first that sees it: then true.  Relaxed: the
 * step behind it fails if the call is another by then. */
static bool
beat_count(_Atomic uintptr_t *in, uint64_t *waited, uint64_t beat)
{
    uintptr_t call = atomic_load_explicit(in, memory_order_relaxed);

    if (call & HEARTHI_SEEN) {
        *waited += beat;
        return false;
    }
    *waited = 0;
    if (call != 0)
        atomic_compare_exchange_strong(in, &call, call | HEARTHI_SEEN);
    return true;
}

static void
beats_count(struct hearthi_thread_state *u, uint64_t beat)
{
    bool here = beat_count(&u->call, &u->waited, beat);
    bool mpi = beat_count(&u->mpi_call, &u->mpi_waited, beat);

    if (here && mpi)
        u->marked = false;
}

void
hearthi_thread_states_each(void (*look)(struct hearthi_thread_state *u,
                                        void                        *to),
                           void *to)
{
    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_THREAD_STATES);
    for (struct hearthi_thread_state *u = users; u != NULL; u = u->next)
        look(u, to);
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_THREAD_STATES);
}

uint64_t
hearthi_thread_states_stalled(uint64_t beat, char *text, size_t room)
{
    const char *call;
    uint64_t    most = 0;
    int         number;

    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_THREAD_STATES);
    for (struct hearthi_thread_state *u = users; u != NULL; u = u->next) {
        beats_count(u, beat);
        call = hearthi_thread_state_call(u, &number);
        if (call == NULL || number == HEARTHI_OF_ALL || u->waited <= most)
            continue;
        most = u->waited;
        wait_text(call, number, text, room);
    }
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_THREAD_STATES);
    return most;
}

void
hearthi_thread_states_check(const char *call)
{
    char text[TEXT];

    if (hearthi_held_text(text, sizeof text, NULL))
        hearthi_fatal(call, "%s held by this rank: call hearth_unlock first",
                      text);
    if (hearthi_thread_states_wait(text, sizeof text))
        hearthi_fatal(call,
                      "another thread of this rank is in %s: wait until it "
                      "has come back",
                      text);
}
