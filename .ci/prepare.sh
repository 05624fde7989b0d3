# Functions shared by ./check, ./demo and ./soak; read with ".", not run.
#
# packages_install PACKAGE...   install what is missing, with apt
# make_configure BUILD CONFIGURE-WORD...   configure in BUILD when needed
# packages_known PACKAGE...     those that this system's lists have
# jobs                          how many compilers to start at once

# Say what is done, so that nobody wonders what asks for a password.
packages_install() {
    missing=
    for package; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null |
            grep 'ok installed' >/dev/null || missing="$missing $package"
    done
    test -n "$missing" || return 0
    if ! command -v apt-get >/dev/null; then
        echo "This machine has no apt-get; please install what gives:$missing" >&2
        return 1
    fi
    lists_update
    echo "== installing with ${sudo:+$sudo }apt-get:$missing"
    missing_install || { sleep 10 && missing_install; } || {
        echo "apt-get could not install:$missing" >&2
        return 1
    }
}

missing_install() {
    apt install -q -y --no-install-recommends $missing >/dev/null
}

# Another process may have its lock for a while, and a server fail once.
apt() {
    sudo=
    test "$(id -u)" = 0 || sudo=sudo
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get \
        -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}

lists_updated=
lists_update() {
    test -z "$lists_updated" || return 0
    lists_updated=yes
    apt update -q >/dev/null || echo "apt-get update failed; going on" >&2
}

# What the lists of a fresh system lack they may have when they are new.
packages_known() {
    for package; do
        apt-cache show "$package" >/dev/null 2>&1 || lists_update
        ! apt-cache show "$package" >/dev/null 2>&1 || echo "$package"
    done
}

jobs() {
    nproc 2>/dev/null || echo 2
}

# What both commands build with, whichever MPI they use; hearth-compare runs in
# Python and draws with gnuplot.
build_packages="gcc libc6-dev make autoconf automake libtool pkg-config libfabric-dev libsodium-dev libssl-dev libinih-dev libjansson-dev python3 gnuplot-nox"
mpi_packages() {
    case $1 in
    openmpi) echo openmpi-bin libopenmpi-dev ;;
    mpich) echo mpich libmpich-dev ;;
    esac
}

# Other software that tests give heap memory to; Debian has some of it for one
# MPI only.  PnetCDF, ScaLAPACK and PETSc, which bring a hundred packages more,
# are used where somebody has installed them.
mpi_programs() {
    case $1 in
    openmpi) echo g++ gfortran libhdf5-openmpi-dev libfftw3-dev libfftw3-mpi-dev python3-mpi4py python3-numpy ;;
    mpich) echo g++ gfortran libhdf5-mpich-dev ;;
    esac
}

# Run a command with its output in a file; show the end of it if it fails.
quietly() {
    quiet_log=$1
    shift
    "$@" >"$quiet_log" 2>&1 && return 0
    echo "   failed: $*" >&2
    tail -n 30 "$quiet_log" | sed 's/^/   | /' >&2
    echo "   (all of it: $quiet_log)" >&2
    return 1
}

configure_in() {
    folder=$1
    shift
    mkdir -p "$folder"
    (cd "$folder" && "$top/configure" "$@")
}
