/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Threads that are older than hearth_init(), with the signals of page faults
 * blocked: by the program that started this one, or past libhearth.
 */
#define _GNU_SOURCE /* pthread_setname_np */

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "badinput.h"

static pthread_t      older;
static sem_t          begun, go;
static volatile char *pages;

static void
faults_block(void)
{
    const uint64_t faults = UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1)
                                                               << (SIGBUS - 1);

    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &faults, NULL, sizeof faults);
}

static void *
older_run(void *blocks)
{
    pthread_setname_np(pthread_self(), "older (one)");
    if (blocks != NULL)
        faults_block();
    sem_post(&begun);
    sem_wait(&go);
    for (int i = 0; pages != NULL && i <= last; i++)
        pages[(size_t)i * page_bytes() + (size_t)me] = 1;
    return NULL;
}

void
older_begin(bool blocks)
{
    sem_init(&begun, 0, 0);
    sem_init(&go, 0, 0);
    if (pthread_create(&older, NULL, older_run, blocks ? &begun : NULL) != 0)
        exit(1);
    sem_wait(&begun);
}

void
mask_inherit(char **argv)
{
    static const char done[] = "BADINPUT_MASK_IS_INHERITED";

    if (getenv(done) != NULL)
        return;
    setenv(done, "yes", 1);
    faults_block();
    execv("/proc/self/exe", argv);
    exit(1);
}

static void
older_end(void)
{
    sem_post(&go);
    pthread_join(older, NULL);
}

static void
older_blocks(void)
{
    older_end();
}

static void
older_inherits(void)
{
    pages =
        hearth_alloc((size_t)(last + 1) * page_bytes(), 1, hearth_cyclic(1));
    older_end();
}

const struct badinput badinput_masks[] = {
    BADINPUT(older_blocks),
    BADINPUT(older_inherits),
    { 0 },
};
