/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "gateway_hello.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char start[] = "hearth-link\n", agree_mark[] = "\nagree:\n",
                  tell_mark[] = "\ntell:\n";

size_t
hearthi_gateway_hello_write(const struct hearthi_gateway_hello *h, char *out,
                            size_t room)
{
    int n = snprintf(out, room,
                     "%scluster=%d\nname=%s\njob=%016" PRIx64
                     "\nlane=%d\ngot=%" PRIu64 "%s%s%s%s",
                     start, h->cluster, h->name, h->job, h->conn, h->got,
                     agree_mark, h->agree, tell_mark, h->tell);

    return n < 0 || (size_t)n >= room ? 0 : (size_t)n;
}

/* What follows a mark, which is cut off there; NULL: no mark. */
static char *
part_cut(char *text, const char *mark)
{
    char *at = strstr(text, mark);

    if (at == NULL)
        return NULL;
    *at = '\0';
    return at + strlen(mark);
}

bool
hearthi_gateway_hello_read(struct hearthi_gateway_hello *h, char *text,
                           size_t len)
{
    char *agree, *tell;

    text[len] = '\0';
    if (strlen(text) != len || strncmp(text, start, sizeof start - 1) != 0)
        return false;
    agree = part_cut(text, agree_mark);
    tell = agree != NULL ? part_cut(agree, tell_mark) : NULL;
    if (tell == NULL)
        return false;
    h->agree = agree;
    h->tell = tell;
    return sscanf(text + sizeof start - 1,
                  "cluster=%d name=%48s job=%" SCNx64 " lane=%d got=%" SCNu64,
                  &h->cluster, h->name, &h->job, &h->conn, &h->got) == 5;
}

/* ---- what must be the same ---- */

struct line {
    const char *at;
    int         len, key; /* of the line, and of what is before = */
};

/* The next line of the text, or false. */
static bool
line_next(const char **text, struct line *l)
{
    const char *equal;

    *text += strspn(*text, "\n");
    l->at = *text;
    l->len = (int)strcspn(*text, "\n");
    *text += l->len;
    equal = memchr(l->at, '=', (size_t)l->len);
    l->key = equal != NULL ? (int)(equal - l->at) : l->len;
    return l->len > 0;
}

/* The line of the same key in another text. */
static bool
line_find(const char *text, const struct line *like, struct line *l)
{
    while (line_next(&text, l))
        if (l->key == like->key &&
            memcmp(l->at, like->at, (size_t)l->key) == 0)
            return true;
    return false;
}

/* As much as there is room for; n has all. */
struct list {
    char text[240];
    int  n;
};

/* Of a long value this much is shown, from a little before where it differs.
 */
enum { SHOWN = 72, BEFORE = 24 };

static int
same_length(const struct line *a, const struct line *b)
{
    int n = 0;

    while (n < a->len && n < b->len && a->at[n] == b->at[n])
        n++;
    return n;
}

static void
list_add(struct list *l, const struct line *one, int same, bool there)
{
    int    value = one->key + (one->key < one->len), from = value, n;
    size_t len = strlen(l->text);

    if (one->len - value > SHOWN && same - BEFORE > value)
        from = same - BEFORE;
    n = one->len - from < SHOWN ? one->len - from : SHOWN;
    snprintf(l->text + len, sizeof l->text - len, "%s%.*s%s%.*s%s",
             l->n++ > 0 ? ", " : "", there ? value : one->key, one->at,
             from > value ? "..." : "", there ? n : 0, one->at + from,
             there ? "" : " not at all");
}

/* What of a's lines b has in another way, or if missing, has not. */
static void
lists_add(const char *a, const char *b, bool missing, struct list *of_a,
          struct list *of_b)
{
    struct line x, y;

    while (line_next(&a, &x)) {
        bool there = line_find(b, &x, &y);
        int  same;

        if (missing ? there
                    : there && x.len == y.len &&
                          memcmp(x.at, y.at, (size_t)x.len) == 0)
            continue;
        same = there ? same_length(&x, &y) : 0;
        list_add(of_a, &x, same, true);
        list_add(of_b, there ? &y : &x, same, there);
    }
}

bool
hearthi_gateway_hello_agree(const struct hearthi_gateway_hello *mine,
                            const struct hearthi_gateway_hello *theirs,
                            struct hearthi_link_error          *wrong)
{
    struct list a = { .n = 0 }, b = { .n = 0 };

    lists_add(mine->agree, theirs->agree, false, &a, &b);
    lists_add(theirs->agree, mine->agree, true, &b, &a);
    if (a.n == 0 && b.n == 0)
        return true;
    return hearthi_link_error(
        wrong,
        "clusters %s and %s differ: %s has %s; %s has %s: "
        "start both with the same",
        mine->name, theirs->name, mine->name, a.text, theirs->name, b.text);
}
