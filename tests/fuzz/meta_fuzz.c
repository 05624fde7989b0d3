/* SPDX-License-Identifier: BSD-2-Clause
 *
 * libFuzzer's way to the meta file of a checkpoint (fuzz.sh).  What is taken
 * lies within the file; the file has a checksum that is right, since no other
 * comes so far, unless the first byte is odd.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/descriptor.h"
#include "checkpoint/checksum.h"
#include "checkpoint/meta.h"
#include "fuzz.h"

static const void *bytes;
static size_t      length;

/* In place of checkpoint/image.c. */
int
hearthi_small_file_get(int folder, const char *name, size_t most, void **all,
                       size_t *n)
{
    must(folder == 5 && strcmp(name, "meta") == 0 && length <= most);
    *all = malloc(length + (length == 0));
    must(*all != NULL);
    if (length > 0)
        memcpy(*all, bytes, length);
    *n = length;
    return 0;
}

int
hearthi_small_file_put(int folder, const char *name, const void *all, size_t n)
{
    (void)folder, (void)name;
    must(n == length && memcmp(all, bytes, n) == 0);
    return 0;
}

static uint64_t
sum_of(const void *from, size_t n)
{
    const unsigned char *p = from;
    uint64_t             sum = 0;

    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + p[i];
    return sum;
}

static void
holds(const struct hearthi_meta *m)
{
    static volatile uint64_t seen;

    must(m->head.magic == HEARTHI_META_MAGIC && m->head.ranks > 0);
    seen += sum_of(m->file, m->head.ranks * sizeof *m->file);
    seen += sum_of(m->words, m->head.words * sizeof *m->words);
    must(hearthi_meta_write(m, 5) == 0); /* it says the same */
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const uint64_t      magic = HEARTHI_META_MAGIC;
    struct hearthi_meta m;
    uint64_t            hash;
    char               *all;
    int                 failed;

    if (len < 1 || (all = malloc(len)) == NULL)
        return 0;
    memcpy(all, data + 1, len - 1);
    length = len - 1;
    bytes = all;
    if (data[0] % 2 == 0 && length >= sizeof m.head + sizeof hash) {
        memcpy(all, &magic, sizeof magic);
        hash = hearthi_checksum(all, length - sizeof hash);
        memcpy(all + length - sizeof hash, &hash, sizeof hash);
    }
    failed = hearthi_meta_read(&m, 5);
    must(failed == 0 || failed == EBADMSG || failed == EPROTO);
    must(*hearthi_damage_text(failed) != '\0');
    must((failed == 0) == (m.all != NULL));
    if (failed == 0)
        holds(&m);
    hearthi_meta_free(&m);
    free(all);
    return 0;
}
