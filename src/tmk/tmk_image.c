/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tmk_image.h"

#include <link.h>
#include <string.h>

/* What is looked for among the files, and what was found. */
struct search {
    const char           *at; /* address, or NULL: by image */
    size_t                bytes;
    struct hearthi_image *image;
    void                 *found;
};

/* FNV-1a.  Folders may differ between hosts; the program itself has no name.
 */
static uint64_t
name_hash(const char *path)
{
    const char *slash = strrchr(path, '/');
    uint64_t    hash = 0xcbf29ce484222325u;

    for (const char *c = slash == NULL ? path : slash + 1; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    return hash;
}

/* Does writable data of the file cover these bytes behind its beginning? */
static bool
is_data(const struct dl_phdr_info *file, uint64_t offset, size_t bytes)
{
    for (int i = 0; i < file->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &file->dlpi_phdr[i];

        if (p->p_type == PT_LOAD && (p->p_flags & PF_W) != 0 &&
            offset >= p->p_vaddr && bytes <= p->p_memsz &&
            offset - p->p_vaddr <= p->p_memsz - bytes)
            return true;
    }
    return false;
}

static int
file_try(struct dl_phdr_info *file, size_t size, void *data)
{
    struct search *s = data;
    uint64_t       name = name_hash(file->dlpi_name);

    (void)size;
    if (s->at != NULL) {
        s->image->file = name;
        s->image->offset = (uintptr_t)s->at - file->dlpi_addr;
    } else if (s->image->file != name) {
        return 0;
    }
    if (!is_data(file, s->image->offset, s->bytes))
        return 0;
    s->found = (void *)(file->dlpi_addr + s->image->offset);
    return 1;
}

bool
hearthi_image_of(const void *p, size_t bytes, struct hearthi_image *image)
{
    struct search s = { p, bytes, image, NULL };

    return p != NULL && dl_iterate_phdr(file_try, &s) != 0;
}

void *
hearthi_image_at(const struct hearthi_image *image, size_t bytes)
{
    struct hearthi_image own = *image;
    struct search        s = { NULL, bytes, &own, NULL };

    dl_iterate_phdr(file_try, &s);
    return s.found;
}
