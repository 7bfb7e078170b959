# shellcheck shell=bash
# The checks of the tree use the helpers of the command-line tests; see there. They build, so they have the caller's environment.
any_environment=yes
. "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"

# The files of the source tree that match a find expression, build trees and the like aside.
tree_files() {
    (cd "$SOURCE" && find . \( -path './build*' -o -path './.git' -o -path './.cache' \) -prune -o -type f "$@" -print |
        sed 's|^\./||' | sort)
}

# What a tool finds in a file depends on the file, the tool and its settings alone: a file that it found right is looked at again when
# one of them has changed. The build directory remembers which were right.
#
# not_yet_right NAME SETTINGS: of the files of the source tree that stdin lists, those that the check NAME has not found right as they
# are; SETTINGS is what else decides. now_right NAME SETTINGS, with the same list: all of them are right.
sums_of() { (cd "$SOURCE" && xargs -d '\n' sha256sum | sed "s/^/$1 /"); }
not_yet_right() {
    mkdir -p "$BUILD/right" && touch "$BUILD/right/$1" &&
        sums_of "$(sha256sum <<<"$2" | cut -c1-16)" | grep -vxF -f "$BUILD/right/$1" | cut -c84-
}
now_right() { sums_of "$(sha256sum <<<"$2" | cut -c1-16)" >right.new && mv right.new "$BUILD/right/$1"; }

# Where the stack lies depends on the environment, and what the caches do on that.
measure_build() { # ASSAY NAME
    local program=$WORKLOADS/known/x86-call-deep
    env -i PATH="$PATH" "$1" stat -q --json -- "$program" >"$2-stat.json" &&
        env -i PATH="$PATH" "$1" compare -q --json -- "$program" >"$2-compare.json"
}

# Whether the program of another build measures what ours does.
same_results() { # ASSAY NAME
    check "our own build measures" measure_build "$ASSAY" ours
    check "$2 measures" measure_build "$1" other
    holds "$2: stat counts alike" 'all(d[0][k] == d[1][k] for k in d[1] if k not in ("seconds", "mips", "by_thread"))' \
        ours-stat.json other-stat.json
    holds "$2: compare finds alike" 'd[0]["cycles"] == d[1]["cycles"] and d[0]["stack"] == d[1]["stack"]
        and all(near(a["error"][k], b["error"][k]) for a, b in zip(d[0]["samplers"], d[1]["samplers"]) for k in a["error"])' \
        ours-compare.json other-compare.json
}
