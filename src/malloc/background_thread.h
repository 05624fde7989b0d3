/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A thread of the library that does what must be done although no thread of
 * the program calls it: memory that was freed a while ago goes back to the
 * system (purge.h), and a rank in need gets what is free here.  Such a rank
 * asks by a word, at which the thread looks, since the program's threads may
 * wait for that very rank, or compute.  (jemalloc has background_thread.c for
 * the first of these.)
 *
 * It begins with the first object that gives it something to do, and sleeps
 * while there is nothing.
 */
#ifndef HEARTHI_MALLOC_BACKGROUND_THREAD_H
#define HEARTHI_MALLOC_BACKGROUND_THREAD_H

void hearthi_background_thread_open(void);
void hearthi_background_thread_close(void);
void hearthi_background_thread_forked(void); /* in a child */

/* Behind calls that may leave something for it to do, with no mutex held. */
void hearthi_background_thread_wake(void);

#endif
