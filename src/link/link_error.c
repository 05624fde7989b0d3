/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "link_error.h"

#include <stdarg.h>
#include <stdio.h>

bool
hearthi_link_error(struct hearthi_link_error *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(w->text, sizeof w->text, fmt, ap);
    va_end(ap);
    return false;
}
