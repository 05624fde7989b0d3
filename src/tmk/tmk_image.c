/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tmk_image.h"

#include <link.h>
#include <string.h>

#include "base/format.h"
#include "base/hash.h"

/* What is looked for among the files, and what was found. */
struct search {
    const char               *at; /* address, or NULL: by image */
    size_t                    bytes;
    unsigned                  flag; /* of a part of a file */
    struct hearthi_tmk_image *image;
    void                     *found;
};

static unsigned
flag_of(enum hearthi_tmk_part part)
{
    return part == HEARTHI_TMK_DATA ? PF_W : PF_X;
}

/* Folders may differ between hosts; the program itself has no name. */
static uint64_t
name_hash(const char *path)
{
    return hearthi_hash_text(HEARTHI_HASH, hearthi_base_name(path));
}

/* Does such a part of the file cover these bytes behind its beginning? */
static bool
is_in(const struct dl_phdr_info *file, unsigned flag, uint64_t offset,
      size_t bytes)
{
    for (int i = 0; i < file->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &file->dlpi_phdr[i];

        if (p->p_type == PT_LOAD && (p->p_flags & flag) != 0 &&
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
    if (!is_in(file, s->flag, s->image->offset, s->bytes))
        return 0;
    s->found = (void *)(file->dlpi_addr + s->image->offset);
    return 1;
}

bool
hearthi_tmk_image_of(const void *p, size_t bytes, enum hearthi_tmk_part part,
                     struct hearthi_tmk_image *image)
{
    struct search s = { p, bytes, flag_of(part), image, NULL };

    return p != NULL && dl_iterate_phdr(file_try, &s) != 0;
}

void *
hearthi_tmk_image_at(const struct hearthi_tmk_image *image, size_t bytes,
                     enum hearthi_tmk_part part)
{
    struct hearthi_tmk_image own = *image;
    struct search            s = { NULL, bytes, flag_of(part), &own, NULL };

    dl_iterate_phdr(file_try, &s);
    return s.found;
}
