/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "thread_state.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

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

void
hearthi_thread_states_open(void)
{
    hearthi_holder = hearthi_sparse(holder_bytes());
    hearthi_thread_state.held = 0;
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
    pthread_mutex_lock(&mutex);
    while (*at != user)
        at = &(*at)->next;
    *at = user->next;
    user->known = false;
    pthread_mutex_unlock(&mutex);
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
    pthread_mutex_lock(&mutex);
    hearthi_thread_state.next = users;
    users = &hearthi_thread_state;
    hearthi_thread_state.known = true;
    pthread_mutex_unlock(&mutex);
    pthread_setspecific(key, &hearthi_thread_state);
}

/* ---- the end of the rank ---- */

/* Of another thread than this one. */
static const char *
waits_in(int *number)
{
    const char *call = NULL;

    pthread_mutex_lock(&mutex);
    for (struct hearthi_thread_state *u = users; u != NULL && call == NULL;
         u = u->next) {
        *number = atomic_load_explicit(&u->number, memory_order_relaxed);
        call = atomic_load_explicit(&u->call, memory_order_relaxed);
    }
    pthread_mutex_unlock(&mutex);
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

    pthread_mutex_lock(&mutex);
    for (struct hearthi_thread_state *u = users; u != NULL; u = u->next) {
        number = atomic_load_explicit(&u->number, memory_order_relaxed);
        call = atomic_load_explicit(&u->call, memory_order_relaxed);
        if (call != NULL && is_lock_call(call, number) &&
            hearthi_manager(number, hearthi_world.size) == rank)
            hearthi_abandoned_locks_add(lost, hearthi_lock_names_key(number));
    }
    pthread_mutex_unlock(&mutex);
}

void
hearthi_thread_states_check(const char *call)
{
    char        text[TEXT], of[TEXT] = "";
    int         number;
    const char *waits = waits_in(&number);

    if (hearthi_held_text(text, sizeof text, NULL))
        hearthi_fatal(call, "%s held by this rank: call hearth_unlock first",
                      text);
    if (waits != NULL && is_lock_call(waits, number))
        snprintf(of, sizeof of, " (%s)", hearthi_lock_text(number).text);
    else if (waits != NULL && number >= 0)
        snprintf(of, sizeof of, " (%d)", number);
    if (waits != NULL)
        hearthi_fatal(call,
                      "another thread of this rank is in %s%s: wait until it "
                      "has come back",
                      waits, of);
}
