/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Apart from all that needs another library, so that a program which tests one
 * file of the link has it.
 */
#include "config.h"

#include <stdarg.h>

#include "base/format.h"
#include "key.h"

bool
hearthi_link_error(struct hearthi_link_error *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    hearthi_format(w->text, sizeof w->text, fmt, ap);
    va_end(ap);
    return false;
}
