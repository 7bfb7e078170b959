# shellcheck shell=bash
# The checks of the tree use the helpers of the command-line tests; see there. They build, so they have the caller's environment.
any_environment=yes
. "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"

# The files of the source tree that match a find expression, build trees and the like aside.
tree_files() {
    (cd "$SOURCE" && find . \( -path './build*' -o -path './.git' -o -path './.cache' \) -prune -o -type f "$@" -print |
        sed 's|^\./||' | sort)
}

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
