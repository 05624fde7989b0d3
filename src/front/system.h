/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calls that hand memory of the program to the kernel (system.def), with
 * Hearth in front of them.
 */
#ifndef HEARTHI_SYSTEM_H
#define HEARTHI_SYSTEM_H

/* Look for the functions behind.  It is called when the library is loaded; and
 * by name, so that who is linked with its objects alone has these calls. */
void hearthi_system_open(void);

#endif
