/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "wrong.h"

#include <stdarg.h>
#include <stdio.h>

bool
hearthi_wrong(struct hearthi_wrong *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(w->text, sizeof w->text, fmt, ap);
    va_end(ap);
    return false;
}
