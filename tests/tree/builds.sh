#!/usr/bin/env bash
# Other builds than ours: by clang with link-time optimisation in a directory outside of the tree with a blank in its
# path, and the parts with assembly by gcc's link-time optimisation. They measure what our build measures.
# time-limit: 400
. "$(dirname "$0")/lib.sh"

program=$WORKLOADS/known/x86-call-deep

build() { # DIRECTORY COMPILER TARGET…
    local directory=$1 compiler=$2
    shift 2
    CC=$compiler meson setup -Dbuildtype=debug -Db_lto=true "$directory" "$SOURCE" && ninja -C "$directory" "$@"
}

# Where the stack lies depends on the environment, and what the caches do on that.
measure() { # ASSAY NAME
    env -i PATH="$PATH" "$1" stat -q --json -- "$program" >"$2-stat.json" &&
        env -i PATH="$PATH" "$1" compare -q --json -- "$program" >"$2-compare.json"
}

same_results() { # ASSAY NAME
    measure "$1" other
    holds "$2: stat counts alike" 'all(d[0][k] == d[1][k] for k in d[1] if k not in ("seconds", "mips", "by_thread"))' \
        ours-stat.json other-stat.json
    holds "$2: compare finds alike" 'd[0]["cycles"] == d[1]["cycles"] and d[0]["stack"] == d[1]["stack"]
        and all(near(a["error"][k], b["error"][k]) for a, b in zip(d[0]["samplers"], d[1]["samplers"]) for k in a["error"])' \
        ours-compare.json other-compare.json
}

check "our own build measures" measure "$ASSAY" ours

check "gcc builds the plugin and the agent with LTO" build gcc-lto gcc assay-engine.so assay-agent.so
cp "$ASSAY" gcc-lto/ && cp -r "$BUILD/machines" gcc-lto/
same_results "$PWD/gcc-lto/assay" "gcc, LTO"

if command -v clang >/dev/null; then
    check "clang builds Assay with LTO" build "clang and LTO" clang assay assay-engine.so assay-agent.so
    same_results "$PWD/clang and LTO/assay" "clang, LTO"
    same() { "$PWD/clang and LTO/assay" record -q --source=timer --allocations -o c.db -- python3 -c pass && test -s c.db; }
    check "clang, LTO: the agent works" same
else
    skip "clang builds Assay with LTO" "clang is not installed"
fi
