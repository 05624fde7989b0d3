# What ./machines and ./check know of machines of other kinds: a Debian of that kind
# in a folder, a cross build with it, and an emulator.  Read with ".", after
# prepare.sh, not run; $place is the folder, $install whether packages may be
# installed.
#
# machine_list                 what kinds there are, in lines
# machine_names                their names
# machine_take KIND all|build  its Debian and compiler, and (all) its emulator
# machine_build all|PROGRAM... a cross build in $build, with these tests, installed;
#                              "none": without tests
# machine_here                 a build of this machine's own, in $here
# machine_run FOLDER           boot with the files of FOLDER beside, and run its /job
#
# What cannot be had leaves one line in $lack, which says why.

# Kind; Debian's word for the machine, and GNU's; the emulator and its package; the
# Debian of programs; that of the kernel, and its package.  A program under an
# emulator of the user mode has this machine's kernel; "beside": and other ranks are
# this machine's own.
machine_kinds="
aarch64-4k   arm64    aarch64-linux-gnu      qemu-system-aarch64   qemu-system-arm   bookworm  trixie    linux-image-arm64
aarch64-16k  arm64    aarch64-linux-gnu      qemu-system-aarch64   qemu-system-arm   bookworm  trixie    linux-image-arm64-16k
ppc64el-64k  ppc64el  powerpc64le-linux-gnu  qemu-system-ppc64     qemu-system-ppc   bookworm  bookworm  linux-image-powerpc64le
riscv64      riscv64  riscv64-linux-gnu      qemu-riscv64-static   qemu-user-static  trixie    -         -
aarch64-beside  arm64  aarch64-linux-gnu     qemu-aarch64-static   qemu-user-static  bookworm  -         -
"

# What a Debian of another kind has: to build with, and to run jobs in.
machine_packages="mpich libmpich-dev libc6-dev libsodium-dev libjansson-dev libxxhash-dev
    libssl-dev libinih-dev check bash dash coreutils busybox-static gawk grep sed
    procps libc-bin base-files libatomic1"

machine_names() {
    echo "$machine_kinds" | awk 'NF { print $1 }'
}

machine_list() {
    echo "$machine_kinds" | awk 'NF { printf "%-14s %-22s %-20s %s\n", $1, $3, $4, $8 }'
}

# apt_of SUITE COMMAND... -- an apt of the other architecture, beside this machine's
# own, from where that has its packages.
apt_of() {
    local suite=$1 at=$place/apt-$arch-$1 mirror
    shift
    if ! test -e "$at/ok"; then
        mirror=$(sed -n -e 's/^URIs: *//p' \
            -e 's/^deb \(\[.*\] *\)*\([a-z]*:[^ ]*\) .*/\2/p' \
            /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
            grep '/debian/*$' | head -n 1)
        test -n "$mirror" || { lack="apt has no source of Debian here"; return 1; }
        mkdir -p "$at/lists/partial" "$at/cache/archives/partial"
        : >"$at/status"
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$at/list"
        cat >"$at/conf" <<CONF
Dir::Etc::sourcelist "$at/list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$at/lists";
Dir::State::status "$at/status";
Dir::Cache "$at/cache";
APT::Sandbox::User "";
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
CONF
        APT_CONFIG=$at/conf apt-get update -q >"$at/log" 2>&1 &&
            touch "$at/ok" || {
            lack="no Debian $suite for $arch: $(tail -n 1 "$at/log")"
            return 1
        }
    fi
    (cd "$at" && APT_CONFIG=$at/conf "$@")
}

# ---- a Debian ----

