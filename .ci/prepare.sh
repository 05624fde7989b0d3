# Functions shared by ./check, ./demo, ./matrix and ./soak; read with ".", not run.
#
# packages_install PACKAGE...   install what is missing, with apt
# packages_known PACKAGE...     $known: those that this system's lists have
# packages_extra WHAT PACKAGE...   the same, of what is only nice to have
# top_check                     whether anything can be built here
# temporary_try                 whether temporary files have room
# folder_take FOLDER            make a build folder, for this run alone
# autogen_run                   make ./configure
# autogen_once LOG              the same, if that has not been done
# configure_once FOLDER WORD... configure there if that has not been done
# configure_in FOLDER WORD...   configure there
# quietly LOG COMMAND...        with its output in a file
# jobs                          how many compilers to start at once
# tests_follow BUILD            tells what make check prints, as it comes
# results_count LOG             what a suite's log counts
# table_print LINE...           a table; cells end at "|"
#
# A PACKAGE that is written a|b:c is there if package a, package b or the
# command c is; a is installed where none of them is.

# package_is_here PACKAGE
package_is_here() {
    local name IFS='|'
    for name in $1; do
        case $name in
        *:*) ! command -v "${name#*:}" >/dev/null || return 0 ;;
        esac
        ! dpkg-query -W -f='${Status}' "${name%%:*}" 2>/dev/null |
            grep 'ok installed' >/dev/null || return 0
    done
    return 1
}

# packages_missing PACKAGE... -- those to be installed, in one line.
packages_missing() {
    local package missing=
    for package; do
        package_is_here "$package" || missing="$missing ${package%%[|:]*}"
    done
    echo "$missing"
}

# Nothing is ever removed for what is installed, and who asks for a password is
# said before.  What cannot be done ends with one line, the remedy in it.
packages_install() {
    local missing sudo=
    missing=$(packages_missing "$@")
    test -n "$missing" || return 0
    if ! command -v apt-get >/dev/null; then
        echo "This machine has no apt-get: please install what gives$missing, or add --no-install" >&2
        return 1
    fi
    if test "$(id -u)" != 0; then
        if ! command -v sudo >/dev/null; then
            echo "Packages are missing, and there is no sudo here: ask the administrator for 'apt-get install$missing', or add --no-install" >&2
            return 1
        fi
        sudo=sudo
    fi
    lists_update
    echo "== installing with ${sudo:+$sudo }apt-get:$missing"
    missing_install || { sleep 10 && missing_install; } || {
        echo "apt-get could not install$missing: install them by hand, or add --no-install" >&2
        return 1
    }
}

missing_install() {
    apt install -q -y --no-remove --no-install-recommends $missing >/dev/null
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

# What the lists of a fresh system lack they may have when they are new.  What is
# installed is not looked for, which takes a second each time.
packages_known() {
    local package
    known=
    for package; do
        ! package_is_here "$package" || { known="$known $package"; continue; }
        apt-cache show "$package" >/dev/null 2>&1 || lists_update
        ! apt-cache show "$package" >/dev/null 2>&1 || known="$known $package"
    done
}

# packages_extra WHAT PACKAGE... -- without them WHAT is left out, and the rest
# goes on.
packages_extra() {
    local what=$1
    shift
    packages_install "$@" ||
        echo "   going on without$(packages_missing "$@"): $what"
}

jobs() {
    nproc 2>/dev/null || echo 2
}

# What Hearth cannot be built without, what configure can do without, and what
# hearth-compare runs in and draws with: any gnuplot does, and one that a
# desktop has is not exchanged for another.
build_packages="gcc libc6-dev make autoconf automake libtool pkg-config|pkgconf:pkg-config"
library_packages="libdw-dev libfabric-dev libsodium-dev libxxhash-dev libssl-dev libinih-dev libjansson-dev"
page_packages="python3|:python3 gnuplot-nox|gnuplot-qt|gnuplot-x11:gnuplot"
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

# Programs that run with assertions (configure --enable-debug): those that have
# met most of the rules that were broken to see it, and in a few seconds; and
# those that ./check leaves to ./soak.
asserted_few="tests/base/report tests/page/node_cache.mpi tests/random/random.mpi"
asserted_more="tests/litmus/litmus.mpi tests/coherence/locks.mpi"
asserted_more="$asserted_more tests/page/pins.mpi tests/malloc/malloc.mpi"
asserted_more="$asserted_more tests/coherence/range_sync.mpi"

# Run a command with its output in a file; show the end of it if it fails.
quietly() {
    local log=$1
    shift
    file_try "$log" || return
    "$@" >"$log" 2>&1 && return 0
    temporary_try || return
    echo "   failed: $*" >&2
    tail -n 30 "$log" | sed 's/^/   | /' >&2
    echo "   (all of it: $log)" >&2
    return 1
}

# tests_follow BUILD -- one line for each test program, and every failure in full,
# as they come, with what was said about it.
tests_follow() {
    awk -v build="$1" '
    function said() {
        system("grep -a -v -e \"^ok \" -e \"^[A-Z]*: \" -e \"^# .* took \" " \
            stem ".log | " \
            "grep -B 8 -A 20 \"^not ok\" | head -n 60 | sed \"s/^/         | /\"")
    }
    function seconds() {
        time = "stat -c %.W " stem ".log && stat -c %.Y " stem ".trs"
        began = ended = 0
        time | getline began
        time | getline ended
        close(time)
        return ended - began
    }
    function report() {
        stem = build "/" name
        sub(/\.[a-z]*$/, "", stem)
        if (name != "")
            printf "        %-36s %4.0f s  %d passed%s%s\n", name, seconds(),
                n["PASS"],
                n["SKIP"] ? ", " n["SKIP"] " skipped" : "",
                bad ? ", " bad " FAILED" : ""
        fflush()
        if (bad)
            said()
        delete n
        bad = 0
    }
    /^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): / {
        if ($2 != name) { report(); name = $2 }
        sub(/:/, "", $1)
        n[$1]++
        if ($1 == "FAIL" || $1 == "ERROR" || $1 == "XPASS") {
            bad++
            print "        " $0
            fflush()
        }
    }
    END { report() }'
}

