#!/usr/bin/env bash
# Another build than ours: the parts with assembly by gcc's link-time optimisation, in a directory outside of the tree with
# a blank in its path. It measures what our build measures. And clang has nothing to say against src; tree/readme runs what it makes
# of the plugin and the agent.
. "$(dirname "$0")/lib.sh"

build_with_lto() {
    meson setup -Dbuildtype=debug -Db_lto=true "gcc and LTO" "$SOURCE" &&
        ninja -C "gcc and LTO" assay-engine.so assay-agent.so tests/unit/native/test_lookahead
}
check "gcc builds the plugin, the agent and the copies of threads with LTO" build_with_lto
check "… the copies run" "gcc and LTO/tests/unit/native/test_lookahead"
cp "$ASSAY" "gcc and LTO/" && cp -r "$BUILD/machines" "gcc and LTO/"
same_results "$PWD/gcc and LTO/assay" "gcc, LTO"

if ! command -v clang >/dev/null; then
    skip "clang reads all of src" "clang is not installed"
elif [ "$(dirname "$BUILD")" != "$SOURCE" ]; then
    skip "clang reads all of src" "the build directory is not in the source tree"
else
    check "clang reads all of src without a warning" python3 "$SOURCE/tests/tree/clang_reads.py" "$BUILD"
    check "… which is a lot" test "${out%% *}" -gt 500
fi
