/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What main() does before the first CREATE, on every rank.
 *
 * G_MALLOC.  What main() allocates before the first CREATE comes out of chunks
 * that all ranks make together, since they run the same main(): so every rank
 * gets the same pointers.  On rank 0 a chunk is an allocation of Hearth's like
 * any other.  The other ranks have taken it, but not placed its pages
 * (home/home.h): there private memory lies over them until the first CREATE.
 * So they may store what rank 0 stores, at any time and in any order, read it
 * again, and count up what they have read, and no other rank sees that.
 *
 * Later G_MALLOC is hearth_malloc().
 */
#ifndef HEARTHI_PARMACS_MAIN_H
#define HEARTHI_PARMACS_MAIN_H

/* At the first CREATE: what lies in the chunks is rank 0's from now on. */
void hearthi_parmacs_memory_share(void);

/* Forget the chunks, before hearth_finalize(). */
void hearthi_parmacs_memory_close(void);

/* ---- input ----
 *
 * Every rank reads what main() reads from the standard input before the first
 * CREATE, though only rank 0 has that input; and only rank 0 prints what
 * main() prints. */

/* From now on; collective. */
void hearthi_parmacs_input_open(void);

/* From the first CREATE on each rank has its own. */
void hearthi_parmacs_input_close(void);

#endif
