/* SPDX-License-Identifier: BSD-2-Clause
 *
 * libFuzzer's way to the options (fuzz.sh).  The input is an environment: NAME
 * and VALUE in a line each, without HEARTH_.  What is taken prints as a value
 * that is taken and means the same; what is not is told in one short line.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/network.h"
#include "base/option.h"
#include "base/report.h"
#include "fuzz.h"

enum { LINES = 16, WHY = 256 };

static char *name_of[LINES], *value_of[LINES];
static int   lines;

_Noreturn void
hearthi_fatal(const char *call, const char *fmt, ...)
{
    (void)call, (void)fmt;
    abort();
}

void
hearthi_warn(const char *call, const char *fmt, ...)
{
    char    text[WHY * 16];
    va_list ap;

    (void)call;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
}

static char *
input_get(const char *name)
{
    for (int i = 0; i < lines; i++)
        if (strcmp(name + strlen("HEARTH_"), name_of[i]) == 0)
            return value_of[i];
    return NULL;
}

static char *
printed_get(const char *name)
{
    static char text[64][HEARTHI_VALUE_MAX];
    const char *is;

    for (size_t i = 0; i < 64; i++) {
        is = hearthi_option_at(i, text[i], sizeof text[i]);
        must(is != NULL && strlen(text[i]) < sizeof text[i]);
        if (strcmp(is, name) == 0)
            return text[i];
    }
    abort();
}

static void
lines_take(char *text)
{
    char *line;

    lines = 0;
    while (lines < LINES && (line = strsep(&text, "\n")) != NULL) {
        name_of[lines] = strsep(&line, "=");
        value_of[lines] = line;
        if (line != NULL)
            lines++;
    }
}

static void
nearest_look(void)
{
    char  entry[HEARTHI_VALUE_MAX];
    char *env[] = { entry, NULL };

    for (int i = 0; i < lines; i++) {
        snprintf(entry, sizeof entry, "HEARTH_%s=%s", name_of[i], value_of[i]);
        hearthi_options_unknown(env);
    }
}

static void
texts_end(void)
{
    const struct hearthi_options *o = &hearthi_opt;

    must(memchr(o->network.list, '\0', sizeof o->network.list) != NULL);
    must(memchr(o->stats.file, '\0', sizeof o->stats.file) != NULL);
    must(memchr(o->clusters.text, '\0', sizeof o->clusters.text) != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct hearthi_options same;
    char                         *text = malloc(len + 1), why[WHY] = "";

    must(text != NULL);
    memcpy(text, data, len);
    text[len] = '\0';
    lines_take(text);
    nearest_look();
    if (hearthi_options_load(&hearthi_opt, input_get, why, sizeof why)) {
        texts_end();
        must(hearthi_options_load(&same, printed_get, why, sizeof why));
        must(memcmp(&same, &hearthi_opt, sizeof same) == 0);
    } else {
        must(strncmp(why, "HEARTH_", 7) == 0 && strlen(why) < sizeof why);
    }
    free(text);
    return 0;
}
