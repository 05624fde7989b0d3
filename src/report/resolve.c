/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Files, lines and functions of addresses, by libdw of elfutils, from the
 * files as they are on rank 0's machine.  libdw is loaded when a report wants
 * it: so no program depends on it, and what it costs is spent after the run.
 * A file without debug information gives functions alone, or nothing.
 */
#include "config.h"

#include "merged.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBDW
#include <dlfcn.h>
#include <elfutils/libdwfl.h>

static struct {
    void                                     *library;
    __typeof__(dwfl_begin)                   *begin;
    __typeof__(dwfl_end)                     *end;
    __typeof__(dwfl_report_offline)          *report_offline;
    __typeof__(dwfl_report_end)              *report_end;
    __typeof__(dwfl_module_getelf)           *getelf;
    __typeof__(dwfl_module_getsrc)           *getsrc;
    __typeof__(dwfl_module_addrname)         *addrname;
    __typeof__(dwfl_lineinfo)                *lineinfo;
    __typeof__(dwfl_build_id_find_elf)       *find_elf;
    __typeof__(dwfl_standard_find_debuginfo) *find_debuginfo;
    __typeof__(dwfl_offline_section_address) *section_address;
} dw;

static bool
dw_load(void)
{
    static const struct {
        void       *to;
        const char *name;
    } symbol[] = {
        { &dw.begin, "dwfl_begin" },
        { &dw.end, "dwfl_end" },
        { &dw.report_offline, "dwfl_report_offline" },
        { &dw.report_end, "dwfl_report_end" },
        { &dw.getelf, "dwfl_module_getelf" },
        { &dw.getsrc, "dwfl_module_getsrc" },
        { &dw.addrname, "dwfl_module_addrname" },
        { &dw.lineinfo, "dwfl_lineinfo" },
        { &dw.find_elf, "dwfl_build_id_find_elf" },
        { &dw.find_debuginfo, "dwfl_standard_find_debuginfo" },
        { &dw.section_address, "dwfl_offline_section_address" },
    };

    if (dw.library == NULL)
        dw.library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof symbol / sizeof *symbol; i++) {
        void *found =
            dw.library == NULL ? NULL : dlsym(dw.library, symbol[i].name);

        if (found == NULL)
            return false;
        memcpy(symbol[i].to, &found, sizeof found);
    }
    return true;
}

/* In a file of its own beside the program, or from a server that the user has
 * named: that would keep the job waiting, so it is not asked. */
static int
debuginfo_find(Dwfl_Module *mod, void **user, const char *name,
               Dwarf_Addr base, const char *file, const char *link,
               GElf_Word crc, char **path)
{
    const char *servers = getenv("DEBUGINFOD_URLS");

    if (servers != NULL && servers[0] != '\0')
        return -1;
    return dw.find_debuginfo(mod, user, name, base, file, link, crc, path);
}

static void
site_resolve(Dwfl_Module *mod, GElf_Addr bias, struct hearthi_site *s)
{
    GElf_Addr   at = s->offset + bias;
    Dwfl_Line  *line = dw.getsrc(mod, at);
    const char *function = dw.addrname(mod, at), *file = NULL;

    if (line != NULL)
        file = dw.lineinfo(line, NULL, &s->line, NULL, NULL, NULL);
    if (file != NULL)
        s->file = strdup(file);
    if (function != NULL)
        s->function = strdup(function);
}

/* All sites of one file. */
static void
module_resolve(struct hearthi_merged *m, const char *path, Dwfl_Module *mod)
{
    GElf_Addr bias = 0;

    if (mod == NULL || dw.getelf(mod, &bias) == NULL)
        return;
    for (size_t i = 0; i < m->sites; i++)
        if (m->site[i].module == path)
            site_resolve(mod, bias, &m->site[i]);
}

/* All files are told of before any is asked about. */
static void
modules_resolve(struct hearthi_merged *m, Dwfl *dwfl)
{
    Dwfl_Module *mod[HEARTHI_MERGED_PATHS];

    for (size_t i = 0; i < m->paths; i++)
        mod[i] = dw.report_offline(dwfl, m->path[i], m->path[i], -1);
    dw.report_end(dwfl, NULL, NULL);
    for (size_t i = 0; i < m->paths; i++)
        module_resolve(m, m->path[i], mod[i]);
}

void
hearthi_sites_resolve(struct hearthi_merged *m)
{
    Dwfl_Callbacks calls = { .find_debuginfo = debuginfo_find };
    Dwfl          *dwfl;

    m->no_lines = "libdw.so.1 is not here: install libdw1 (elfutils-libs)";
    if (!dw_load())
        return;
    calls.find_elf = dw.find_elf;
    calls.section_address = dw.section_address;
    dwfl = dw.begin(&calls);
    if (dwfl == NULL)
        return;
    m->no_lines = NULL;
    modules_resolve(m, dwfl);
    dw.end(dwfl);
}

#else

void
hearthi_sites_resolve(struct hearthi_merged *m)
{
    m->no_lines = "the library was built without libdw: install libdw-dev "
                  "(elfutils-devel) and configure again";
}

#endif
