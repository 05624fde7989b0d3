/* SPDX-License-Identifier: BSD-2-Clause
 *
 * inih takes a section and a setting in a line each, ignores what follows a
 * section, and says nothing of sections that are empty.  So it is given lines
 * in pieces, and the function that cuts them sees the sections.
 */
#include "config.h"

#include "conf.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"

enum { LINE = HEARTHI_CONF_LINE + 2 };

struct source {
    FILE                     *file;
    struct hearthi_conf      *conf;
    struct hearthi_conf_place at;
    char                      line[LINE];
    char                     *rest; /* of the line, or NULL */
    bool                      bad;
};

/* Without a comment and spaces around.  Only a # or ; that begins a word
 * begins a comment. */
static char *
line_strip(char *text)
{
    char *end;

    while (isspace((unsigned char)*text))
        text++;
    for (end = text; *end != '\0'; end++)
        if ((*end == '#' || *end == ';') &&
            (end == text || isspace((unsigned char)end[-1])))
            break;
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

static char *
blanks_back(const char *first, char *at)
{
    while (at > first + 1 && isspace((unsigned char)at[-1]))
        at--;
    return at;
}

/* Where the next setting begins behind the one at text, or NULL: a name in
 * front of a second =, with a value before it. */
static char *
next_setting(char *text)
{
    char *first = strchr(text, '='), *at, *word;

    if (first == NULL || (at = strchr(first + 1, '=')) == NULL)
        return NULL;
    word = blanks_back(first, at);
    while (word > first + 1 && !isspace((unsigned char)word[-1]))
        word--;
    at = blanks_back(first, word);
    return at > first + 1 && at < word ? word : NULL;
}

/* [NAME] is taken here, and its end given back. */
static char *
section_take(struct source *s, char *text)
{
    char *end = strchr(text, ']');

    if (end == NULL) {
        s->bad =
            !hearthi_link_error(s->at.wrong, "%s:%d: %s: a section is [NAME]",
                                s->at.path, s->at.line, text);
        return NULL;
    }
    *end = '\0';
    s->bad = !hearthi_conf_setting_cluster(s->conf, text + 1, &s->at);
    return end + 1;
}

/* One piece of the line into out, as fgets would. */
static char *
piece_give(struct source *s, char *out, int room)
{
    char *text = line_strip(s->rest), *next;

    if (*text == '[' && (text = section_take(s, text)) != NULL)
        text = line_strip(text);
    if (s->bad)
        return NULL;
    next = next_setting(text);
    if (snprintf(out, (size_t)room, "%.*s\n",
                 next != NULL ? (int)(next - text) : (int)strlen(text),
                 text) >= room) {
        s->bad = !hearthi_link_error(s->at.wrong,
                                     "%s:%d: a setting of more than %d bytes",
                                     s->at.path, s->at.line, room - 2);
        return NULL;
    }
    s->rest = next;
    return out;
}

static char *
piece_read(char *out, int room, void *source)
{
    struct source *s = source;

    if (s->bad)
        return NULL;
    if (s->rest == NULL) {
        if (fgets(s->line, sizeof s->line, s->file) == NULL)
            return NULL;
        s->at.line++;
        s->rest = s->line;
        if (strlen(s->line) == sizeof s->line - 1) {
            s->bad = !hearthi_link_error(
                s->at.wrong, "%s:%d: a line of more than %d bytes", s->at.path,
                s->at.line, HEARTHI_CONF_LINE);
            return NULL;
        }
    }
    return piece_give(s, out, room);
}

static int
setting_take(void *source, const char *section, const char *name,
             const char *value)
{
    struct source *s = source;

    (void)section;
    if (!s->bad)
        s->bad = !hearthi_conf_setting(s->conf, name, value, &s->at);
    return !s->bad;
}

/* inih goes on behind what is not NAME = VALUE; here it is the first thing
 * wrong only if nothing of ours was.  The pieces that it counted are no lines
 * of the file: read them again. */
static bool
piece_wrong(struct source *s, int number)
{
    char piece[LINE];

    rewind(s->file);
    s->at.line = 0;
    s->rest = NULL;
    s->conf->n = 0;
    while (number-- > 0 && piece_read(piece, sizeof piece, s) != NULL)
        ;
    piece[strcspn(piece, "\n")] = '\0';
    return hearthi_link_error(s->at.wrong,
                              "%s:%d: %s: a setting is NAME = VALUE",
                              s->at.path, s->at.line, piece);
}

static bool
file_take(struct source *s)
{
    int r = ini_parse_stream(piece_read, s, setting_take, s);

    if (s->bad)
        return false;
    if (ferror(s->file))
        return hearthi_link_error(s->at.wrong, "%s: %s", s->at.path,
                                  strerror(errno));
    if (r > 0)
        return piece_wrong(s, r);
    return hearthi_conf_settings_complete(s->conf, s->at.wrong);
}

/* What is no file would be waited for, and cannot be read again. */
static FILE *
file_open(const char *path)
{
    int fd = hearthi_descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat what;
    FILE       *f = NULL;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &what) == 0 && !S_ISREG(what.st_mode))
        errno = S_ISDIR(what.st_mode) ? EISDIR : EINVAL;
    else
        f = fdopen(fd, "r");
    if (f == NULL)
        close(fd);
    return f;
}

struct hearthi_conf *
hearthi_conf_read(const char *path, struct hearthi_link_error *wrong)
{
    struct hearthi_conf *c = calloc(1, sizeof *c);
    struct source        s = { .conf = c, .at = { path, 0, wrong } };
    bool                 good = false;

    if (c == NULL || strlen(path) >= sizeof c->path) {
        hearthi_link_error(wrong, "%s: no memory, or too long a name", path);
    } else if ((s.file = file_open(path)) == NULL) {
        hearthi_link_error(wrong,
                           "%s: %s: HEARTH_CLUSTERS is a file that names the "
                           "clusters",
                           path,
                           errno == EINVAL ? "no file" : strerror(errno));
    } else {
        strcpy(c->path, path);
        good = file_take(&s);
        fclose(s.file);
    }
    if (good)
        return c;
    free(c);
    return NULL;
}

int
hearthi_conf_find(const struct hearthi_conf *conf, const char *name,
                  struct hearthi_link_error *wrong)
{
    char   all[400] = "";
    size_t at = 0;

    for (int i = 0; i < conf->n; i++) {
        if (strcmp(conf->cluster[i].name, name) == 0)
            return i;
        if (at < sizeof all)
            at += (size_t)snprintf(all + at, sizeof all - at, "%s%s",
                                   i > 0 ? ", " : "", conf->cluster[i].name);
    }
    hearthi_link_error(wrong, "no cluster %s in %s: there are %s", name,
                       conf->path, all);
    return -1;
}

const char *
hearthi_conf_gateway(const struct hearthi_member *c,
                     char out[static HEARTHI_GATEWAY_NAME])
{
    bool v6 = strchr(c->host, ':') != NULL;

    snprintf(out, HEARTHI_GATEWAY_NAME, "%s%s%s:%s", v6 ? "[" : "", c->host,
             v6 ? "]" : "", c->port);
    return out;
}

void
hearthi_conf_text(const struct hearthi_conf *conf, char *out, size_t room)
{
    size_t at = 0;

    *out = '\0';
    for (int i = 0; i < conf->n && at < room; i++)
        at +=
            (size_t)snprintf(out + at, room - at, "%s%s:%d", i > 0 ? "," : "",
                             conf->cluster[i].name, conf->cluster[i].ranks);
}
