/* SPDX-License-Identifier: BSD-2-Clause */
/* Input files: what is wrong with one. */
#ifndef APPS_FILE_H
#define APPS_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "common.h"

/* "PATH TEXT", valid until the next call. */
const char *app_file_wrong(const char *path, const char *format, ...)
    APP_PRINTF(2, 3);

/* Why the next thing is not there: it is not valid, the file ends, or it
 * cannot be read. */
const char *app_file_missing(FILE *file, const char *path, const char *what,
                             long number);

/* Without white space at both ends, in place. */
char *app_file_trim(char *text);

#endif
