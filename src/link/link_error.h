/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is wrong, in one line, for whoever asked to say: the link and its file
 * are used by a library whose lines end a job, and by a command whose do not.
 */
#ifndef HEARTHI_LINK_ERROR_H
#define HEARTHI_LINK_ERROR_H

#include <stdbool.h>

struct hearthi_link_error {
    char text[600];
};

/* Returns false, so that a check ends with "return hearthi_link_error(...)".
 */
bool hearthi_link_error(struct hearthi_link_error *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), cold));

#endif
