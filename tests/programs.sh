#!/bin/sh
# programs.sh BUILD [NAME...] -- real libraries for MPI on heap buffers: the
# programs of tests/programs, each of which checks what it gets, over both
# transports.  By hand, in no make check: the libraries come from packages
# (libhdf5-MPI-dev, libfftw3-dev, libfftw3-mpi-dev, libpnetcdf-dev,
# libscalapack-MPI-dev), and what is not here is skipped.  libhearth is linked
# before what brings MPI.  BUILD is a folder that Hearth was built in.
here=`cd "\`dirname "$0"\`" && pwd`
cd "$1" || exit 2
shift
build=`pwd`
lib=$build/.libs
compiler=`sed -n 's/^CC = //p' Makefile`
MPIEXEC=`sed -n 's/^MPIEXEC = //p' Makefile`
MPI_FLAVOUR=`sed -n 's/^MPI_FLAVOUR = //p' Makefile`
export MPIEXEC MPI_FLAVOUR
folder=`mktemp -d` || exit 99
trap 'rm -rf "$folder"' 0
trap 'exit 1' 1 2 15
failed=0

# program NAME FLAG...
program() {
    name=$1
    shift
    if ! $compiler -o "$folder/$name" "$here/programs/$name.c" \
        -I"$here/../include" -I"$build/include" -L"$lib" -Wl,-rpath,"$lib" \
        -lhearth "$@" -lm >"$folder/log" 2>&1; then
        echo "SKIP: $name: `grep -m 1 -E 'No such file|cannot find|error' \
            "$folder/log"`"
        return
    fi
    for transport in mpi udp; do
        for np in 2 4; do
            what="$name np=$np over $transport"
            HEARTH_NODE_SIZE=1 HEARTH_TRANSPORT=$transport \
                sh "$here/run-mpi" --once "${TEST_TIMEOUT-60}" $np \
                "$folder/$name" "$folder/data" >"$folder/log"
            if test $? = 0 && test "`grep -c "^$name: .*: right$" \
                "$folder/log"`" = $np; then
                echo "PASS: $what"
            else
                echo "FAIL: $what"
                sed 's/^/    /' "$folder/log"
                failed=1
            fi
        done
    done
}

for name in ${*:-fftw hdf5 pnetcdf scalapack}; do
    case $name in
    fftw) program fftw -lfftw3_mpi -lfftw3 ;;
    hdf5) program hdf5 `pkg-config --cflags --libs hdf5-$MPI_FLAVOUR` ;;
    pnetcdf) program pnetcdf -lpnetcdf ;;
    scalapack) program scalapack -lscalapack-$MPI_FLAVOUR ;;
    *) echo "programs.sh: no program $name"; failed=1 ;;
    esac
done
exit $failed
