#!/usr/bin/env bash
# Another build than ours: the parts with assembly by gcc's link-time optimisation, in a directory outside of the tree with
# a blank in its path. It measures what our build measures. And clang has nothing to say against src and the unit tests; tree/readme runs what it makes
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

# What a file includes decides, too: where a header has changed, all are read.
clang_reads() {
    local reader=$SOURCE/tests/tree/clang_reads.py settings files new
    settings=$(clang --version && cat "$reader" "$BUILD"/src/*/*.inc && cd "$SOURCE" &&
        tree_files '(' -name '*.h' -o -name '*.inc' -o -name meson.build ')' | xargs -d '\n' sha256sum)
    files=$(python3 "$reader" "$BUILD") && mapfile -t new < <(not_yet_right clang "$settings" <<<"$files") &&
        { [ "${#new[@]}" -eq 0 ] || python3 "$reader" "$BUILD" "${new[@]}"; } && now_right clang "$settings" <<<"$files"
}
if ! command -v clang >/dev/null; then
    skip "clang reads all of src and the unit tests" "clang is not installed"
elif [ "$(dirname "$BUILD")" != "$SOURCE" ]; then
    skip "clang reads all of src and the unit tests" "the build directory is not in the source tree"
else
    check "clang reads all of src and the unit tests without a warning" clang_reads
    check "… which is a lot" test "$(python3 "$SOURCE/tests/tree/clang_reads.py" "$BUILD" | wc -l)" -gt 800
fi
