# What ./matrix and ./check take from elsewhere: MPI libraries as wheels, which
# are whole installations, and other Debians in a folder.  Read with ".", after
# prepare.sh, not run.
#
# wheels_take FOLDER WHEEL...    an MPI in FOLDER, of these wheels
# debian_take FOLDER SUITE PACKAGE...   a Debian in FOLDER, with these packages
# debian_run FOLDER COMMAND...   run a command there
# clang_environment              the MPIs' wrappers compile with clang
#
# The first two leave what is there as it is; one run at a time works in a folder.
# What cannot be had leaves one line in $lack, which says why.

# said_last LOG -- the last line of it that says anything, in one piece.
said_last() {
    grep -v '^ *$' "$1" | grep -v -i '^\(hint\|note\|\[notice\]\)' | tail -n 1 |
        cut -c 1-160
}

# made FOLDER WORDS -- whether these words were put there, and nothing else.
made() {
    test "$(cat "$1/.made" 2>/dev/null)" = "$2"
}

wheels_take() {
    local folder=$1 log=$1.log python
    shift
    lack=
    folder_take "$folder.d" || { lack="${folder%/*} cannot be written"; return 1; }
    if ! made "$folder" "$*"; then
        python=$(command -v python3) ||
            { lack="wheels need python3"; folder_give; return 1; }
        rm -rf "$folder"
        if ! "$python" -m venv "$folder" >"$log" 2>&1; then
            lack="no private folder for wheels (python3 -m venv): $(said_last "$log")"
        elif ! "$folder/bin/python" -m pip install -q --only-binary :all: "$@" \
            >"$log" 2>&1; then
            lack="pip cannot install $*: $(said_last "$log")"
        else
            echo "$*" >"$folder/.made"
        fi
    fi
    folder_give
    test -z "$lack"
}

# debian_lack -- why no other Debian can be made here.
debian_lack() {
    local tool
    test "$(id -u)" = 0 || { echo "a chroot needs root"; return; }
    for tool in debootstrap chroot unshare; do
        command -v $tool >/dev/null || { echo "there is no $tool"; return; }
    done
    unshare --mount true 2>/dev/null || echo "there are no mount namespaces here"
}

# debian_make FOLDER SUITE PACKAGE... -- anew, unless what is there lacks packages alone.
debian_make() {
    local folder=$1 suite=$2 packages
    shift 2
    case $(cat "$folder/.made" 2>/dev/null) in
    "$suite "*)
        chroot "$folder" sh -c 'apt-get -q update &&
            exec apt-get -q -y --no-install-recommends install "$@"' sh "$@" && return
        ;;
    esac
    rm -rf "$folder"
    packages=$(echo "$@" | tr ' ' ',')
    debootstrap --variant=minbase --include="$packages" "$suite" "$folder"
}

debian_take() {
    local folder=$1 log=$1.log
    shift
    lack=$(debian_lack)
    test -z "$lack" || return 1
    folder_take "$folder.d" || { lack="${folder%/*} cannot be written"; return 1; }
    if ! made "$folder" "$*"; then
        if debian_make "$folder" "$@" >"$log" 2>&1; then
            rm -rf "$folder/var/cache/apt/archives/"*.deb
            echo "$*" >"$folder/.made"
        else
            lack="debootstrap cannot make Debian $1: $(said_last "$log")"
        fi
    fi
    folder_give
    test -z "$lack"
}

# debian_run FOLDER COMMAND... -- with this source folder under its own name, and
# a /dev/shm of its own.  What is mounted goes with the command.
debian_run() {
    local folder=$1
    shift
    mkdir -p "$folder$top"
    env -i HOME=/root LANG=C.UTF-8 TERM=dumb \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        $cell_settings unshare --mount sh -c '
            root=$1 top=$2
            shift 2
            mount --bind "$top" "$root$top" && mount -t proc proc "$root/proc" &&
                mount --rbind /sys "$root/sys" &&
                mount --rbind /dev "$root/dev" &&
                mount -t tmpfs tmpfs "$root/dev/shm" || exit
            exec chroot "$root" sh -c "cd \"\$0\" && exec \"\$@\"" "$top" "$@"
        ' sh "$folder" "$top" "$@"
}
