/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Numbers are printed in whole parts: a decimal point of printf(3) is a comma
 * in some locales.  Counters that are 0 are left out, and where there would be
 * too many lines, those of the last turn.
 */
#include "config.h"

#include "terminal.h"

#include <inttypes.h>
#include <string.h>

#include "shares.h"

enum { FIRST, OTHERS, TIMES, TURNS }; /* of counters */

enum { WIDTH = 78, ADVICES = 3, NS_OF_TENTH = 100000000 };

/* ---- lines, counted ---- */

struct page {
    FILE *out;
    int   lines, left; /* left: those that there was no room for */
};

/* The last line is for how many are left. */
static bool
line_begin(struct page *p)
{
    if (p->lines >= HEARTHI_TERMINAL_LINES - 1) {
        p->left++;
        return false;
    }
    p->lines++;
    fputs("hearth: ", p->out);
    return true;
}

#define LINE(p, ...) ((void)(line_begin(p) && fprintf((p)->out, __VA_ARGS__)))

/* Text in lines of WIDTH, the first after `first`, others after as many
 * blanks. */
static void
wrapped_print(struct page *p, const char *first, const char *text)
{
    int  indent = (int)strlen(first);
    int  room = WIDTH - indent - (int)strlen("hearth: ");
    char line[WIDTH + 1];

    for (int n; *text != '\0'; text += n + (text[n] == ' ')) {
        n = (int)strlen(text);
        if (n > room) {
            n = room;
            while (n > 0 && text[n] != ' ')
                n--;
            n = n == 0 ? room : n;
        }
        memcpy(line, text, (size_t)n);
        line[n] = '\0';
        LINE(p, "%*s%s\n", indent, first, line);
        first = "";
    }
}

/* ---- parts ---- */

static void
shares_print(struct page *p, const struct hearthi_terminal *t)
{
    struct hearthi_shares s =
        hearthi_shares_of(&t->sum->counter, t->whole_ns, t->nodes);
    unsigned permille[HEARTHI_SHARES];

    hearthi_shares_permille(&s, permille);
    LINE(p, "elapsed %" PRIu64 ".%" PRIu64 " s, %d rank%s on %d node%s, %s\n",
         t->elapsed_ns / 10 / NS_OF_TENTH, t->elapsed_ns / NS_OF_TENTH % 10,
         t->ranks, t->ranks == 1 ? "" : "s", t->nodes,
         t->nodes == 1 ? "" : "s", t->transport);
    for (int i = 0; i < HEARTHI_SHARES; i++)
        if (permille[i] > 0)
            LINE(p, "%3u.%u %% %s\n", permille[i] / 10, permille[i] % 10,
                 hearthi_share_name((enum hearthi_share)i));
}

static void
advice_print(struct page *p, const struct hearthi_terminal *t, size_t i)
{
    const struct hearthi_advice *a = &t->advice[i];
    char                         number[8], text[2 * HEARTHI_ADVICE_TEXT + 80];
    double                       percent =
        t->whole_ns == 0 ? 0 : (double)a->saves_ns * 100 / (double)t->whole_ns;

    snprintf(number, sizeof number, "%zu. ", i + 1);
    snprintf(text, sizeof text, "%s: %s (up to %u %% of the time, %s)",
             a->what, a->remedy, (unsigned)(percent + 0.5),
             a->sure ? "sure" : "likely");
    wrapped_print(p, number, text);
}

static void
advices_print(struct page *p, const struct hearthi_terminal *t)
{
    if (t->advice == NULL)
        return;
    LINE(p, t->advices == 0 ? "Advice: nothing stands out\n" : "Advice\n");
    for (size_t i = 0; i < t->advices && i < ADVICES; i++)
        advice_print(p, t, i);
    if (t->advices > ADVICES) /* which the file has */
        LINE(p, "   and %zu more: HEARTH_REPORT=FILE.html\n",
             t->advices - ADVICES);
    if (t->advices > 0 && t->no_lines != NULL)
        wrapped_print(p, "   ", t->no_lines);
}

/* Kinds of messages and reasons, those that were used: all have their lines,
 * as a user who looks for them has asked for that much. */
static void
messages_print(struct page *p, const struct hearthi_terminal *t)
{
    const char *name;

    for (unsigned i = 0; (name = t->message(i)) != NULL; i++)
        if (t->sum->sent[i] > 0)
            LINE(p, "%-15s %14" PRIu64 "    messages, %" PRIu64 " bytes\n",
                 name, t->sum->sent[i], t->sum->sent_bytes[i]);
    for (unsigned i = 0; (name = t->refusal(i)) != NULL; i++)
        if (t->sum->refused[i] > 0)
            LINE(p, "%-15s %14" PRIu64 "    datagrams refused\n", name,
                 t->sum->refused[i]);
}

static int
messages_count(const struct hearthi_terminal *t)
{
    int n = 0;

    for (unsigned i = 0; t->message(i) != NULL; i++)
        n += t->sum->sent[i] > 0;
    for (unsigned i = 0; t->refusal(i) != NULL; i++)
        n += t->sum->refused[i] > 0;
    return n;
}

static bool
is_looked_for(enum hearthi_stat which)
{
    static const enum hearthi_stat first[] = {
        HEARTHI_STAT_read_faults,   HEARTHI_STAT_write_faults,
        HEARTHI_STAT_getpages,      HEARTHI_STAT_fetches,
        HEARTHI_STAT_diffs,         HEARTHI_STAT_diff_bytes,
        HEARTHI_STAT_evictions,     HEARTHI_STAT_locks,
        HEARTHI_STAT_barriers,      HEARTHI_STAT_messages,
        HEARTHI_STAT_message_bytes, HEARTHI_STAT_resends,
    };

    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (first[i] == which)
            return true;
    return false;
}

/* Those that are looked for first have room first; times come last, since the
 * parts of the time say them better. */
static int
turn_of(enum hearthi_stat which)
{
    if (hearthi_stat_is_time(which))
        return TIMES;
    return is_looked_for(which) ? FIRST : OTHERS;
}

/* As many of one turn as there is room for. */
static void
counters_print(struct page *p, const hearth_stats *s, int turn, int room)
{
    for (int i = 0; i < HEARTHI_STAT_COUNT; i++) {
        enum hearthi_stat which = (enum hearthi_stat)i;
        uint64_t          n = hearthi_stat_value(s, which);

        if (n == 0 || turn_of(which) != turn)
            continue;
        if (p->lines >= room)
            p->left++;
        else if (line_begin(p))
            hearthi_stat_print(p->out, which, n);
    }
}

void
hearthi_terminal_print(FILE *out, const struct hearthi_terminal *t)
{
    struct page p = { .out = out };
    int         room = HEARTHI_TERMINAL_LINES - 1 - messages_count(t);

    shares_print(&p, t);
    advices_print(&p, t);
    LINE(&p, "counters, summed over %d rank%s\n", t->ranks,
         t->ranks == 1 ? "" : "s");
    for (int turn = 0; turn < TURNS; turn++)
        counters_print(&p, &t->sum->counter, turn, room);
    messages_print(&p, t);
    if (p.left > 0)
        fprintf(out, "hearth: and %d more: HEARTH_STATS=json:FILE\n", p.left);
}
