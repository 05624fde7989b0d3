/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "address_bits.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/min.h"

/* There is no machine with fewer that Hearth could serve. */
enum { LEAST = 36 };

/* Is there an address?  The kernel says of one beyond its bound that there is
 * no memory.  Before Linux 4.17 it takes MAP_FIXED_NOREPLACE for a hint, and
 * maps elsewhere what is beyond, or taken. */
static bool
address_exists(uintptr_t at)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void  *p =
        mmap((void *)at, page, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
             -1, 0);

    if (p == MAP_FAILED)
        return errno == EEXIST;
    munmap(p, page);
    return p == (void *)at;
}

bool
hearthi_has_tsan(void)
{
    return dlsym(RTLD_DEFAULT, "__tsan_init") != NULL;
}

/* Two addresses of the upper half are tried, since one may be taken, and not
 * the highest: there lie the stack and libraries.  Where even small numbers of
 * bits fail it is not for their sake (ulimit -v). */
unsigned
hearthi_address_bits(void)
{
    const unsigned most = HEARTHI_ADDRESS_BITS;

    if (hearthi_has_tsan())
        return most;
    for (unsigned bits = most; bits >= LEAST; bits--)
        if (address_exists((uintptr_t)3 << (bits - 2)) ||
            address_exists((uintptr_t)5 << (bits - 3)))
            return bits;
    return most;
}

/* A rank maps the heap twice, of each rank of its node home memory as large,
 * with as many frames again for pages that move, and the cached copies
 * (HEARTH_NODE_CACHE): half of the addresses are for all these, and the other
 * half for arenas, tables and the program.  With 47 bits nothing is scarce. */
size_t
hearthi_heap_default(unsigned bits, int node_size)
{
    const size_t most = (size_t)256 << 30;
    size_t       heap = (size_t)1 << (bits - 1);

    if (bits >= HEARTHI_ADDRESS_BITS)
        return most;
    heap /= 2 + 3 * (size_t)node_size;
    return hearthi_min(most,
                       (size_t)1 << (63 - (unsigned)__builtin_clzll(heap)));
}
