/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The program's own memory, and the names in it.
 */
#ifndef HEARTHI_PARMACS_PROGRAM_H
#define HEARTHI_PARMACS_PROGRAM_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HEARTHI_PROGRAM_PARTS = 8,        /* of its writable memory, at most */
    HEARTHI_PROGRAM_LOOKED = 16 << 20 /* bytes of each that are looked at */
};

struct hearthi_program_part {
    char  *at;
    size_t bytes;
};

struct hearthi_program {
    uintptr_t loaded; /* 0: at the addresses of its file */
    uintptr_t low, high;
    /* Writable, but for what is made so no more once the program is linked. */
    struct hearthi_program_part part[HEARTHI_PROGRAM_PARTS];
    int                         parts;
};

extern struct hearthi_program hearthi_program;

/* Fill it, once. */
void hearthi_program_find(void);

typedef ElfW(Sym) hearthi_symbol;

/* Those of the program's file; none where it cannot be read or has none. */
struct hearthi_symbols {
    const char           *file;
    size_t                bytes;
    const hearthi_symbol *symbol;
    size_t                n;
    const char           *names;
};

void hearthi_symbols_open(struct hearthi_symbols *s);
void hearthi_symbols_close(struct hearthi_symbols *s);

/* The one that an address lies in, where the program was loaded taken off, or
 * NULL. */
const hearthi_symbol *hearthi_symbol_around(const struct hearthi_symbols *s,
                                            uint64_t                      at);

#endif
