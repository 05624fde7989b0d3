/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "network.h"
#include "option.h"
#include "option_type.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char suffixes[] = "kmgt";

static bool
bool_parse(const struct hearthi_type *type, const char *text, void *out)
{
    (void)type;
    for (size_t i = 0; type->words[i] != NULL; i++) {
        if (strcasecmp(text, type->words[i]) == 0) {
            *(bool *)out = i % 2;
            return true;
        }
    }
    return false;
}

static void
bool_print(const struct hearthi_type *type, const void *value, char *out,
           size_t room)
{
    snprintf(out, room, "%s", type->words[*(const bool *)value]);
}

static bool
count_parse(const struct hearthi_type *type, const char *text, void *out)
{
    char              *end;
    unsigned long long n;

    (void)type;
    if (!isdigit((unsigned char)*text))
        return false; /* strtoull takes a sign and blanks */
    errno = 0;
    n = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || n > SIZE_MAX)
        return false;
    *(size_t *)out = (size_t)n;
    return true;
}

static void
count_print(const struct hearthi_type *type, const void *value, char *out,
            size_t room)
{
    (void)type;
    snprintf(out, room, "%zu", *(const size_t *)value);
}

/* A decimal number with an optional binary suffix: 512, 4k, 2M, 1g. */
static bool
size_parse(const struct hearthi_type *type, const char *text, void *out)
{
    char              *end;
    const char        *s;
    unsigned           shift = 0;
    unsigned long long n;

    (void)type;
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    n = strtoull(text, &end, 10);
    if (*end != '\0') {
        s = strchr(suffixes, tolower((unsigned char)*end));
        if (s == NULL || end[1] != '\0')
            return false;
        shift = 10 * (unsigned)(s - suffixes + 1);
    }
    if (errno != 0 || n > SIZE_MAX >> shift)
        return false;
    *(size_t *)out = (size_t)n << shift;
    return true;
}

static void
size_print(const struct hearthi_type *type, const void *value, char *out,
           size_t room)
{
    size_t n = *(const size_t *)value;
    char   suffix[2] = "";

    (void)type;
    for (const char *s = suffixes; *s != '\0' && n > 0 && n % 1024 == 0; s++) {
        n /= 1024;
        suffix[0] = *s;
    }
    snprintf(out, room, "%zu%s", n, suffix);
}

/* A decimal number with its unit, kept in nanoseconds. */
static const struct unit {
    const char *name;
    size_t      ns;
} units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 } };

enum { UNITS = sizeof units / sizeof *units };

static bool
time_parse(const struct hearthi_type *type, const char *text, void *out)
{
    char              *end;
    unsigned long long n;

    (void)type;
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    n = strtoull(text, &end, 10);
    for (int i = 0; i < UNITS; i++) {
        if (strcasecmp(end, units[i].name) != 0)
            continue;
        if (errno != 0 || n > SIZE_MAX / units[i].ns)
            return false;
        *(size_t *)out = (size_t)n * units[i].ns;
        return true;
    }
    return false;
}

static void
time_print(const struct hearthi_type *type, const void *value, char *out,
           size_t room)
{
    size_t n = *(const size_t *)value;
    int    i = 0;

    (void)type;
    while (i < UNITS - 1 && n % units[i].ns != 0)
        i++;
    snprintf(out, room, "%zu%s", n / units[i].ns, units[i].name);
}

/* "auto" is kept as 0, so a plain 0 would be taken for it: refused. */
static bool
auto_parse(const struct hearthi_type *type, const char *text, void *out)
{
    size_t n = 0;

    if (strcasecmp(text, "auto") != 0 &&
        (!type->inner->parse(type->inner, text, &n) || n == 0))
        return false;
    *(size_t *)out = n;
    return true;
}

static void
auto_print(const struct hearthi_type *type, const void *value, char *out,
           size_t room)
{
    if (*(const size_t *)value == 0)
        snprintf(out, room, "auto");
    else
        type->inner->print(type->inner, value, out, room);
}

static const char json[] = "json:";

static bool
report_parse(const struct hearthi_type *type, const char *text, void *out)
{
    const char          *file = text + strlen(json);
    hearthi_type_report *r = out;
    bool                 yes;

    if (type->inner->parse(type->inner, text, &yes)) {
        r->how = yes ? HEARTHI_STATS_YES : HEARTHI_STATS_NO;
        return true;
    }
    if (strncasecmp(text, json, strlen(json)) != 0 || *file == '\0' ||
        strlen(file) >= sizeof r->file)
        return false;
    r->how = HEARTHI_STATS_JSON;
    strcpy(r->file, file);
    return true;
}

static void
report_print(const struct hearthi_type *type, const void *value, char *out,
             size_t room)
{
    const hearthi_type_report *r = value;
    bool                       yes = r->how == HEARTHI_STATS_YES;

    if (r->how == HEARTHI_STATS_JSON)
        snprintf(out, room, "%s%s", json, r->file);
    else
        type->inner->print(type->inner, &yes, out, room);
}

