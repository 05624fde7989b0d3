/* SPDX-License-Identifier: BSD-2-Clause
 *
 * PETSc on heap memory: vectors and a sparse matrix are arrays that are at home
 * on the right neighbour, which has filled them, so that PETSc finds no page
 * here.  What a scatter, a product and a solver give is known.
 */
#include <hearth/hearth.h>
#include <petscksp.h>
#include <stdio.h>

enum { ROWS = 4096 };

/* What one rank has of A and of the vectors.  Two columns of A are of others. */
struct part {
    _Alignas(4096) PetscScalar x[ROWS];
    PetscScalar b[ROWS], y[ROWS], here[3 * ROWS], there[2];
    PetscInt    here_rows[ROWS + 1], here_columns[3 * ROWS];
    PetscInt    there_rows[ROWS + 1], there_columns[2];
};

static int wrong, me, ranks, all;

/* PETSc has said more itself. */
static void
did(PetscErrorCode code)
{
    wrong += code != 0;
}

static void
expect(PetscScalar a, double b)
{
    wrong += !(PetscAbsScalar(a - b) < 1e-8);
}

static double
known(int row)
{
    return row < 0 || row >= all ? 0 : row % 17 + 1;
}

/* Four on the diagonal, and minus one beside it. */
static void
fill(struct part *p, int first)
{
    PetscInt here = 0, there = 0;

    for (int r = 0; r < ROWS; r++) {
        p->x[r] = known(first + r);
        p->here_rows[r] = here;
        p->there_rows[r] = there;
        for (int c = r - 1; c <= r + 1; c++)
            if (c >= 0 && c < ROWS) {
                p->here_columns[here] = c;
                p->here[here++] = c == r ? 4 : -1;
            } else if (first + c >= 0 && first + c < all) {
                p->there_columns[there] = first + c;
                p->there[there++] = -1;
            }
    }
    p->here_rows[ROWS] = here;
    p->there_rows[ROWS] = there;
}

static Vec
vector(PetscScalar *values)
{
    Vec v;

    did(VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, ROWS, all, values, &v));
    return v;
}

/* Each gets the next one's, where it has written a few. */
static void
scatter(Vec x, Vec y, struct part *p, int first)
{
    IS         from, to;
    VecScatter next;

    for (int r = 0; r < ROWS; r += 1000)
        p->y[r] = -1;
    did(ISCreateStride(PETSC_COMM_SELF, ROWS, (first + ROWS) % all, 1, &from));
    did(ISCreateStride(PETSC_COMM_SELF, ROWS, first, 1, &to));
    did(VecScatterCreate(x, from, y, to, &next));
    did(VecScatterBegin(next, x, y, INSERT_VALUES, SCATTER_FORWARD));
    did(VecScatterEnd(next, x, y, INSERT_VALUES, SCATTER_FORWARD));
    for (int r = 0; r < ROWS; r++)
        expect(p->y[r], known((first + ROWS + r) % all));
    did(VecScatterDestroy(&next));
    did(ISDestroy(&to));
    did(ISDestroy(&from));
}

/* Begins with what y has. */
static void
solve(Mat A, Vec b, Vec y)
{
    KSP ksp;
    PC  pc;

    did(KSPCreate(PETSC_COMM_WORLD, &ksp));
    did(KSPSetOperators(ksp, A, A));
    did(KSPSetType(ksp, KSPCG));
    did(KSPGetPC(ksp, &pc));
    did(PCSetType(pc, PCJACOBI));
    did(KSPSetTolerances(ksp, 1e-13, 1e-13, PETSC_DEFAULT, 200));
    did(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    did(KSPSolve(ksp, b, y));
    did(KSPDestroy(&ksp));
}

static void
work(struct part *p, int first)
{
    Mat A;
    Vec x = vector(p->x), b = vector(p->b), y = vector(p->y);

    scatter(x, y, p, first);
    did(MatCreateMPIAIJWithSplitArrays(
        PETSC_COMM_WORLD, ROWS, ROWS, all, all, p->here_rows, p->here_columns,
        p->here, p->there_rows, p->there_columns, p->there, &A));
    did(MatMult(A, x, b));
    for (int r = first; r < first + ROWS; r++)
        expect(p->b[r - first], 4 * known(r) - known(r - 1) - known(r + 1));
    solve(A, b, y);
    did(MatDestroy(&A));
    did(VecDestroy(&y));
    did(VecDestroy(&b));
    did(VecDestroy(&x));
}

int
main(int argc, char **argv)
{
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    hearth_init(MPI_COMM_WORLD);
    did(PetscInitializeNoArguments());
    me = hearth_rank();
    ranks = hearth_size();
    all = ranks * ROWS;
    struct part *parts =
        hearth_alloc((size_t)ranks, sizeof *parts, hearth_block());

    fill(parts + me, (me + ranks - 1) % ranks * ROWS);
    hearth_barrier();
    work(parts + (me + 1) % ranks, me * ROWS);
    hearth_barrier();
    for (int r = 0; r < all; r++)
        expect(parts[(r / ROWS + 1) % ranks].y[r % ROWS], known(r));
    did(PetscFinalize());
    printf("petsc: rank %d: %s\n", me, wrong == 0 ? "right" : "wrong");
    fflush(stdout);
    hearth_finalize();
    MPI_Finalize();
    return wrong != 0;
}
