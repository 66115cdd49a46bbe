#!/usr/bin/env bash
# Installs what the servers of this catalogue need, on Debian 12.
#
#   runtimes.sh [NAME…]         all, or those named (ruby: ruby-3.3, too)
#   runtimes.sh --list [NAME…]  shows what is there, and installs nothing
#
# Packages of the distribution are installed as root, or by sudo. Language packages at locked versions, and what Debian 12 has too old, go into
# throng/runtimes in the user's cache, whose bin/ throng looks into first; the system stays as it is. What is there is left alone, and what failed is
# tried again. On other systems throng takes what is in PATH.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${XDG_CACHE_HOME:-${HOME:?no cache directory: set HOME or XDG_CACHE_HOME}/.cache}/throng/runtimes

names=(c cpp haskell erlang go node java java-gson python pypy python-free-threaded python-free-threaded-tornado ruby ruby-3.3)

# Packages of the distribution: the runtime itself, or what making it needs.
to_build="debian-archive-keyring dpkg-dev gcc libc6-dev make pkg-config zlib1g-dev"
declare -A packages=(
    [c]="gcc libc6-dev libjansson-dev libuv1-dev"
    [cpp]="g++ libev-dev nlohmann-json3-dev"
    [haskell]="ghc libghc-aeson-dev libghc-network-dev"
    [erlang]="erlang-base erlang-jiffy"
    [go]="golang-go"
    [node]="nodejs"
    [java]="debian-archive-keyring libstdc++6 patchelf zlib1g"
    # Apart from the JDK, which may come from elsewhere.
    [java-gson]="libgoogle-gson-java"
    [python]="python3 python3-venv"
    [pypy]="pypy3 pypy3-venv"
    [python-free-threaded]="$to_build libffi-dev libssl-dev"
    # Apart from the interpreter, whose build takes longer. With what that needs, where it must be made anew.
    [python-free-threaded-tornado]="$to_build libffi-dev libssl-dev python3 python3-venv"
    [ruby]="ruby ruby-cool.io ruby-eventmachine"
    [ruby-3.3]="$to_build g++ ruby"
)

# Any of these in PATH will do, from this version on.
declare -A elsewhere=([go]="go version 1.19" [node]="node --version 18" [java]="javac --version 21")

# ── What is made in the cache: a function for each, named after the runtime.

make_python() {
    environment python3 requirements.txt
    .venv/bin/python -c "import gevent, tornado, twisted, uvloop"
    wrap python3 "$PWD/.venv/bin/python"
}

make_pypy() {
    environment pypy3 requirements-pypy-tools.txt requirements-pypy.txt
    .venv/bin/python -c "import tornado, twisted"
    wrap pypy3 "$PWD/.venv/bin/python"
}

make_python_free_threaded() {
    build python3.13 --disable-gil --disable-test-modules --without-ensurepip
    make -C source altinstall
    bin/python3.13t -c "import asyncio, select, socketserver, sys, threading; sys.exit(sys._is_gil_enabled())"
    wrap python3.13t "$PWD/bin/python3.13t"
}