static bool
network_parse(const struct hearthi_type *type, const char *text, void *out)
{
    hearthi_type_network *n = out;

    (void)type;
    if (strlen(text) >= sizeof n->list || !hearthi_network_good(text))
        return false;
    strcpy(n->list, text);
    return true;
}

static void
network_print(const struct hearthi_type *type, const void *value, char *out,
              size_t room)
{
    (void)type;
    snprintf(out, room, "%s", ((const hearthi_type_network *)value)->list);
}

static bool
text_parse(const struct hearthi_type *type, const char *text, void *out)
{
    hearthi_type_text *t = out;

    (void)type;
    if (strlen(text) >= sizeof t->text)
        return false;
    strcpy(t->text, text);
    return true;
}

static void
text_print(const struct hearthi_type *type, const void *value, char *out,
           size_t room)
{
    (void)type;
    snprintf(out, room, "%s", ((const hearthi_type_text *)value)->text);
}

static bool
word_parse(const struct hearthi_type *type, const char *text, void *out)
{
    for (int i = 0; type->words[i] != NULL; i++) {
        if (strcasecmp(text, type->words[i]) == 0) {
            *(int *)out = i;
            return true;
        }
    }
    return false;
}

static void
word_print(const struct hearthi_type *type, const void *value, char *out,
           size_t room)
{
    snprintf(out, room, "%s", type->words[*(const int *)value]);
}

#define WORDS(...)        \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

const struct hearthi_type hearthi_type_of_bool = {
    .accepts = "yes or no (1 or 0, on or off)",
    .parse = bool_parse,
    .print = bool_print,
    .words = WORDS("no", "yes", "0", "1", "off", "on"),
};
const struct hearthi_type hearthi_type_of_count = {
    .accepts = "a number such as 4",
    .parse = count_parse,
    .print = count_print,
};
const struct hearthi_type hearthi_type_of_count_auto = {
    .accepts = "auto or a number such as 4",
    .parse = auto_parse,
    .print = auto_print,
    .inner = &hearthi_type_of_count,
};
const struct hearthi_type hearthi_type_of_size = {
    .accepts = "a number of bytes such as 4096, 64k, 2m, 1g or 1t",
    .parse = size_parse,
    .print = size_print,
};
const struct hearthi_type hearthi_type_of_size_auto = {
    .accepts = "auto or a number of bytes such as 64k, 2m, 1g or 1t",
    .parse = auto_parse,
    .print = auto_print,
    .inner = &hearthi_type_of_size,
};
const struct hearthi_type hearthi_type_of_time = {
    .accepts = "a time such as 500us, 40ms or 30s",
    .parse = time_parse,
    .print = time_print,
};
const struct hearthi_type hearthi_type_of_time_auto = {
    .accepts = "auto or a time such as 500us, 40ms or 1s",
    .parse = auto_parse,
    .print = auto_print,
    .inner = &hearthi_type_of_time,
};
const struct hearthi_type hearthi_type_of_report = {
    .accepts = "no, yes or json:FILE",
    .parse = report_parse,
    .print = report_print,
    .inner = &hearthi_type_of_bool,
};
const struct hearthi_type hearthi_type_of_network = {
    .accepts = "all, or interfaces and networks such as eth0,10.1.0.0/16",
    .parse = network_parse,
    .print = network_print,
};
const struct hearthi_type hearthi_type_of_text = {
    .accepts = "a name, or nothing",
    .parse = text_parse,
    .print = text_print,
};
const struct hearthi_type hearthi_type_of_udp_ack = {
    .accepts = "all, page or none",
    .parse = word_parse,
    .print = word_print,
    .words = WORDS("all", "page", "none"),
};
const struct hearthi_type hearthi_type_of_when = {
    .accepts = "auto, on or off",
    .parse = word_parse,
    .print = word_print,
    .words = WORDS("auto", "on", "off"),
};
const struct hearthi_type hearthi_type_of_udp_local = {
    .accepts = "shm or udp",
    .parse = word_parse,
    .print = word_print,
    .words = WORDS("shm", "udp"),
};
const struct hearthi_type hearthi_type_of_gateway = {
    .accepts = "thread or rank",
    .parse = word_parse,
    .print = word_print,
    .words = WORDS("thread", "rank"),
};
const struct hearthi_type hearthi_type_of_consistency = {
    .accepts = "release or scope",
    .parse = word_parse,
    .print = word_print,
    .words = WORDS("release", "scope"),
};
const struct hearthi_type hearthi_type_of_transport = {
    .accepts = "mpi or udp",
    .parse = word_parse,
    .print = word_print,
    .words = WORDS("mpi", "udp"),
};
const struct hearthi_type hearthi_type_of_protect = {
    .accepts = "auto, mprotect or userfaultfd",
    .parse = word_parse,
    .print = word_print,
    .words = WORDS("auto", "mprotect", "userfaultfd"),
};
const struct hearthi_type hearthi_type_of_progress = {
    .accepts = "auto, thread or none",
    .parse = word_parse,
    .print = word_print,
    .words = WORDS("auto", "thread", "none"),
};
