/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The program's own mprotect(2) on pages of the heap.  What a page allows is
 * what the protocol knows of it: a page that the program has opened shows what
 * was there once and takes what no other rank will see, without a fault and so
 * without a word.  The job ends with a line instead.
 *
 * mmap(MAP_FIXED), mremap(2), munmap(2) and madvise(2) do as much harm, and
 * must not be stood before: UCX, which has to know what memory goes away,
 * writes a jump into the first function of that name.  Seen with MPICH 4.0.2
 * (UCX 1.13.1): with a library in front the jump was in that library's
 * function, and the C library's own, by which free(3) gives memory back, was
 * left alone, so UCX would have used registrations of memory that is another's
 * now.  No library watches mprotect(2). munmap(2) is found at the next fault
 * (page/fault.c), and all but madvise(2) at hearth_finalize()
 * (space/foreign.h).
 *
 * It may be called before anything else of Hearth is, by allocators: nothing
 * is looked up or initialised here.
 */
#include "config.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/dlsym_next.h"
#include "base/report.h"
#include "hearth/hearth.h"
#include "space/heap.h"
#include "world.h"

static void
heap_refuse(const char *call, const char *at, size_t len)
{
    const char *heap = hearthi_heap.base;

    if (hearthi_world.up && at < heap + hearthi_heap.bytes &&
        len > (at < heap ? (size_t)(heap - at) : 0))
        hearthi_fatal(call,
                      "%zu bytes at %p are of the heap, whose pages Hearth "
                      "protects itself: it would hide what other ranks write, "
                      "or lose what is written here; copy to private memory "
                      "what is to be protected",
                      len, (const void *)at);
}

#define FRONT __attribute__((weak))
HEARTH_API FRONT int front_mprotect(void *, size_t, int) __asm__("mprotect");
HEARTH_API FRONT int front_pkey_mprotect(void *, size_t, int,
                                         int) __asm__("pkey_mprotect");

int
front_mprotect(void *at, size_t len, int prot)
{
    heap_refuse("mprotect", at, len);
    return hearthi_mprotect(at, len, prot);
}

int
front_pkey_mprotect(void *at, size_t len, int prot, int key)
{
    heap_refuse("pkey_mprotect", at, len);
    return key == -1 ? hearthi_mprotect(at, len, prot)
                     : (int)syscall(SYS_pkey_mprotect, at, len, prot, key);
}