# results_count LOG -- passed, failed and skipped, as automake counted them: "#
# PASS: 12" and so on.
results_count() {
    awk '$1 == "#" && NF == 3 { n[$2] += $3 }
        END { print n["PASS:"] + n["XFAIL:"],
            n["FAIL:"] + n["XPASS:"] + n["ERROR:"], n["SKIP:"] + 0 }' \
        "$1" 2>/dev/null || echo 0 0 0
}

# table_print LINE... -- the first one is its head.
table_print() {
    echo
    printf '%s\n' "$@" | awk -F '|' '
        { for (i = 1; i <= NF; i++) {
            cell[NR, i] = $i
            if (length($i) > wide[i])
                wide[i] = length($i)
        }
        last = NF }
        END { for (r = 1; r <= NR; r++) {
            for (i = 1; i < last; i++)
                printf "%-*s  ", wide[i], cell[r, i]
            print cell[r, last]
        } }'
    echo
}

# top_check -- what would fail later, and then say less.
top_check() {
    case $top in
    *[[:space:]]*)
        echo "The folder '$top' has a blank in its name, which automake does not take: move or rename it" >&2
        return 1
        ;;
    esac
    mkdir -p "$top/build" 2>/dev/null
    file_try "$top/build/lock" && temporary_try
}

# file_try FILE -- whether it can be written, and if not, one line.
file_try() {
    { : >>"$1"; } 2>/dev/null && return
    echo "${1%/*} cannot be written: whose folder is it, and is the disk full?" >&2
    return 1
}

# temporary_try -- whether there is room for temporary files, and if not, one line:
# what fails for want of it tells other things.
temporary_try() {
    local folder=${TMPDIR:-/tmp} said
    said=$(
        file=$(mktemp "$folder/hearth.XXXXXX" 2>&1) || { echo "$file"; exit; }
        trap 'rm -f "$file"' EXIT
        head -c 1048576 /dev/zero 2>&1 >"$file"
    )
    test -n "$said" || return 0
    echo "temporary files cannot be written in $folder: ${said##*: }: make room, or set TMPDIR to a folder that has it" >&2
    return 1
}

# folder_take FOLDER -- one run at a time works in a build folder; the next
# waits.  It is let go by folder_give, or with the end of the run.
folder_take() {
    mkdir -p "$1" 2>/dev/null
    file_try "$1/lock" || return
    exec 8>>"$1/lock"
    command -v flock >/dev/null || return 0
    flock -n 8 || {
        echo "   another run is at work in $1; waiting for it"
        flock 8
    }
}

folder_give() {
    exec 8>&-
}

# A step that was interrupted has left files, but no stamp; and a stamp says
# where the sources were then and what they were configured with.  It is older
# than what the step was given, where that has changed since.
step_is_done() { # STAMP WORDS FILE...
    local stamp=$1 words=$2 file
    shift 2
    test -f "$stamp" && test "$(cat "$stamp")" = "$words" || return 1
    for file; do
        ! test "$file" -nt "$stamp" || return 1
    done
}

# A source folder that was configured itself keeps configure from any other
# folder, and make would take the objects in it for those that are asked for.
source_clean() {
    test -f "$top/config.status" || return 0
    echo "   the source folder itself was configured: make distclean there, first"
    make -C "$top" distclean >/dev/null 2>&1
    rm -f "$top/config.status" "$top/config.h" "$top/Makefile" "$top/libtool"
    find "$top" \( -path "$top/build" -o -path "$top/.git" \) -prune -o \
        \( -name '*.o' -o -name '*.lo' -o -name '*.la' \) -exec rm -f {} +
}

autogen_run() {
    local stamp=$top/build-aux/autogen.done
    source_clean
    rm -f "$stamp"
    "$top/autogen.sh" && echo "$top" >"$stamp"
}

# autogen_once LOG
autogen_once() {
    folder_take "$top/build" || return
    if ! test -x "$top/configure" || test -f "$top/config.status" ||
        ! step_is_done "$top/build-aux/autogen.done" "$top" \
            "$top/configure.ac" "$top/autogen.sh"; then
        quietly "$1" autogen_run || return
    fi
    folder_give
}

configure_in() {
    local folder=$1
    shift
    mkdir -p "$folder"
    (cd "$folder" && "$top/configure" "$@")
}

# configure_once FOLDER WORD... -- anew, from nothing, where the clone was moved.
configure_once() {
    local folder=$1 words="$top $*" stamp=$1/configure.done
    shift
    step_is_done "$stamp" "$words" "$top/build-aux/autogen.done" &&
        test -f "$folder/Makefile" && return
    find "$folder" -mindepth 1 -maxdepth 1 ! -name lock -exec rm -rf {} +
    quietly "$folder/configure.log" configure_in "$folder" "$@" &&
        echo "$words" >"$stamp"
}
