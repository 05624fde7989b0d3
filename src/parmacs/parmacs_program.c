/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "parmacs_program.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/min.h"

typedef ElfW(Ehdr) header;
typedef ElfW(Phdr) segment;
typedef ElfW(Shdr) section;

/* ---- where it is ---- */

struct hearthi_program hearthi_program;

static size_t relro; /* bytes at the beginning of the first part */

static void
part_add(const segment *p)
{
    if (hearthi_program.parts < HEARTHI_PROGRAM_PARTS)
        hearthi_program.part[hearthi_program.parts++] =
            (struct hearthi_program_part){
                (char *)(hearthi_program.loaded + p->p_vaddr), p->p_memsz
            };
}

static void
segment_add(const segment *p)
{
    uintptr_t from = hearthi_program.loaded + p->p_vaddr;

    if (p->p_type == PT_GNU_RELRO)
        relro = p->p_memsz;
    if (p->p_type != PT_LOAD)
        return;
    if (hearthi_program.low == 0 || from < hearthi_program.low)
        hearthi_program.low = from;
    if (from + p->p_memsz > hearthi_program.high)
        hearthi_program.high = from + p->p_memsz;
    if ((p->p_flags & PF_W) != 0)
        part_add(p);
}

/* The first file is the program. */
static int
file_first(struct dl_phdr_info *file, size_t size, void *unused)
{
    (void)size, (void)unused;
    hearthi_program.loaded = file->dlpi_addr;
    for (int i = 0; i < file->dlpi_phnum; i++)
        segment_add(&file->dlpi_phdr[i]);
    return 1;
}

void
hearthi_program_find(void)
{
    struct hearthi_program_part *first = &hearthi_program.part[0];

    if (hearthi_program.high != 0)
        return;
    dl_iterate_phdr(file_first, NULL);
    if (hearthi_program.parts > 0 && relro < first->bytes) {
        first->at += relro;
        first->bytes -= relro;
    }
    for (int i = 0; i < hearthi_program.parts; i++)
        hearthi_program.part[i].bytes = hearthi_min(
            hearthi_program.part[i].bytes, (size_t)HEARTHI_PROGRAM_LOOKED);
}

/* ---- its symbols ---- */

static const section *
section_of(const struct hearthi_symbols *s, const header *e, size_t i)
{
    uint64_t at = e->e_shoff + i * sizeof(section);

    if (i >= e->e_shnum || e->e_shentsize != sizeof(section) ||
        at > s->bytes - sizeof(section))
        return NULL;
    return (const section *)(const void *)(s->file + at);
}

static bool
section_is_here(const struct hearthi_symbols *s, const section *h)
{
    return h != NULL && h->sh_offset < s->bytes &&
           h->sh_size <= s->bytes - h->sh_offset;
}

static void
symbols_find(struct hearthi_symbols *s)
{
    const header  *e = (const void *)s->file;
    const section *h, *names;

    for (size_t i = 0; (h = section_of(s, e, i)) != NULL; i++) {
        names = section_of(s, e, h->sh_link);
        if (h->sh_type != SHT_SYMTAB || !section_is_here(s, h) ||
            !section_is_here(s, names))
            continue;
        s->symbol = (const void *)(s->file + h->sh_offset);
        s->n = h->sh_size / sizeof *s->symbol;
        s->names = s->file + names->sh_offset;
        return;
    }
}

void
hearthi_symbols_open(struct hearthi_symbols *s)
{
    int fd = hearthi_descriptor(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    struct stat st;
    void       *at;

    *s = (struct hearthi_symbols){ 0 };
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && (size_t)st.st_size > sizeof(header)) {
        at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED) {
            s->file = at;
            s->bytes = (size_t)st.st_size;
            symbols_find(s);
        }
    }
    close(fd);
}

void
hearthi_symbols_close(struct hearthi_symbols *s)
{
    if (s->file != NULL)
        munmap((void *)(uintptr_t)s->file, s->bytes);
}

const hearthi_symbol *
hearthi_symbol_around(const struct hearthi_symbols *s, uint64_t at)
{
    for (size_t i = 0; i < s->n; i++) {
        const hearthi_symbol *y = &s->symbol[i];
        int                   type = ELF64_ST_TYPE(y->st_info);

        if ((type == STT_OBJECT || type == STT_FUNC) && at >= y->st_value &&
            at - y->st_value < y->st_size)
            return y;
    }
    return NULL;
}
