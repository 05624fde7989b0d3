/* SPDX-License-Identifier: BSD-2-Clause
 *
 * MPI_File: each rank writes its part of a file, and reads its right
 * neighbour's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"

/* One half of a row: begins, and what ends it or NULL if nothing is to end. */
struct way {
    void (*begin)(struct operation *o);
    void (*end)(struct operation *o);
};

struct row {
    struct way write, read;
};

static MPI_File file;

static MPI_Offset
part(const struct operation *o, int rank)
{
    return (MPI_Offset)rank * (MPI_Offset)o->bytes;
}

static void
must(int error, const struct operation *o)
{
    expect_at(error == MPI_SUCCESS, o->call->name, error, "error of MPI_File");
}

static void
counted(const MPI_Status *status, const struct operation *o)
{
    int count;

    MPI_Get_count(status, MPI_BYTE, &count);
    expect_eq(count, o->bytes);
}

/* At the own part, or at the neighbour's: where no place is told. */
static void
seek(const struct operation *o, int rank, bool shared)
{
    if (shared)
        must(MPI_File_seek_shared(file, part(o, 0), MPI_SEEK_SET), o);
    else
        must(MPI_File_seek(file, part(o, rank), MPI_SEEK_SET), o);
}

static void
nothing(struct operation *o)
{
    (void)o;
}

static void
wait(struct operation *o)
{
    MPI_Status status;

    MPI_Wait(&o->requests[--o->count], &status);
    counted(&status, o);
}

#define OUT o->send, (int)o->bytes, MPI_BYTE
#define IN  o->recv, (int)o->bytes, MPI_BYTE

