/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "option.h"

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format.h"
#include "option_type.h"
#include "report.h"

#define PREFIX "HEARTH_"

enum { SHOWN = 64, LONGEST_NAME = 64 };
enum { CACHE_MIN_PAGES = 16 };

extern char **environ;

struct hearthi_options hearthi_opt;

static const struct option {
    const char                *field, *env, *def, *help;
    size_t                     offset;
    const struct hearthi_type *type;
} table[] = {
#define OPTION(type, field, env, def, help)    \
    { #field,                                  \
      PREFIX env,                              \
      def,                                     \
      help,                                    \
      offsetof(struct hearthi_options, field), \
      &hearthi_type_of_##type },
#include "option.def"
#undef OPTION
};

#define N_OPTIONS (sizeof table / sizeof *table)

/* Headings, each before the option at that offset. */
static const struct group {
    const char *title, *text;
    size_t      offset;
} groups[] = {
#define OPTION(type, field, env, def, help)
#define OPTION_GROUP(field, title, text) \
    { title, text, offsetof(struct hearthi_options, field) },
#include "option.def"
#undef OPTION
};

#define N_GROUPS (sizeof groups / sizeof *groups)

/* A rule that involves more than one option; says why not and returns
 * false. */
struct verdict {
    char  *why;
    size_t room;
};

__attribute__((format(printf, 2, 3))) static bool
refuse(const struct verdict *v, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    hearthi_format(v->why, v->room, fmt, ap);
    va_end(ap);
    return false;
}

/* A piece of a page goes to MPI in one call, whose counts are ints. */
static bool
page_size_check(size_t page, size_t system_page, const struct verdict *v)
{
    if (page < system_page || (page & (page - 1)))
        return refuse(v,
                      PREFIX "PAGE_SIZE=%zu is not a power of two of at "
                             "least %zu, the system page",
                      page, system_page);
    if (page > HEARTHI_PAGE_MAX)
        return refuse(v, PREFIX "PAGE_SIZE=%zu is more than %d (1g)", page,
                      HEARTHI_PAGE_MAX);
    return true;
}

/* Pages are numbered with 32 bits, the last number of which is none. */
static bool
pages_check(const struct hearthi_options *o, size_t system_page,
            const struct verdict *v)
{
    const size_t most = UINT32_MAX - 1;
    const size_t page = o->page_size != 0 ? o->page_size : system_page;

    if (!page_size_check(page, system_page, v))
        return false;
    if (o->heap != 0 && o->heap < page)
        return refuse(v, PREFIX "HEAP=%zu is less than a page (%zu bytes)",
                      o->heap, page);
    if (o->heap != 0 && (o->heap - 1) / page >= most)
        return refuse(v,
                      PREFIX "HEAP=%zu is more than %zu pages of %zu bytes: "
                             "raise " PREFIX "PAGE_SIZE",
                      o->heap, most, page);
    if (o->home != 0 && o->home < page)
        return refuse(v, PREFIX "HOME=%zu is less than a page (%zu bytes)",
                      o->home, page);
    if (o->cache != 0 && o->cache / CACHE_MIN_PAGES < page)
        return refuse(v,
                      PREFIX "CACHE=%zu is less than %d pages (%zu bytes "
                             "each)",
                      o->cache, CACHE_MIN_PAGES, page);
    return true;
}

static bool
counts_check(const struct hearthi_options *o, const struct verdict *v)
{
    if (o->node_size > INT_MAX)
        return refuse(v, PREFIX "NODE_SIZE=%zu is more than %d", o->node_size,
                      INT_MAX);
    if (o->locks < 1 || o->locks > HEARTHI_LOCKS_MAX)
        return refuse(v, PREFIX "LOCKS=%zu is not within 1 and %d", o->locks,
                      HEARTHI_LOCKS_MAX);
    if (o->fetch_ahead != HEARTHI_AUTO_MOST &&
        o->fetch_ahead > HEARTHI_FETCH_MAX)
        return refuse(v, PREFIX "FETCH_AHEAD=%zu is more than %d",
                      o->fetch_ahead, HEARTHI_FETCH_MAX);
    if (o->fetch_ahead < 2 && o->predict == HEARTHI_WHEN_ON)
        return refuse(v,
                      PREFIX "PREDICT=on does not go with " PREFIX
                             "FETCH_AHEAD=%zu, which fetches no page that "
                             "was not touched: give one of the two",
                      o->fetch_ahead);
    return true;
}

/* A message that is acknowledged is waited for, so that no other is on its way
 * beside it. */
static bool
diffs_check(const struct hearthi_options *o, const struct verdict *v)
{
    if (o->diff_depth > HEARTHI_DIFF_DEPTH_MAX)
        return refuse(v, PREFIX "DIFF_DEPTH=%zu is not within 1 and %d",
                      o->diff_depth, HEARTHI_DIFF_DEPTH_MAX);
    if (o->diff_pack != 0 && o->diff_pack < HEARTHI_DIFF_PACK_MIN)
        return refuse(v, PREFIX "DIFF_PACK=%zu is less than %d", o->diff_pack,
                      HEARTHI_DIFF_PACK_MIN);
    if (o->diff_depth > 1 && o->transport == HEARTHI_TRANSPORT_UDP &&
        o->udp_ack != HEARTHI_ACK_NONE)
        return refuse(v,
                      PREFIX "DIFF_DEPTH=%zu does not go with " PREFIX
                             "UDP_ACK=%s, which waits for each message: "
                             "give one of the two",
                      o->diff_depth,
                      o->udp_ack == HEARTHI_ACK_ALL ? "all" : "page");
    return true;
}

static bool
udp_faults_check(const struct hearthi_options *o, const struct verdict *v)
{
    enum { LOSS = 90 };

    if (o->udp_drop > LOSS || o->udp_dup > LOSS || o->udp_reorder > LOSS ||
        o->udp_tear > LOSS)
        return refuse(v,
                      PREFIX "UDP_DROP=%zu, _DUP=%zu, _REORDER=%zu or "
                             "_TEAR=%zu is more than %d percent",
                      o->udp_drop, o->udp_dup, o->udp_reorder, o->udp_tear,
                      LOSS);
    return true;
}

static bool
udp_check(const struct hearthi_options *o, const struct verdict *v)
{
    enum { PORTS = 65535, LEAST = 552, MOST = HEARTHI_DATAGRAM_MAX };
    enum { UDP_BUFFER_MIN = 16384 };

    if (o->udp_port > PORTS)
        return refuse(v, PREFIX "UDP_PORT=%zu is more than %d", o->udp_port,
                      PORTS);
    if (o->udp_buffer < UDP_BUFFER_MIN || o->udp_buffer > INT_MAX / 2)
        return refuse(v, PREFIX "UDP_BUFFER=%zu is not within %d and %d",
                      o->udp_buffer, UDP_BUFFER_MIN, INT_MAX / 2);
    if (o->udp_datagram != 0 &&
        (o->udp_datagram < LEAST || o->udp_datagram > MOST))
        return refuse(v, PREFIX "UDP_DATAGRAM=%zu is not 0 or from %d to %d",
                      o->udp_datagram, LEAST, MOST);
    if (!udp_faults_check(o, v))
        return false;
    if (o->udp_giveup == 0)
        return refuse(v, PREFIX "UDP_GIVEUP=0s gives up at once");
    return true;
}

static bool
clusters_check(const struct hearthi_options *o, const struct verdict *v)
{
    enum { LANES = 8 };

    if (o->gateway_giveup == 0)
        return refuse(v, PREFIX "GATEWAY_GIVEUP=0s gives up at once");
    if (o->gateway_lanes < 1 || o->gateway_lanes > LANES)
        return refuse(v, PREFIX "GATEWAY_LANES=%zu is not within 1 and %d",
                      o->gateway_lanes, LANES);
    return true;
}

bool
hearthi_options_load(struct hearthi_options *opt, hearthi_getter *get,
                     char *why, size_t room)
{
    struct verdict v = { why, room };

    memset(opt, 0, sizeof *opt); /* its bytes are broadcast, padding too */
    for (const struct option *o = table; o < table + N_OPTIONS; o++) {
        const char *text = get(o->env);

        if (text == NULL)
            text = o->def;
        if (!o->type->parse(o->type, text, (char *)opt + o->offset))
            return refuse(&v, "%s=%.*s is not accepted; give %s", o->env,
                          SHOWN, text, o->type->accepts);
    }
    return pages_check(opt, (size_t)sysconf(_SC_PAGESIZE), &v) &&
           counts_check(opt, &v) && diffs_check(opt, &v) &&
           udp_check(opt, &v) && clusters_check(opt, &v);
}

bool
hearthi_options_page(struct hearthi_options *opt, size_t least, char *why,
                     size_t room)
{
    struct verdict v = { why, room };

    if (opt->page_size == 0)
        opt->page_size = least;
    return pages_check(opt, least, &v);
}

void
hearthi_options_from_env(void)
{
    char why[256];

    hearthi_options_unknown(environ);
    if (!hearthi_options_load(&hearthi_opt, getenv, why, sizeof why))
        hearthi_fatal("hearth_init", "%s", why);
}

/* Levenshtein's distance of a name of len characters to a whole string. */
static unsigned
name_distance(const char *name, size_t len, const char *to)
{
    unsigned row[LONGEST_NAME + 1], width = (unsigned)strlen(to);

    if (width > LONGEST_NAME)
        return UINT_MAX;
    for (unsigned j = 0; j <= width; j++)
        row[j] = j;
    for (unsigned i = 1; i <= len; i++) {
        unsigned corner = row[0]; /* the row above, one to the left */

        row[0] = i;
        for (unsigned j = 1; j <= width; j++) {
            unsigned best = corner + (name[i - 1] != to[j - 1]);

            corner = row[j];
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (row[j] + 1 < best)
                best = row[j] + 1;
            row[j] = best;
        }
    }
    return row[width];
}

const char *
hearthi_option_nearest(const char *name, size_t len)
{
    const char *nearest = table[0].env;
    unsigned    least = UINT_MAX;

    for (const struct option *o = table; o < table + N_OPTIONS; o++) {
        unsigned d = name_distance(name, len, o->env);

        if (d < least) {
            least = d;
            nearest = o->env;
        }
    }
    return nearest;
}

int
hearthi_options_unknown(char *const *envp)
{
    int unknown = 0;

    for (; *envp != NULL; envp++) {
        size_t      len = strcspn(*envp, "=");
        const char *nearest;

        if (strncmp(*envp, PREFIX, strlen(PREFIX)) != 0)
            continue;
        nearest = hearthi_option_nearest(*envp, len);
        if (strlen(nearest) == len && strncmp(*envp, nearest, len) == 0)
            continue;
        hearthi_warn("hearth_init",
                     "unknown variable %.*s is ignored; the nearest is %s",
                     (int)len, *envp, nearest);
        unknown++;
    }
    return unknown;
}

static void
value_print(const struct option *o, char *out, size_t room)
{
    o->type->print(o->type, (const char *)&hearthi_opt + o->offset, out, room);
}

const char *
hearthi_option_text(const char *field)
{
    static _Thread_local char text[HEARTHI_VALUE_MAX];

    for (const struct option *o = table; o < table + N_OPTIONS; o++) {
        if (strcmp(field, o->field) == 0) {
            value_print(o, text, sizeof text);
            return text;
        }
    }
    return NULL;
}

const char *
hearthi_option_at(size_t i, char *value, size_t room)
{
    if (i >= N_OPTIONS)
        return NULL;
    value_print(&table[i], value, room);
    return table[i].env;
}

void
hearthi_roff_text(FILE *out, const char *text)
{
    for (const char *s = text; *s != '\0'; s++) {
        if (*s == '-' || *s == '\\')
            fputs(*s == '-' ? "\\-" : "\\e", out);
        else if (*s == '\'')
            fputs("\\(aq", out);
        else
            fputc(*s, out);
    }
    fputc('\n', out);
}

/* The heading before this option, if there is one. */
static void
group_describe(FILE *out, enum hearthi_format format, const struct option *o)
{
    for (const struct group *g = groups; g < groups + N_GROUPS; g++) {
        if (g->offset != o->offset)
            continue;
        if (format == HEARTHI_ROFF) {
            fprintf(out, ".SS %s\n", g->title);
            hearthi_roff_text(out, g->text);
        } else {
            fprintf(out, "\n%s\n  %s\n", g->title, g->text);
        }
    }
}

void
hearthi_options_describe(FILE *out, enum hearthi_format format)
{
    for (const struct option *o = table; o < table + N_OPTIONS; o++) {
        char now[HEARTHI_VALUE_MAX];

        group_describe(out, format, o);
        if (format == HEARTHI_ROFF) {
            fprintf(out, ".TP\n.BR %s \" (default \" %s )\n", o->env, o->def);
            hearthi_roff_text(out, o->help);
            continue;
        }
        value_print(o, now, sizeof now);
        fprintf(out, "  %-19s %-8s (default %s)\n      %s\n", o->env, now,
                o->def, o->help);
    }
}
