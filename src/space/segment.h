/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Segments: the home frames of each rank, in memory that its node shares.  A
 * segment starts with its *sharer* flags (doc/design/coherence.md, "Home pages
 * without cost"), a byte a frame, a summary, a byte for 64 flags, the words by
 * which other ranks tell that there are new flags, what is said of locks that
 * this rank keeps, room that a transport has for active messages, and the
 * names of locks that this rank manages; the frames follow.
 */
#ifndef HEARTHI_SEGMENT_H
#define HEARTHI_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hearthi_segments {
    uint64_t frames;     /* in each rank's segment */
    uint64_t migration;  /* of these, for pages that move to it */
    uint64_t arena;      /* and the first ones, for hearth_malloc (heap.h) */
    size_t   summary_at; /* offsets within a segment: flags are at 0 */
    size_t   told_at;    /* HEARTHI_TOLD words */
    size_t   keep_at;    /* locks that stay (node/lock_delegation.h) */
    size_t
        am_mailbox_at; /* for each rank two words, then its active messages */
    size_t am_buffer;  /* bytes of one */
    size_t places;     /* of each rank */
    size_t names_at;   /* of locks (transport/lock_directory.h) */
    size_t frames_at;
    size_t bytes; /* of a segment */
    size_t shm_share; /* a rank's of what was left in /dev/shm at the start,
                         where it is least; SIZE_MAX: none lies there */
    size_t shm;       /* all of that /dev/shm */
    char **base;  /* system view of each segment of this node */
    int    fd;    /* of this rank's, or -1: it lies in a window */
};

extern struct hearthi_segments hearthi_segments;

/* Does the program allocate much that it never touches?  To be said before
 * hearthi_segments_open(): where all ranks are of one node and see files of
 * each other, home memory lies in such files then, of which the heap is the
 * bound and not what /dev/shm has. */
extern bool hearthi_segments_sparse;

/* What helps where /dev/shm is too small: for lines that say so. */
#define HEARTHI_SHM_REMEDY                                   \
    "enlarge /dev/shm (docker run --shm-size=..., mount -o " \
    "remount,size=... /dev/shm), or do without it "          \
    "(HEARTH_NODE_SIZE=1)"

/* Would segments with so many frames of home memory, and so many for
 * hearth_malloc, be more than /dev/shm had room for? */
bool hearthi_segments_lack_shm(uint64_t home, uint64_t arena);

/* Frames of home memory that a rank would have beside a HEARTH_MALLOC that is
 * set to something else. */
uint64_t hearthi_segments_home(void);

/* Does home memory lie in /dev/shm?  From hearthi_segments_open() on. */
bool hearthi_segments_in_shm(void);

#define HEARTHI_FRAMES_MOST (UINT32_MAX - 1)

enum {
    HEARTHI_SUMMARY = 64, /* flags that a summary byte stands for */
    HEARTHI_AM_MAILBOX_WORDS =
        64,           /* bytes from one rank's words to the next's */
    HEARTHI_TOLD = 64 /* rank r tells of new flags in word r modulo this */
};

/* Make this node's segments of hearthi_opt.home bytes, with room for what is
 * said of locks and for their names, all 0.  Collective. */
void hearthi_segments_open(size_t keep_bytes, size_t names_bytes);
void hearthi_segments_close(void);

/* Every rank's segment has the same size, so that offsets can be computed
 * anywhere: the least that any rank wants.  For hearthi_segments_open(). */
void hearthi_segment_sizes(struct hearthi_segments *s, size_t keep_bytes,
                           size_t names_bytes);

/* Say once, on one rank of a machine, that home memory of ranks which share a
 * node has run out, while nothing more may be wanted.  For now and then. */
void hearthi_segments_look(void);

/* Is there memory for so many frames more that were never touched, as far as
 * one can know? */
bool hearthi_segments_have(uint64_t frames);

/* Show `count` frames of a node rank's segment at heap pages, readable and
 * writable.  Returns 0, or an errno. */
int hearthi_segment_map(uint64_t page, uint64_t count, int node_rank,
                        uint64_t frame);

/* Forget the sharer flags of frames of this rank's own segment. */
void hearthi_segment_unflag(uint64_t frame, uint64_t count);

/* Zero such frames.  Their memory goes back to the kernel, unless a transport
 * may have registered it: then `keep` it, the same in all calls.  A frame that
 * was never touched gets memory by that only where ranks share a node of a
 * machine with swap space. */
void hearthi_segment_clear(uint64_t frame, uint64_t count, bool keep);

/* The first such frame, from one on and before an end, that has memory as far
 * as one can know, and up to where all have; or the end.  What has none is
 * zeroes, and a look at it would give it memory.  (segment_data.c) */
uint64_t hearthi_segment_data(uint64_t frame, uint64_t end, uint64_t *until);

/* How this rank tells a home of new flags: by a word at this offset of the
 * home's segment, and with a value that the word never had. */
struct hearthi_told {
    size_t   at;
    uint64_t value;
};
struct hearthi_told hearthi_told_next(void);

/* The same by a rank that tells for others: a number that no rank has. */
struct hearthi_told hearthi_told_by(uint64_t who);

/* Offset of a frame in its segment. */
static inline size_t
hearthi_frame_at(uint64_t frame, unsigned shift)
{
    return hearthi_segments.frames_at + (size_t)(frame << shift);
}

#endif
