/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What main() reads from the standard input before the first CREATE every rank
 * reads, though only rank 0 has it; and what it prints only rank 0 prints.
 */
#ifndef HEARTHI_PARMACS_INPUT_H
#define HEARTHI_PARMACS_INPUT_H

/* From now on; collective. */
void hearthi_parmacs_input_open(void);

/* From the first CREATE on each rank has its own. */
void hearthi_parmacs_input_close(void);

#endif
