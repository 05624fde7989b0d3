#!/bin/sh
# recipes.sh -- what hearth-info --try prints works with this MPI: as words of the
# launcher and, as for srun, which it is here for the moment, as variables.
# Ranks that poll over TCP need the cores for themselves.
# Environment: MPIEXEC and MPI_FLAVOUR (from make check).
# Needs: hearth-info
test -n "$MPIEXEC" || { echo "no MPI launcher"; exit 77; }
. "`dirname "$0"`/wrongs"
printf '#!/bin/sh\nexec %s "$@"\n' "$MPIEXEC" >"$out/srun"
chmod +x "$out/srun"
test "$MPI_FLAVOUR" != openmpi || ompi_info 2>/dev/null |
    grep 'osc: ucx' >/dev/null || { echo "no UCX in this Open MPI"; exit 77; }
for launcher in "$MPIEXEC" "$out/srun"; do
    MPIEXEC=$launcher ./hearth-info --try >"$out/tried" 2>&1
    test "`grep -c '^  works; ' "$out/tried"`" = \
        "`grep -c '(thread level' "$out/tried"`" || {
        wrong "a recipe fails under $launcher"
        cat "$out/tried"
    }
done
! grep 'mca\|genv' "$out/tried" || wrong "srun gets words of an MPI"
exit $fail
