/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "format.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* newlocale(3) of "C" alone takes no memory: the C library has that one. */
int
hearthi_format(char *out, size_t room, const char *fmt, va_list ap)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = c != (locale_t)0 ? uselocale(c) : (locale_t)0;
    int      length = vsnprintf(out, room, fmt, ap);

    if (c != (locale_t)0) {
        uselocale(before);
        freelocale(c);
    }
    return length;
}

static void __attribute__((format(printf, 3, 4)))
format(char *out, size_t room, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    hearthi_format(out, room, fmt, ap);
    va_end(ap);
}

void
hearthi_decimal_print(FILE *out, int digits, double number)
{
    char text[64];

    format(text, sizeof text, "%.*g", digits, number);
    fputs(text, out);
}

#define PARTS_MOST UINT64_C(1000000000000)

const char *
hearthi_decimal_parse(const char *text, struct hearthi_decimal *d)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return NULL; /* strtoull takes a sign and blanks */
    *d = (struct hearthi_decimal){ .parts = 1 };
    errno = 0;
    d->whole = strtoull(text, &end, 10);
    if (errno != 0)
        return NULL;
    if (*end != '.')
        return end;
    if (!isdigit((unsigned char)*++end))
        return NULL;
    for (; isdigit((unsigned char)*end); end++) {
        if (d->parts >= PARTS_MOST)
            continue; /* less than a byte of a TiB, and a nanosecond */
        d->part = 10 * d->part + (unsigned)(*end - '0');
        d->parts *= 10;
    }
    return end;
}

bool
hearthi_decimal_scale(const struct hearthi_decimal *d, size_t unit,
                      size_t *out)
{
    const unsigned __int128 n = (unsigned __int128)d->whole * unit +
                                (unsigned __int128)d->part * unit / d->parts;

    if (n > SIZE_MAX || (unit == 1 && d->parts != 1))
        return false;
    *out = (size_t)n;
    return true;
}

const char *
hearthi_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}