/* Functions that do this and look at the status. */
#define BLOCKS(name, before, ...)                                  \
    static void file_##name(struct operation *o)                   \
    {                                                              \
        MPI_Status status;                                         \
                                                                   \
        before;                                                    \
        must(EITHER(o, MPI_File_##name, __VA_ARGS__, &status), o); \
        counted(&status, o);                                       \
    }
#define PENDS(name, before, ...)                                          \
    static void file_##name(struct operation *o)                          \
    {                                                                     \
        before;                                                           \
        must(EITHER(o, MPI_File_##name, __VA_ARGS__, request_new(o)), o); \
    }
#define SPLIT(name, before, buffer, ...)                                \
    static void file_##name##_begin(struct operation *o)                \
    {                                                                   \
        before;                                                         \
        must(EITHER(o, MPI_File_##name##_begin, file, __VA_ARGS__), o); \
    }                                                                   \
    static void file_##name##_end(struct operation *o)                  \
    {                                                                   \
        MPI_Status status;                                              \
                                                                        \
        must(MPI_File_##name##_end(file, buffer, &status), o);          \
        counted(&status, o);                                            \
    }
#define MINE   seek(o, me, false)
#define RIGHT  seek(o, o->right, false)
#define SHARED seek(o, 0, true)

BLOCKS(write_at, (void)0, file, part(o, me), OUT)
BLOCKS(read_at, (void)0, file, part(o, o->right), IN)
BLOCKS(write_at_all, (void)0, file, part(o, me), OUT)
BLOCKS(read_at_all, (void)0, file, part(o, o->right), IN)
BLOCKS(write, MINE, file, OUT)
BLOCKS(read, RIGHT, file, IN)
BLOCKS(write_all, MINE, file, OUT)
BLOCKS(read_all, RIGHT, file, IN)
BLOCKS(write_ordered, SHARED, file, OUT)
BLOCKS(read_ordered, SHARED, file, IN)
PENDS(iwrite_at, (void)0, file, part(o, me), OUT)
PENDS(iread_at, (void)0, file, part(o, o->right), IN)
PENDS(iwrite_at_all, (void)0, file, part(o, me), OUT)
PENDS(iread_at_all, (void)0, file, part(o, o->right), IN)
PENDS(iwrite, MINE, file, OUT)
PENDS(iread, RIGHT, file, IN)
PENDS(iwrite_all, MINE, file, OUT)
PENDS(iread_all, RIGHT, file, IN)
SPLIT(write_at_all, (void)0, o->send, part(o, me), OUT)
SPLIT(read_at_all, (void)0, o->recv, part(o, o->right), IN)
SPLIT(write_all, MINE, o->send, OUT)
SPLIT(read_all, RIGHT, o->recv, IN)
SPLIT(write_ordered, SHARED, o->send, OUT)
SPLIT(read_ordered, SHARED, o->recv, IN)

/* A pointer that all share moves in turn, so that it is known what is read. */
#define IN_TURN(name, buffer, last)                                         \
    static void file_##name(struct operation *o)                            \
    {                                                                       \
        seek(o, 0, true);                                                   \
        for (int r = 0; r < ranks; r++) {                                   \
            if (r == me)                                                    \
                must(MPI_File_##name(file, buffer, (int)o->bytes, MPI_BYTE, \
                                     last),                                 \
                     o);                                                    \
            MPI_Barrier(o->comm);                                           \
        }                                                                   \
    }
IN_TURN(write_shared, o->send, MPI_STATUS_IGNORE)
IN_TURN(read_shared, o->recv, MPI_STATUS_IGNORE)
IN_TURN(iwrite_shared, o->send, request_new(o))
IN_TURN(iread_shared, o->recv, request_new(o))

static const struct row rows[] = {
    { { file_write_at, nothing }, { file_read_at, nothing } },
    { { file_write_at_all, nothing }, { file_read_at_all, nothing } },
    { { file_write, nothing }, { file_read, nothing } },
    { { file_write_all, nothing }, { file_read_all, nothing } },
    { { file_write_shared, nothing }, { file_read_shared, nothing } },
    { { file_write_ordered, nothing }, { file_read_ordered, nothing } },
    { { file_iwrite_at, wait }, { file_iread_at, wait } },
    { { file_iwrite_at_all, wait }, { file_iread_at_all, wait } },
    { { file_iwrite, wait }, { file_iread, wait } },
    { { file_iwrite_all, wait }, { file_iread_all, wait } },
    { { file_iwrite_shared, wait }, { file_iread_shared, wait } },
    { { file_write_at_all_begin, file_write_at_all_end },
      { file_read_at_all_begin, file_read_at_all_end } },
    { { file_write_all_begin, file_write_all_end },
      { file_read_all_begin, file_read_all_end } },
    { { file_write_ordered_begin, file_write_ordered_end },
      { file_read_ordered_begin, file_read_ordered_end } },
};

static void
written(struct operation *o)
{
    rows[o->call->how].write.end(o);
    must(MPI_File_sync(file), o);
    MPI_Barrier(o->comm);
}

/* What is pending is the writing in odd turns and the reading in even ones. */
static void
begin(struct operation *o)
{
    const struct row *r = &rows[o->call->how];

    r->write.begin(o);
    if (o->turn % 2 == 1)
        return;
    written(o);
    r->read.begin(o);
}

static void
finish(struct operation *o)
{
    const struct row *r = &rows[o->call->how];

    if (o->turn % 2 == 1) {
        written(o);
        r->read.begin(o);
    }
    r->read.end(o);
    MPI_Barrier(o->comm);
}

#define ROW(name, kind, i) #name, kind, begin, finish, NULL, i

const struct call calls_files[] = {
    { ROW(File_write_at, CALL_BLOCKS, 0) },
    { ROW(File_write_at_all, CALL_BLOCKS, 1) },
    { ROW(File_write, CALL_BLOCKS, 2) },
    { ROW(File_write_all, CALL_BLOCKS, 3) },
    { ROW(File_write_shared, CALL_BLOCKS, 4) },
    { ROW(File_write_ordered, CALL_BLOCKS, 5) },
    { ROW(File_iwrite_at, CALL_TOGETHER, 6) },
    { ROW(File_iwrite_at_all, CALL_TOGETHER, 7) },
    { ROW(File_iwrite, CALL_TOGETHER, 8) },
    { ROW(File_iwrite_all, CALL_TOGETHER, 9) },
    { ROW(File_iwrite_shared, CALL_TOGETHER, 10) },
    { ROW(File_write_at_all_begin, CALL_TOGETHER, 11) },
    { ROW(File_write_all_begin, CALL_TOGETHER, 12) },
    { ROW(File_write_ordered_begin, CALL_TOGETHER, 13) },
    { 0 },
};

void
calls_files_begin(MPI_Comm comm)
{
    const char *folder = getenv("TMPDIR");
    char        path[200];
    long        id = (long)getpid();

    MPI_Bcast(&id, 1, MPI_LONG, 0, comm);
    snprintf(path, sizeof path, "%s/hearth-calls-%ld",
             folder == NULL ? "/tmp" : folder, id);
    if (MPI_File_open(comm, path,
                      MPI_MODE_CREATE | MPI_MODE_RDWR |
                          MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &file) != MPI_SUCCESS)
        MPI_Abort(comm, 1);
}

void
calls_files_end(void)
{
    MPI_File_close(&file);
}
