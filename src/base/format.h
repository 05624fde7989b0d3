/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Text with numbers, as the C locale writes and reads them: a program that
 * calls setlocale(3) may have a comma where each reader of Hearth's lines, and
 * each user that sets an option, expects a point.
 */
#ifndef HEARTHI_FORMAT_H
#define HEARTHI_FORMAT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* vsnprintf(3), the same in every locale; a signal handler may call it. */
int hearthi_format(char *out, size_t room, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

/* A number to so many digits, as %g has it. */
void hearthi_decimal_print(FILE *out, int digits, double number);

/* What stands behind the last '/' of a path. */
const char *hearthi_base_name(const char *path);

/* A number as people write it, "1.5": whole + part / parts. */
struct hearthi_decimal {
    unsigned long long whole;
    uint64_t           part, parts;
};

/* Returns what stands behind the number; NULL if there is none at the
 * beginning of text, or one that is too large. */
const char *hearthi_decimal_parse(const char *text, struct hearthi_decimal *d);

/* *out = the number times a unit, cut to a whole number.  False if that is
 * more than a size_t, or if a part of a unit of 1 is asked for. */
bool hearthi_decimal_scale(const struct hearthi_decimal *d, size_t unit,
                           size_t *out);

#endif
