/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "matrix.h"

/* ---- entries ---- */

static void
entries_close(struct entries *e)
{
    free(e->row);
    free(e->column);
    free(e->value);
}

const char *
entries_open(struct entries *e, const char *path, long rows, long columns,
             long entries)
{
    if (rows != columns)
        return app_file_wrong(path,
                              "has %ld rows and %ld columns, so it is "
                              "not symmetric",
                              rows, columns);
    if (rows < 1 || rows > MATRIX_ROWS)
        return app_file_wrong(path, "has %ld rows, not 1 to %d", rows,
                              MATRIX_ROWS);
    if (entries < 0 || entries > MATRIX_ENTRIES)
        return app_file_wrong(path, "has %ld entries, not up to %d", entries,
                              MATRIX_ENTRIES);
    e->n = (int32_t)rows;
    e->room = (int32_t)entries;
    e->row = calloc((size_t)entries + 1, sizeof *e->row);
    e->column = calloc((size_t)entries + 1, sizeof *e->column);
    e->value = calloc((size_t)entries + 1, sizeof *e->value);
    if (e->row == NULL || e->column == NULL || e->value == NULL)
        return app_file_wrong(path, "is too large: %s", strerror(errno));
    return NULL;
}

const char *
entries_add(struct entries *e, const char *path, long row, long column,
            double value)
{
    if (row < 1 || row > e->n || column < 1 || column > e->n)
        return app_file_wrong(path,
                              "has an entry at row %ld, column %ld of %d", row,
                              column, (int)e->n);
    if (!isfinite(value))
        return app_file_wrong(path, "has no number at row %ld, column %ld",
                              row, column);
    if (e->count == e->room)
        return app_file_wrong(path, "has more than %d entries", (int)e->room);
    e->row[e->count] = (int32_t)row - 1;
    e->column[e->count] = (int32_t)column - 1;
    e->value[e->count++] = value;
    return NULL;
}

/* ---- the matrix ---- */

static bool
matrix_make(struct matrix *m, int32_t n, size_t entries)
{
    m->n = n;
    m->start = calloc((size_t)n + 2, sizeof *m->start);
    m->column = calloc(entries + 1, sizeof *m->column);
    m->value = calloc(entries + 1, sizeof *m->value);
    m->diagonal = calloc((size_t)n, sizeof *m->diagonal);
    return m->start != NULL && m->column != NULL && m->value != NULL &&
           m->diagonal != NULL;
}

void
matrix_free(struct matrix *m)
{
    free(m->start);
    free(m->column);
    free(m->value);
    free(m->diagonal);
}

/* start[i + 1], where row i is to begin, moves to its end. */
static void
entry_put(struct matrix *m, int32_t i, int32_t j, double value)
{
    const int32_t at = m->start[i + 1]++;

    m->column[at] = j;
    m->value[at] = value;
}

/* So many entries of each row are in start[i + 2]. */
static void
starts_place(struct matrix *m)
{
    for (int32_t i = 0; i < m->n; i++)
        m->start[i + 2] += m->start[i + 1];
}

/* Rows in any order. */
static void
matrix_fill(struct matrix *m, const struct entries *e)
{
    for (int32_t k = 0; k < e->count; k++)
        if (e->row[k] != e->column[k]) {
            m->start[e->row[k] + 2]++;
            m->start[e->column[k] + 2]++;
        }
    starts_place(m);
    for (int32_t k = 0; k < e->count; k++) {
        if (e->row[k] == e->column[k]) {
            m->diagonal[e->row[k]] += e->value[k];
            continue;
        }
        entry_put(m, e->row[k], e->column[k], e->value[k]);
        entry_put(m, e->column[k], e->row[k], e->value[k]);
    }
}

/* A transposed matrix, which here is the same, has rows that ascend. */
static void
matrix_order(struct matrix *to, const struct matrix *m)
{
    memcpy(to->diagonal, m->diagonal, (size_t)m->n * sizeof *m->diagonal);
    for (int32_t k = 0; k < m->start[m->n]; k++)
        to->start[m->column[k] + 2]++;
    starts_place(to);
    for (int32_t i = 0; i < m->n; i++)
        for (int32_t k = m->start[i]; k < m->start[i + 1]; k++)
            entry_put(to, m->column[k], i, m->value[k]);
}