make_python_free_threaded_tornado() {
    local python=$root/bin/python3.13t site
    # Tornado imports ssl: an interpreter that was built without libssl-dev is made anew.
    if is_there python-free-threaded; then
        "$python" -c "import ssl" || rm "$root/python-free-threaded.recipe" "$root/python-free-threaded/begun"
    fi
    is_there python-free-threaded || (make_runtime python-free-threaded)
    TORNADO_EXTENSION=0 environment python3 requirements-pypy-tools.txt requirements-free-threaded.txt
    site=$("$python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
    mkdir -p "$site"
    rm -rf "$site"/tornado*
    cp -R .venv/lib/python3*/site-packages/tornado* "$site"
    "$python" -m compileall -q "$site/tornado"
    # Fails where an import has switched the GIL on.
    "$python" -c "import sys, tornado.httpserver, tornado.tcpserver, tornado.web; sys.exit(sys._is_gil_enabled())"
}

make_ruby_3_3() {
    # What a build would find by chance is left out by name, so that it is the same everywhere.
    build ruby3.3 --disable-dtrace --disable-install-doc --disable-rjit --disable-yjit --without-gmp --without-valgrind \
        --with-out-ext=bigdecimal,dbm,fiddle,gdbm,openssl,psych,readline,syslog
    # Not the bundled gems, which would be downloaded; nothing may then ask for gems.
    make -C source install-bin install-lib install-ext install-arch
    bin/ruby --disable-gems -e "require 'socket'; require 'io/wait'; Thread.new { Thread::Queue.new << 1 }.join"
    wrap ruby3.3 "$PWD/bin/ruby" --disable-gems
}

# Virtual threads need a JDK of 21 or later. Debian 13's asks for a newer C library than Debian 12's, which is unpacked with it; nothing else uses that.
make_java() {
    newer download {libc6,openjdk-25-jre-headless,openjdk-25-jdk-headless}/trixie
    for package in *.deb; do dpkg-deb --extract "$package" .; done
    local libc=(usr/lib/*/libc.so.6) home program link loader
    local libraries=$PWD/${libc[0]%/*}
    home=$(find "$PWD/usr/lib/jvm" -mindepth 1 -maxdepth 1 -type d -name 'java-25-*')
    # Links of the packages that lead into /etc lead to what was unpacked here.
    find "$home" -type l -lname '/*' | while read -r link; do
        if [[ -e $PWD$(readlink "$link") ]]; then ln -sfn "$PWD$(readlink "$link")" "$link"; fi
    done
    for program in java javac; do
        loader=$(patchelf --print-interpreter "$home/bin/$program")
        # DT_RPATH, which holds for the libraries that are loaded later, too: the JVM is one.
        patchelf --set-interpreter "$libraries/${loader##*/}" --force-rpath --set-rpath "\$ORIGIN/../lib:$libraries" "$home/bin/$program"
        "$home/bin/$program" --version
        wrap "$program" "$home/bin/$program"
    done
    rm -- *.deb
}

# environment INTERPRETER REQUIREMENTS…: a virtual environment of the distribution's interpreter, for which the listed wheels are. pip takes
# nothing that is not listed with its digest, and builds with what is installed.
environment() {
    "/usr/bin/$1" -m venv --clear .venv
    for requirements in "${@:2}"; do
        .venv/bin/python -m pip --no-input install --no-deps --require-hashes --no-build-isolation --requirement "$here/python/$requirements"
    done
}

# build PACKAGE CONFIGURE-ARGUMENT…: makes Debian 13's source package in source/, for this directory. Without optimisation by profiles, which takes several
# times as long as the rest.
build() {
    if [[ ! -d source ]]; then
        rm -rf unpacked
        newer --download-only source "$1/trixie"
        # apt has checked it against the signed release file.
        dpkg-source --no-check --extract "$1"_*.dsc unpacked
        # The configure that was released counts as newer than what patches changed: make would ask for autoconf to make it anew.
        touch unpacked/configure
        mv unpacked source
    fi
    if [[ ! -e source/Makefile ]]; then (cd source && ./configure --prefix="${PWD%/*}" "${@:2}"); fi
    make -C source --jobs="$(nproc)"
}

# newer ARGUMENT…: apt-get with a list and directories of its own, in which Debian 13 stands. The mirror is that of the system's own sources.
newer() {
    local apt=$root/apt mirror
    # shellcheck disable=SC2016 # apt's variables
    mirror=$(apt-get indextargets --format '$(REPO_URI)|$(ORIGIN)|$(LABEL)|$(COMPONENT)' 'Created-By: Packages' | sed -n 's/|Debian|Debian|main$//p' | head -n 1)
    : "${mirror:?apt knows no mirror of Debian yet: run apt-get update as root}"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    printf '%s\n' "Types: deb deb-src" "URIs: $mirror" "Suites: trixie" "Components: main" \
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg" >"$apt/debian.sources"
    local own=(apt-get --quiet -o "Dir::Etc::SourceList=$apt/debian.sources" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache")
    "${own[@]}" update
    "${own[@]}" "$@"
}

# wrap NAME WORD…: a script in bin/ that becomes these words. (An interpreter finds its libraries by the path that it is started with.)
wrap() {
    mkdir -p "$root/bin"
    printf '#!/bin/sh\nexec%s "$@"\n' "$(printf ' %q' "${@:2}")" >"$root/bin/.$1.new"
    chmod +x "$root/bin/.$1.new"
    # Renamed into place: a server may be starting from the old one.
    mv "$root/bin/.$1.new" "$root/bin/$1"
}

# ── What is there, and installing the rest.

function_of() { echo "make_${1//[-.]/_}"; }
is_made_here() { declare -F "$(function_of "$1")" >/dev/null; }

# What determines the outcome; it is written when all is done, and where it changes, the runtime is made anew.
recipe() {
    {
        declare -f "$(function_of "$1")" environment build newer wrap
        cat "$here"/python/requirements{-pypy-tools,-pypy,}.txt
        if [[ $1 == python-free-threaded-tornado ]]; then
            # It lies in the interpreter's directory, and goes with it. Its list is no matter of the others, which would be made anew.
            recipe python-free-threaded
            cat "$here/python/requirements-free-threaded.txt"
        fi
    } | sha256sum
}

missing_packages() {
    for package in ${packages[$1]}; do
        dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
    done
}

is_enough_elsewhere() {
    [[ -n ${elsewhere[$1]:-} ]] || return 1
    local words version
    read -ra words <<<"${elsewhere[$1]}"
    version=$("${words[@]:0:2}" 2>/dev/null | grep -oE '[0-9]+(\.[0-9]+)*' | head -n 1) || return 1
    printf '%s\n' "${words[2]}" "$version" | sort --check=quiet --version-sort
}

is_there() {
    is_enough_elsewhere "$1" && return
    if is_made_here "$1"; then
        [[ $(cat "$root/$1.recipe" 2>/dev/null) == "$(recipe "$1")" ]]
    else
        [[ -z $(missing_packages "$1") ]]
    fi
}

list() {
    for name in "$@"; do
        if is_there "$name"; then echo "present  $name"; else echo "missing  $name"; fi
    done
}

install_packages() {
    local missing=()
    mapfile -t missing < <(for name in "$@"; do is_there "$name" || missing_packages "$name"; done | sort --unique)
    ((${#missing[@]})) || return 0
    local as_root=() command=(apt-get install --yes --no-install-recommends "${missing[@]}") log=$root/logs/packages.log
    if ((EUID != 0)); then as_root=(sudo --non-interactive); fi
    echo "installing ${missing[*]} (log: $log)"
    # Old lists name files that the mirror no longer has. Where they cannot be renewed, the old ones may do.
    "${as_root[@]}" apt-get --quiet update >"$log" 2>&1 || true
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${command[@]}" -o DPkg::Lock::Timeout=300 >>"$log" 2>&1 ||
        { tail -n 5 "$log"; echo "error: as root, on Debian 12: ${command[*]}"; }
}

install() {
    local name failed=()
    mkdir -p "$root/logs"
    exec 9>"$root/lock"
    flock 9
    install_packages "$@"
    for name in "$@"; do
        if is_there "$name"; then continue; fi
        if is_made_here "$name"; then
            echo "making $name (log: $root/logs/$name.log)"
            # A shell of its own, so that it ends where a step fails.
            bash "${BASH_SOURCE[0]}" --make "$name" >"$root/logs/$name.log" 2>&1 || tail -n 20 "$root/logs/$name.log"
        fi
        is_there "$name" || failed+=("$name")
    done
    list "$@"
    if ((${#failed[@]})); then
        echo "error: missing: ${failed[*]}; what failed stands above, and ${BASH_SOURCE[0]} ${failed[*]} tries again" >&2
        return 1
    fi
}

# All, or those meant: a name stands for its variants, too.
meant() {
    if (($# == 0)); then printf '%s\n' "${names[@]}"; fi
    for word in "$@"; do
        printf '%s\n' "${names[@]}" | grep -E "^${word//./\\.}(-|\$)" || { echo "error: there is no runtime '$word': ${names[*]}" >&2; return 2; }
    done
}

make_runtime() {
    local recipe
    recipe=$(recipe "$1")
    # What the same recipe began goes on; what another one made is in the way.
    [[ $(cat "$root/$1/begun" 2>/dev/null) == "$recipe" ]] || rm -rf "${root:?}/$1"
    mkdir -p "$root/$1"
    cd "$root/$1"
    echo "$recipe" >begun
    "$(function_of "$1")"
    rm -rf source
    echo "$recipe" >"$root/$1.recipe"
}

action=install
case ${1-} in
--list) action=list; shift ;;
--make) make_runtime "$2"; exit ;;
-*) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit ;;
esac
asked=$(meant "$@") || exit 2
mapfile -t asked <<<"$asked"
"$action" "${asked[@]}"
