/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "thread.h"

#include <signal.h>
#include <stddef.h>

#include "fault_signal.h"

int
hearthi_thread_start(pthread_t *thread, void *(*body)(void *))
{
    sigset_t all, before;
    int      code;

    sigfillset(&all);
    hearthi_fault_signals_open(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(thread, NULL, body, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}
