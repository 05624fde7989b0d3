/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTHI_THREAD_H
#define HEARTHI_THREAD_H

#include <pthread.h>

/* A thread that no signal of the program's goes to: 0, or an error. */
int hearthi_thread_start(pthread_t *thread, void *(*body)(void *));

#endif
