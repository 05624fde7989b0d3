/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The file of HEARTH_REPORT: one page that loads nothing, with the same
 * numbers as JSON in it.  It can be read without scripts; these sort and
 * search.
 */
#ifndef HEARTHI_HTML_H
#define HEARTHI_HTML_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "advice.h"
#include "merged.h"

/* What is told of a run. */
struct hearthi_html {
    const struct hearthi_merged *m;
    const struct hearthi_advice *advice;
    size_t                       advices;
    const char                  *transport;
    uint64_t                     begun; /* when the report was begun:
                                           hearthi_now() */
};

/* False: the stream has an error. */
bool hearthi_html_write(FILE *out, const struct hearthi_html *h);

/* ---- its parts ---- */

/* Text as HTML has it, and as a string of JSON within a script. */
void hearthi_html_text(FILE *out, const char *text);
void hearthi_html_string(FILE *out, const char *text);

/* The command of this process, as far as there is room. */
enum { HEARTHI_HTML_COMMAND = 2048 };
void hearthi_html_command(char text[HEARTHI_HTML_COMMAND]);

/* A number of nanoseconds in seconds. */
void hearthi_html_seconds(FILE *out, uint64_t ns);

/* The style and the scripts (html_style.c). */
extern const char hearthi_html_style[], hearthi_html_script[];

/* What each line, piece of memory, lock and barrier cost (html_table.c), and
 * the map of pages (html_map.c). */
void hearthi_html_tables(FILE *out, const struct hearthi_merged *m);
void hearthi_html_maps(FILE *out, const struct hearthi_merged *m);

/* What memory each rank took (html_memory.c). */
void hearthi_html_memory(FILE *out, const struct hearthi_merged *m);

/* All of it as JSON (html_json.c). */
void hearthi_html_json(FILE *out, const struct hearthi_html *h);

#endif
