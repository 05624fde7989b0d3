/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is wrong, in one line, for whoever asked to say: the link and its file
 * are used by a library whose lines end a job, and by a command whose do not.
 */
#ifndef HEARTHI_LINK_WRONG_H
#define HEARTHI_LINK_WRONG_H

#include <stdbool.h>

struct hearthi_wrong {
    char text[600];
};

/* Returns false, so that a check ends with "return hearthi_wrong(...)". */
bool hearthi_wrong(struct hearthi_wrong *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), cold));

#endif
