/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "format.h"
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

/* A decimal number with an optional binary suffix: 512, 4k, 2M, 1.5g. */
static bool
size_parse(const struct hearthi_type *type, const char *text, void *out)
{
    struct hearthi_decimal d;
    unsigned               shift = 0;
    const char            *s, *end = hearthi_decimal_parse(text, &d);

    (void)type;
    if (end == NULL)
        return false;
    if (*end != '\0') {
        s = strchr(suffixes, tolower((unsigned char)*end));
        if (s == NULL || end[1] != '\0')
            return false;
        shift = 10 * (unsigned)(s - suffixes + 1);
    }
    return hearthi_decimal_scale(&d, (size_t)1 << shift, out);
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
} units[] = { { "s", 1000000000 },
              { "ms", 1000000 },
              { "us", 1000 },
              { "min", 60000000000 } };

/* Minutes are read, and printed as seconds. */
enum { UNITS = sizeof units / sizeof *units, PRINTED = UNITS - 1 };

static bool
time_parse(const struct hearthi_type *type, const char *text, void *out)
{
    struct hearthi_decimal d;
    const char            *end = hearthi_decimal_parse(text, &d);

    (void)type;
    for (int i = 0; end != NULL && i < UNITS; i++)
        if (strcasecmp(end, units[i].name) == 0)
            return hearthi_decimal_scale(&d, units[i].ns, out);
    return false;
}

static void
time_print(const struct hearthi_type *type, const void *value, char *out,
           size_t room)
{
    size_t n = *(const size_t *)value;
    int    i = 0;

    (void)type;
    while (i < PRINTED - 1 && n % units[i].ns != 0)
        i++;
    snprintf(out, room, "%zu%s", n / units[i].ns, units[i].name);
}

/* What stands for no number: "auto", unless the type has another word. */
static const char *
word_of(const struct hearthi_type *type)
{
    return type->words != NULL ? type->words[0] : "auto";
}

/* The number that "auto" is kept as would be taken for it: refused. */
static bool
auto_parse(const struct hearthi_type *type, const char *text, void *out)
{
    size_t n = type->kept;

    if (strcasecmp(text, word_of(type)) != 0 &&
        (!type->inner->parse(type->inner, text, &n) || n == type->kept))
        return false;
    *(size_t *)out = n;
    return true;
}

static void
auto_print(const struct hearthi_type *type, const void *value, char *out,
           size_t room)
{
    if (*(const size_t *)value == type->kept)
        snprintf(out, room, "%s", word_of(type));
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
const struct hearthi_type hearthi_type_of_most_auto = {
    .accepts = "auto or a number such as 4, or 0",
    .parse = auto_parse,
    .print = auto_print,
    .inner = &hearthi_type_of_count,
    .kept = HEARTHI_AUTO_MOST,
};
const struct hearthi_type hearthi_type_of_size = {
    .accepts = "a number of bytes such as 4096, 64k, 2m, 1.5g or 1t",
    .parse = size_parse,
    .print = size_print,
};
const struct hearthi_type hearthi_type_of_size_auto = {
    .accepts = "auto or a number of bytes such as 64k, 2m, 1.5g or 1t",
    .parse = auto_parse,
    .print = auto_print,
    .inner = &hearthi_type_of_size,
};
const struct hearthi_type hearthi_type_of_time = {
    .accepts = "a time such as 500us, 40ms or 1.5s",
    .parse = time_parse,
    .print = time_print,
};
const struct hearthi_type hearthi_type_of_time_auto = {
    .accepts = "auto or a time such as 500us, 40ms or 1.5s",
    .parse = auto_parse,
    .print = auto_print,
    .inner = &hearthi_type_of_time,
};
const struct hearthi_type hearthi_type_of_time_off = {
    .accepts = "off or a time such as 30min, 10s or 500ms",
    .parse = auto_parse,
    .print = auto_print,
    .words = WORDS("off"),
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
/* Words out of a list. */
#define WORD_TYPE(name, text, ...)                       \
    const struct hearthi_type hearthi_type_of_##name = { \
        .accepts = text,                                 \
        .parse = word_parse,                             \
        .print = word_print,                             \
        .words = WORDS(__VA_ARGS__),                     \
    }

WORD_TYPE(udp_ack, "all, page or none", "all", "page", "none");
WORD_TYPE(when, "auto, on or off", "auto", "on", "off");
WORD_TYPE(udp_local, "shm or udp", "shm", "udp");
WORD_TYPE(gateway, "thread or rank", "thread", "rank");
WORD_TYPE(checkpoint_at, "call or barrier", "call", "barrier");
WORD_TYPE(on_failure, "end or restart", "end", "restart");
WORD_TYPE(consistency, "release or scope", "release", "scope");
WORD_TYPE(transport, "mpi or udp", "mpi", "udp");
WORD_TYPE(fabric, "mpi or shm", "mpi", "shm");
WORD_TYPE(races, "off or writes", "off", "writes");
WORD_TYPE(protect, "auto, mprotect or userfaultfd", "auto", "mprotect",
          "userfaultfd");
WORD_TYPE(progress, "auto, thread or none", "auto", "thread", "none");
