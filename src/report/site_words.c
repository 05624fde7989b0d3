/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "advice.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/format.h"

struct hearthi_site_text
hearthi_site_words(const struct hearthi_merged *m, size_t site)
{
    const struct hearthi_site *s = &m->site[site];
    struct hearthi_site_text   w;

    if (s->file != NULL && s->function != NULL)
        snprintf(w.text, sizeof w.text, "%.60s:%d, %.60s",
                 hearthi_base_name(s->file), s->line, s->function);
    else if (s->file != NULL)
        snprintf(w.text, sizeof w.text, "%.60s:%d", hearthi_base_name(s->file),
                 s->line);
    else if (s->module != NULL)
        snprintf(w.text, sizeof w.text, "%.60s+0x%" PRIx64 "%s%.60s",
                 hearthi_base_name(s->module), s->offset,
                 s->function == NULL ? "" : ", ",
                 s->function == NULL ? "" : s->function);
    else
        snprintf(w.text, sizeof w.text, "an unknown place");
    return w;
}

struct hearthi_site_text
hearthi_memory_words(const struct hearthi_merged *m, size_t memory)
{
    const struct hearthi_seen_memory *s = &m->memory[memory];
    struct hearthi_site_text          at = hearthi_site_words(m, s->site), w;

    if (s->name[0] != '\0')
        snprintf(w.text, sizeof w.text, "`%s` (%.90s)", s->name, at.text);
    else
        snprintf(w.text, sizeof w.text, "the %" PRIu64 " bytes from %.100s",
                 s->bytes, at.text);
    return w;
}
