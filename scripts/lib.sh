# shellcheck shell=bash
# What quickstart and test share: the packages, and building a tree. Sourced; expects bash and the working directory at
# the top of the source tree.

say() { printf '%s\n' "== $*"; }
die() {
    printf '%s\n' "$*" >&2
    exit 1
}

# The packages of the named sections of scripts/packages.
packages_of() {
    local section
    for section in "$@"; do
        sed -n "/^\[$section\]/,/^\[/{s/#.*//;/^\[/d;s/[[:space:]]//g;/./p}" scripts/packages
    done
}

# What is installed, by its own name and by the names that it provides (NodeSource's nodejs is npm, too).
installed_packages() {
    dpkg-query -W -f '${db:Status-Status} ${Package},${Provides}\n' 2>/dev/null |
        sed -n 's/^installed //p' | tr ',' '\n' | awk '{ print $1 }'
}

# Those among the arguments that are not installed.
missing_of() {
    printf '%s\n' "$@" | grep -vxF -f <(installed_packages)
}

# How to become root: nothing, sudo, or a failure. sudo may ask for a password only where someone can type it.
root_prefix() {
    if [ "$(id -u)" -eq 0 ]; then
        return 0
    elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
        echo "sudo"
    else
        return 1
    fi
}

# Installs what is missing of the named sections; no network where nothing is.
install_packages() {
    if ! command -v dpkg-query >/dev/null; then
        say "not a Debian system: trust that what scripts/packages lists is there"
        return
    fi
    local wanted missing prefix
    mapfile -t wanted < <(packages_of "$@")
    mapfile -t missing < <(missing_of "${wanted[@]}")
    [ "${#missing[@]}" -gt 0 ] || return 0
    if ! prefix=$(root_prefix); then
        echo "Packages are missing, and this user may not install them. As root, run:" >&2
        die "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    fi
    say "installing: ${missing[*]}"
    local -a apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600) # another apt may run
    [ -z "$prefix" ] || apt=("$prefix" "${apt[@]}")
    "${apt[@]}" update || say "apt-get update failed; trying with the lists that are there"
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}" || die "apt-get could not install: ${missing[*]}"
}

# The versions of all our packages: when they change, what Meson has found out is stale.
package_stamp() {
    local all
    mapfile -t all < <(packages_of build test)
    if command -v dpkg-query >/dev/null; then
        dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\n' "${all[@]}" 2>/dev/null | sort
    fi
}

# Runs a command and shows its output only when it fails.
quietly() {
    local log status
    log=$(mktemp) || die "cannot make a temporary file"
    "$@" >"$log" 2>&1
    status=$?
    [ "$status" -eq 0 ] || cat "$log" >&2
    rm -f "$log"
    return "$status"
}

# Whether DIR is a finished build tree of this very checkout (and not of the one that it was copied from).
is_our_tree() {
    [ -f "$1/build.ninja" ] && python3 - "$1" 2>/dev/null <<'END'
import json, os, sys
info = json.load(open(sys.argv[1] + "/meson-info/meson-info.json", encoding="utf-8"))
sys.exit(os.path.realpath(info["directories"]["source"]) != os.path.realpath("."))
END
}

# configure_tree DIR OPTION…: sets up, or brings up to date when packages have changed. A tree of another checkout, one
# with other options, or one whose set-up broke off, is made anew; a directory that Meson never saw is left alone.
configure_tree() {
    local dir=$1
    shift
    if is_our_tree "$dir" && { [ $# -eq 0 ] || [ "$*" = "$(cat "$dir/options.stamp" 2>/dev/null)" ]; }; then
        [ "$(cat "$dir/packages.stamp" 2>/dev/null)" = "$(package_stamp)" ] && return 0
        quietly meson setup --reconfigure "$dir" "$@" || return 1
    else
        if [ -d "$dir/meson-private" ]; then
            rm -rf "$dir"
        elif [ -e "$dir" ] && ! rmdir "$dir" 2>/dev/null; then
            die "$PWD/$dir is there and is no build tree: move it away"
        fi
        quietly meson setup "$dir" "$@" || return 1
    fi
    package_stamp >"$dir/packages.stamp"
    echo "$*" >"$dir/options.stamp"
}

# The files that DIR builds and users run: all but those of tests/ and bench/ and the programs with known answers and events, which are
# more than half of the work.
product_of() {
    meson introspect --targets "$1" | python3 -c '
import json, os, sys
top, build = os.getcwd(), os.path.abspath(sys.argv[1])
for target in json.load(sys.stdin):
    folder = os.path.relpath(os.path.dirname(target["defined_in"]), top)
    if target["build_by_default"] and not folder.startswith(("tests", "bench", "workloads/known", "workloads/events")):
        print("\n".join(os.path.relpath(name, build) for name in target["filename"]))' "$1"
}

# The files that DIR builds and that the tests of a plain build need beside a sanitizer build: all but the unit tests that run on
# the latter alone (scripts/run_tests.py), and what only those need.
plain_part_of() {
    python3 - "$1" <<'END'
import json, os, subprocess, sys
def listed(what):
    return json.loads(subprocess.run(["meson", "introspect", what, sys.argv[1]], capture_output=True, check=True).stdout)
needs = {False: set(), True: set()}
for test in listed("--tests"):
    needs[any(name.endswith(":both") for name in test["suite"])].update(test["depends"])
for target in listed("--targets"):
    ours = "/tests/unit/" in target["defined_in"]
    wanted = target["id"] in needs[True] or not (ours and (target["id"] in needs[False] or target["type"] == "static library"))
    if target["build_by_default"] and wanted:
        print("\n".join(os.path.relpath(name, sys.argv[1]) for name in target["filename"]))
END
}

# make_tree DIR FILE…: no FILE is everything.
make_tree() {
    local begun=$SECONDS
    quietly ninja -C "$@" || return 1
    say "built $1/ in $((SECONDS - begun)) s"
}

build_tree() { # DIR OPTION…
    say "building $1/"
    configure_tree "$@" && make_tree "$1"
}

build_some() { # LISTING DIR: the files that the function LISTING names
    local files
    configure_tree "$2" || return 1
    mapfile -t files < <("$1" "$2")
    [ "${#files[@]}" -gt 0 ] && make_tree "$2" "${files[@]}"
}

build_product() { # DIR
    say "building $1/, without the tests"
    build_some product_of "$1"
}

build_plain_part() { # DIR
    say "building $1/, without the unit tests that run under sanitizers"
    build_some plain_part_of "$1"
}
