/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The statistics as JSON, by libjansson.  A NULL from it, for want of memory,
 * goes through all that takes it, to be seen at the end.
 */
#include "config.h"

#include "stats.h"

#ifdef HAVE_JANSSON
#include <jansson.h>
#include <string.h>

#include "base/option.h"
#include "front/session.h"
#include "hearth/hearth.h"
#include "transport/transport.h"
#include "world.h"

bool
hearthi_stats_can_write(void)
{
    return true;
}

/* Give an object a member, or forget the object. */
static json_t *
with(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *
number(uint64_t n)
{
    return json_integer((json_int_t)n);
}

/* Of a name in no known encoding: what is not ASCII becomes '?'. */
static json_t *
text(const char *s)
{
    char    plain[HEARTHI_VALUE_MAX];
    json_t *t = json_string(s);
    size_t  n = 0;

    if (t != NULL)
        return t;
    for (; s[n] != '\0' && n + 1 < sizeof plain; n++)
        plain[n] = (unsigned char)s[n] < 128 ? s[n] : '?';
    plain[n] = '\0';
    return json_string(plain);
}

static json_t *
counters_of(const hearth_stats *s)
{
    json_t *o = json_object();

    for (int i = 0; i < HEARTHI_STAT_COUNT; i++) {
        enum hearthi_stat which = (enum hearthi_stat)i;

        o = with(o, hearthi_stat_name(which),
                 number(hearthi_stat_value(s, which)));
    }
    return o;
}

static json_t *
kind_of(const struct hearthi_tally *t, unsigned i)
{
    json_t *o = json_object();

    o = with(o, "sent", number(t->sent[i]));
    o = with(o, "bytes", number(t->sent_bytes[i]));
    return with(o, "resent", number(t->resent[i]));
}

static json_t *
messages_of(const struct hearthi_tally *t)
{
    json_t     *o = json_object();
    const char *name;

    for (unsigned i = 0; (name = hearthi_transport->kind_name(i)) != NULL; i++)
        if (t->sent[i] > 0)
            o = with(o, name, kind_of(t, i));
    return o;
}

static json_t *
refused_of(const struct hearthi_tally *t)
{
    json_t     *o = json_object();
    const char *name;

    for (unsigned i = 0; (name = hearthi_transport->reason_name(i)) != NULL;
         i++)
        if (t->refused[i] > 0)
            o = with(o, name, number(t->refused[i]));
    return o;
}

/* [[lower bound, count], ...] */
static json_t *
buckets_of(const uint64_t *bucket)
{
    json_t *a = json_array();

    for (unsigned i = 0; i < HEARTHI_BUCKETS; i++) {
        json_t *pair;

        if (bucket[i] == 0)
            continue;
        pair = json_array();
        if (json_array_append_new(pair, number(hearthi_bucket_low(i))) != 0 ||
            json_array_append_new(pair, number(bucket[i])) != 0 ||
            json_array_append(a, pair) != 0) {
            json_decref(a);
            a = NULL;
        }
        json_decref(pair);
    }
    return a;
}

static json_t *
distributions_of(const struct hearthi_tally *t)
{
    json_t *o = json_object();

    for (int i = 0; i < HEARTHI_DISTRIBUTIONS; i++)
        o = with(o, hearthi_distribution_name((enum hearthi_distribution)i),
                 buckets_of(t->bucket[i]));
    return o;
}

static json_t *
rank_of(const struct hearthi_stats_part *p, int rank)
{
    json_t *o = json_object();

    o = with(o, "rank", json_integer(rank));
    o = with(o, "node", json_integer(hearthi_world.node_of[rank]));
    o = with(o, "host", text(p->host));
    o = with(o, "seconds", json_real((double)p->ns * 1e-9));
    o = with(o, "counters", counters_of(&p->tally.counter));
    o = with(o, "messages", messages_of(&p->tally));
    o = with(o, "refused", refused_of(&p->tally));
    return with(o, "distributions", distributions_of(&p->tally));
}

static json_t *
ranks_of(const struct hearthi_stats_part *part)
{
    json_t *a = json_array();

    for (int r = 0; r < hearthi_world.size; r++) {
        if (json_array_append_new(a, rank_of(&part[r], r)) == 0)
            continue;
        json_decref(a);
        return NULL;
    }
    return a;
}

static json_t *
options_of(void)
{
    json_t     *o = json_object();
    char        value[HEARTHI_VALUE_MAX];
    const char *name;

    for (size_t i = 0;
         (name = hearthi_option_at(i, value, sizeof value)) != NULL; i++)
        o = with(o, name, text(value));
    return o;
}

static json_t *
mpi_of(void)
{
    char line[HEARTHI_MPI_TEXT];

    hearthi_mpi_library_line(line);
    return text(line);
}

static uint64_t
longest(const struct hearthi_stats_part *part)
{
    uint64_t ns = 0;

    for (int r = 0; r < hearthi_world.size; r++)
        ns = part[r].ns > ns ? part[r].ns : ns;
    return ns;
}

bool
hearthi_stats_write(FILE *out, const struct hearthi_stats_part *part,
                    const struct hearthi_tally *sum)
{
    const size_t flags =
        JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12);
    json_t *o = json_object();
    bool    good;

    o = with(o, "version", text(HEARTH_VERSION));
    o = with(o, "mpi", mpi_of());
    o = with(o, "ranks", json_integer(hearthi_world.size));
    o = with(o, "nodes", json_integer(hearthi_world.nodes));
    o = with(o, "transport", text(hearthi_transport->name));
    o = with(o, "consistency", text(hearthi_option_text("consistency")));
    o = with(o, "options", options_of());
    o = with(o, "seconds", json_real((double)longest(part) * 1e-9));
    o = with(o, "sum", counters_of(&sum->counter));
    o = with(o, "rank", ranks_of(part));
    good =
        o != NULL && json_dumpf(o, out, flags) == 0 && fputc('\n', out) != EOF;
    json_decref(o);
    return good;
}

#else

bool
hearthi_stats_can_write(void)
{
    return false;
}

bool
hearthi_stats_write(FILE *out, const struct hearthi_stats_part *part,
                    const struct hearthi_tally *sum)
{
    (void)out, (void)part, (void)sum;
    return false;
}

#endif