static void
pattern_fill(struct matrix *m)
{
    for (int32_t i = 0; i < m->n; i++) {
        m->diagonal[i] = 1 + (double)(m->start[i + 1] - m->start[i]);
        for (int32_t k = m->start[i]; k < m->start[i + 1]; k++)
            m->value[k] = -1;
    }
}

static const char *
matrix_check(const struct matrix *m, const char *path)
{
    for (int32_t i = 0; i < m->n; i++) {
        if (!(m->diagonal[i] > 0))
            return app_file_wrong(path,
                                  "has %g on its diagonal, in row %d: it is "
                                  "not positive definite",
                                  m->diagonal[i], (int)i + 1);
        for (int32_t k = m->start[i] + 1; k < m->start[i + 1]; k++)
            if (m->column[k] == m->column[k - 1])
                return app_file_wrong(path,
                                      "has row %d, column %d twice: one "
                                      "triangle is to be there, once",
                                      (int)i + 1, (int)m->column[k] + 1);
    }
    return NULL;
}

static const char *
matrix_build(struct matrix *m, const struct entries *e, const char *path)
{
    const size_t  all = 2 * (size_t)e->count;
    struct matrix any = { 0 };
    const char   *why = NULL;

    if (!matrix_make(&any, e->n, all) || !matrix_make(m, e->n, all)) {
        why = app_file_wrong(path, "is too large: %s", strerror(errno));
    } else {
        matrix_fill(&any, e);
        matrix_order(m, &any);
        if (e->pattern)
            pattern_fill(m);
        why = matrix_check(m, path);
    }
    matrix_free(&any);
    return why;
}

/* A file of Matrix Market says what it is; one of Harwell and Boeing begins
 * with any title. */
static const char *
entries_read(struct entries *e, FILE *file, const char *path)
{
    static const char mark[] = "%%MatrixMarket";
    char              line[1024];

    if (fgets(line, sizeof line, file) == NULL)
        return ferror(file) ? app_file_wrong(path, "cannot be read: %s",
                                             strerror(errno))
                            : app_file_wrong(path, "is empty");
    if (strncmp(line, mark, sizeof mark - 1) == 0)
        return matrix_market_read(e, file, path, line + sizeof mark - 1);
    return harwell_boeing_read(e, file, path);
}

const char *
matrix_read(struct matrix *m, const char *path)
{
    struct entries e = { 0 };
    FILE          *file = fopen(path, "r");
    const char    *why;

    if (file == NULL)
        return app_file_wrong(path, "cannot be read: %s", strerror(errno));
    why = entries_read(&e, file, path);
    fclose(file);
    if (why == NULL)
        why = matrix_build(m, &e, path);
    entries_close(&e);
    return why;
}

/* ---- on all ranks ---- */

/* Rank 0's words, on all, in private memory. */
static void *
words_share(const struct app_run *run, void *own, size_t count, size_t size)
{
    void *shared = hearth_alloc(count, size, hearth_on(0));

    if (run->rank == 0)
        memcpy(shared, own, count * size);
    hearth_barrier();
    if (run->rank != 0) {
        own = app_private(run, count, size);
        memcpy(own, shared, count * size);
    }
    hearth_free(shared);
    return own;
}

void
matrix_share(struct matrix *m, const struct app_run *run)
{
    int32_t size[2] = { 0, 0 }, *of;
    size_t  n, entries;

    if (run->rank == 0) {
        size[0] = m->n;
        size[1] = m->start[m->n];
    }
    of = words_share(run, size, 2, sizeof *size);
    m->n = of[0];
    n = (size_t)of[0];
    entries = (size_t)of[1] + 1;
    if (of != size)
        free(of);
    m->start = words_share(run, m->start, n + 2, sizeof *m->start);
    m->column = words_share(run, m->column, entries, sizeof *m->column);
    m->value = words_share(run, m->value, entries, sizeof *m->value);
    m->diagonal = words_share(run, m->diagonal, n, sizeof *m->diagonal);
}

double
matrix_entry(const struct matrix *m, int32_t i, int32_t j)
{
    int32_t low = m->start[i], high = m->start[i + 1];

    if (i == j)
        return m->diagonal[i];
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;

        if (m->column[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->start[i + 1] && m->column[low] == j ? m->value[low] : 0;
}
