/* SPDX-License-Identifier: BSD-2-Clause
 *
 * libFuzzer's way to the standard input of a PARMACS program before its first
 * CREATE (fuzz.sh).  The first byte chooses how the program reads; what it
 * reads is what is there, on rank 0, and on a rank to which rank 0 brings it.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/report.h"
#include "collective.h"
#include "fuzz.h"
#include "parmacs/parmacs_main.h"
#include "parmacs/parmacs_part.h"

struct hearthi_parmacs hearthi_parmacs = { .part = HEARTHI_ALONE, .size = 2 };

static struct {
    char   bytes[1 << 16];
    size_t at, end;
} way; /* from rank 0 to the other */

_Noreturn void
hearthi_fatal(const char *call, const char *fmt, ...)
{
    (void)call, (void)fmt;
    abort();
}

void
hearthi_collective_bcast(void *at, size_t bytes, int root, MPI_Comm comm)
{
    (void)root, (void)comm;
    if (hearthi_parmacs.rank == 0) {
        if (way.end + bytes <= sizeof way.bytes) {
            memcpy(way.bytes + way.end, at, bytes);
            way.end += bytes;
        }
    } else {
        must(way.at + bytes <= way.end);
        memcpy(at, way.bytes + way.at, bytes);
        way.at += bytes;
    }
}

/* The program reads by characters, pieces or lines. */
static size_t
some_read(unsigned how, char *to, size_t room)
{
    int c;

    switch (how % 3) {
    case 0:
        c = getc(stdin);
        *to = (char)c;
        return c != EOF;
    case 1: return fread(to, 1, how < room ? how : room, stdin);
    default:
        for (room = 0; (c = getc(stdin)) != EOF;) {
            to[room++] = (char)c;
            if (c == '\n')
                break;
        }
        return room;
    }
}

static void
rank_reads(int rank, const uint8_t *data, size_t len, unsigned how)
{
    char  *got = malloc(len + 1);
    size_t n, at = 0;
    FILE  *before = stdin;

    must(got != NULL);
    hearthi_parmacs.rank = rank;
    hearthi_parmacs_input_open();
    must(stdin != before);
    while (at <= len && (n = some_read(how, got + at, len + 1 - at)) > 0)
        at += n;
    must(at == len && memcmp(got, data, len) == 0);
    hearthi_parmacs_input_close();
    fclose(stdin);
    stdin = before;
    free(got);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    int      file, before;
    unsigned how;

    if (len == 0 || len > sizeof way.bytes / 2)
        return 0;
    how = data[0];
    file = memfd_create("input", 0);
    before = dup(STDIN_FILENO);
    must(file >= 0 && write(file, data + 1, len - 1) == (ssize_t)len - 1);
    lseek(file, 0, SEEK_SET);
    dup2(file, STDIN_FILENO);
    close(file);
    way.at = way.end = 0;
    rank_reads(0, data + 1, len - 1, how);
    rank_reads(1, data + 1, len - 1, how);
    dup2(before, STDIN_FILENO);
    close(before);
    return 0;
}
