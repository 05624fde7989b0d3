/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTHI_THREAD_H
#define HEARTHI_THREAD_H

#include <pthread.h>

/* A thread that no signal of the program's goes to, but for its own faults: it
 * may drive MPI, which copies the program's messages, and with SIGSEGV blocked
 * a fault ends the process without a word.  Returns 0, or an error. */
int hearthi_thread_start(pthread_t *thread, void *(*body)(void *));

#endif