# A link that leads out of the folder leads back into it.
links_turn() {
    find "$root"/usr/lib* -type l -lname '/*' | while read -r link; do
        to=$(readlink "$link")
        case $to in /lib/*) to=/usr$to ;; esac
        ln -sfn "$(realpath -ms --relative-to="$(dirname "${link#"$root"}")" \
            "$to")" "$link"
    done
}

# The first process of the machine: what a job needs, the job, and the end.
init_write() {
    cat >"$root/init" <<'INIT'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
$b mkdir -p /dev/shm
$b mount -t tmpfs -o size=60% shm /dev/shm
$b mount -t tmpfs tmp /tmp
$b ifconfig lo 127.0.0.1 up
$b hostname machine
export PATH=/opt/hearth/bin:/usr/sbin:/usr/bin HOME=/root
echo "BEGIN page=$(getconf PAGESIZE) kernel=$(uname -r)"
bash /job 2>&1
echo END
$b poweroff -f
INIT
    chmod +x "$root/init"
}

root_make() {
    local folder deb
    test "$(cat "$root/ok" 2>/dev/null)" != "$suite $machine_packages" || return 0
    rm -rf "$root"
    apt_of "$suite" apt-get install -q -y -d --no-install-recommends \
        $machine_packages >"$place/$arch.log" 2>&1 || {
        lack=${lack:-"no packages of Debian $suite for $arch: $(tail -n 1 "$place/$arch.log")"}
        return 1
    }
    mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{proc,sys,dev,tmp,root,etc}
    for folder in bin sbin lib lib64; do
        ln -s "usr/$folder" "$root/$folder"
    done
    for deb in "$place/apt-$arch-$suite/cache/archives"/*.deb; do
        dpkg-deb --fsys-tarfile "$deb" |
            tar -C "$root" --keep-directory-symlink --no-same-owner -xf - ||
            { lack="$deb cannot be unpacked"; return 1; }
    done
    links_turn
    echo 'root:x:0:0:root:/root:/bin/bash' >"$root/etc/passwd"
    echo 'root:x:0:' >"$root/etc/group"
    echo '127.0.0.1 localhost machine' >"$root/etc/hosts"
    ln -sf gawk "$root/usr/bin/awk"
    init_write
    echo "$suite $machine_packages" >"$root/ok"
}

# Unpacked; its file is $kernel_file.
kernel_make() {
    local at=$place/kernel-$kind package
    test "$kernel_suite" != - || return 0
    if ! test -e "$at/ok"; then
        package=$(apt_of "$kernel_suite" apt-cache depends "$kernel_package" |
            awk '$1 == "Depends:" && /linux-image/ { print $2; exit }')
        mkdir -p "$at" && test -n "$package" &&
            apt_of "$kernel_suite" apt-get download -q "$package" \
                >"$at.log" 2>&1 &&
            dpkg-deb -x "$place/apt-$arch-$kernel_suite/${package}"_*.deb "$at" &&
            touch "$at/ok" || {
            lack=${lack:-"no kernel $kernel_package of Debian $kernel_suite"}
            return 1
        }
    fi
    kernel_file=$(echo "$at"/boot/vmlinu*)
}

# machine_take KIND all|build -- sets what the others use.
machine_take() {
    local much=$2 tools tool
    set -- $(echo "$machine_kinds" | awk -v kind="$1" '$1 == kind')
    kind=$1 arch=$2 triple=$3 emulator=$4 suite=$6 kernel_suite=$7 kernel_package=$8
    root=$place/$arch lack=
    if test "$install" = yes; then
        packages_install debian-archive-keyring gcc-$triple \
            $(test $much = build || echo cpio $5) \
            $(test $much = build || test "$kernel_suite" != - || mpi_packages mpich) ||
            { lack="apt-get could not install gcc-$triple and $5"; return 1; }
    fi
    tools="$triple-gcc apt-get"
    test $much = build || tools="$tools $emulator cpio"
    for tool in $tools; do
        command -v "$tool" >/dev/null || { lack="there is no $tool"; return 1; }
    done
    folder_take "$place/$arch.d" || { lack="$place cannot be written"; return 1; }
    root_make && { test $much = build || kernel_make; }
    folder_give
    test -z "$lack"
}

# ---- a cross build ----

# Wrappers by which configure finds an MPI and libraries of the other machine
# (doc/packages.md).  The C library is that of the other Debian, too, not the
# compiler's own.
wrappers_write() {
    mkdir -p "$wrappers"
    cat >"$wrappers/mpicc" <<WRAPPER
#!/bin/sh
exec $triple-gcc --sysroot="$root" -B"$root/usr/lib/$triple" \
    -L"$root/usr/lib/$triple" -I"$root/usr/include/$triple/mpich" "\$@" \
    -Wl,-rpath-link,"$root/usr/lib/$triple" -lmpich
WRAPPER
    cat >"$wrappers/pkg-config" <<WRAPPER
#!/bin/sh
PKG_CONFIG_LIBDIR="$root/usr/lib/$triple/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root" \
    exec pkg-config "\$@"
WRAPPER
    chmod +x "$wrappers/"*
}

machine_compile() { # all|none|PROGRAM...
    make -C "$build" -j"$(jobs)" all || return
    case $* in
    none) ;;
    all) make -C "$build" -j"$(jobs)" check TESTS= ;;
    *)
        make -C "$build" -j"$(jobs)" check TESTS= check_LTLIBRARIES= \
            check_PROGRAMS="$*"
        ;;
    esac
}

# What starts one program of the other machine here, if this machine has it.
user_emulator() {
    local word=qemu-${triple%%-*}-static
    word=${word/powerpc/ppc}
    ! command -v "$word" >/dev/null || echo "$word -L $root"
}

machine_build() {
    local wrappers=$place/bin-$arch
    wrappers_write
    configure_once "$build" --host=$triple --build="$(gcc -dumpmachine)" \
        CC="$wrappers/mpicc" PKG_CONFIG="$wrappers/pkg-config" \
        MPIEXEC=mpiexec.mpich EMULATOR="$(user_emulator)" \
        --prefix=/opt/hearth --enable-werror &&
        quietly "$build/make.log" machine_compile "$@" &&
        quietly "$build/install.log" make -C "$build" install DESTDIR="$root"
}

machine_here() {
    here=$top/build/machines-here
    folder_take "$here" || return
    configure_once "$here" CC=mpicc.mpich --enable-werror &&
        quietly "$here/make.log" make -C "$here" -j"$(jobs)" all
    set -- $?
    folder_give
    return "$1"
}

# ---- an emulator ----

# A program of the other machine under its own name.
user_wrap() { # FILE PROGRAM
    printf '#!/bin/sh\nexec %s -L "%s" "%s" "$@"\n' "$emulator" "$root" "$2" >"$1"
    chmod +x "$1"
}

# As programs of this machine, each with an emulator of its own, which has something to
# do for each page of a mapping: a heap of terabytes would take it minutes.
user_run() {
    local program at
    export HEARTH_HEAP=1g
    at=$1/wrapped
    mkdir -p "$at"
    for program in "$root"/opt/hearth/bin/hearth-*; do
        user_wrap "$at/$(basename "$program")" "$program"
    done
    for program in "$1"/hearth/tests/*.mpi; do
        test -f "$program" || continue
        mv "$program" "$program.run"
        user_wrap "$program" "$program.run"
    done
    sed -i "s,^cd /hearth\$,cd $1/hearth," "$1/job"
    echo "BEGIN page=$(getconf PAGESIZE) kernel=$(uname -r)"
    PATH=$at:$PATH timeout 1500 bash "$1/job" 2>&1 && echo END
}

# What the kernel unpacks before its first process: all but what compilers need.
initrd_make() {
    (cd "$root" && find . \( -path ./usr/include -o -path ./usr/lib/gcc -o \
        -path ./usr/share -o -path "./usr/lib/$triple/gconv" -o -name '*.a' -o \
        -name 'lib*san.so*' -o -path "./usr/bin/$triple-*" -o -name perl \) \
        -prune -o -print | cpio -o -H newc --quiet -R 0:0) >"$1"
    (cd "$2" && find . | cpio -o -H newc --quiet -R 0:0) >>"$1"
}

machine_options() {
    case $arch in
    arm64)
        echo -M virt,gic-version=3 -cpu max,pauth-impdef=on
        ;;
    ppc64el)
        echo -M pseries,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off \
            -cpu POWER9 -vga none
        ;;
    esac
}

machine_console() {
    case $arch in arm64) echo ttyAMA0 ;; *) echo hvc0 ;; esac
}

machine_run() {
    local initrd=$1.cpio
    case $emulator in
    *-static)
        user_run "$1"
        return
        ;;
    esac
    initrd_make "$initrd" "$1"
    timeout 3600 $emulator $(machine_options) -smp 2 -m 4096 \
        -accel tcg,thread=multi -kernel "$kernel_file" -initrd "$initrd" \
        -append "console=$(machine_console) quiet loglevel=4 rdinit=/init" \
        -nographic -nodefaults -serial stdio -no-reboot -monitor none \
        </dev/null 2>&1 | sed -un -e 's,\r$,,' -e '/BEGIN page=/,/^END$/p' | tee "$1.out"
    rm -f "$initrd"
    grep -q '^END$' "$1.out"
    set -- $? "$1.out"
    rm -f "$2"
    return "$1"
}
