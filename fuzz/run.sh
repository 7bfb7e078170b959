#!/usr/bin/env bash
# Fuzzes one target with libFuzzer and the address and undefined-behaviour sanitizers:
#   fuzz/run.sh TARGET SECONDS [LIBFUZZER OPTIONS…]
# TARGET is one of fuzz/targets.txt. Seeds come from fuzz/corpus/TARGET and stay as they are; what is found on the way is
# kept in $FUZZ_DIR (default build/fuzz) for the next run, and so is an input that makes the target fail. Which files of src a
# target uses, and which libraries, a build of Assay knows: $BUILD (default build).
# $FUZZ_OPTIMIZE is the level at which it is compiled (default 1); 0 compiles in half the time, for short runs. $FUZZ_OBJECTS is where
# the objects of the sources stay (default $FUZZ_DIR/objects).
# Ends with 0 when nothing was found, 77 when there is no clang with libFuzzer, otherwise with the fuzzer's status.
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 2 ] || { echo "usage: fuzz/run.sh TARGET SECONDS [LIBFUZZER OPTIONS…]" >&2 && exit 2; }
target=$1 seconds=$2
shift 2
grep -q "^$target:" "$source/fuzz/targets.txt" || { echo "fuzz/run.sh: no target '$target' in fuzz/targets.txt" >&2 && exit 2; }
dir=${FUZZ_DIR:-$source/build/fuzz}
build=${BUILD:-$source/build}
[ -e "$build/assay" ] || { echo "fuzz/run.sh: there is no build in $build (ninja -C build; \$BUILD names another)" >&2 && exit 2; }
build=$(cd "$build" && pwd)
mkdir -p "$dir/$target" || exit 2
dir=$(cd "$dir" && pwd)
cd "$source" || exit 2

CLANG=${CLANG:-clang}
# The flags of all targets for all of them, so that they share the objects.
words() { sed -n 's/^[a-z0-9_]*: *//p' fuzz/targets.txt | tr ' ' '\n' | grep "^$1" | sort -u; }
flags="-std=gnu17 -D_GNU_SOURCE -gline-tables-only -O${FUZZ_OPTIMIZE:-1} -I$source/include -I$source/src -I$build/src $(words -I | sed "s|^-I|&$source/|") $(words -D)"
sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=all"
echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n); int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n == 77; }' |
    $CLANG -fsanitize=fuzzer -x c - -o "$dir/probe" 2>/dev/null ||
    { echo "fuzz/run.sh: no $CLANG with libFuzzer (Debian: clang, libclang-rt-14-dev)" >&2 && exit 77; }

# Compiles the sources whose objects are not newer than they, every header and the compiler, all in one process of clang's compiler proper
# (-cc1): to start clang takes as long as to compile a file. Objects and the program are made anew and put in place at once, so
# that two runs do not disturb each other.
objects=${FUZZ_OBJECTS:-$dir/objects}/O${FUZZ_OPTIMIZE:-1}
mkdir -p "$objects" && objects=$(cd "$objects" && pwd) || exit 2
newest_header=$(find include src tests fuzz -name '*.h' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-)
object_of() { local name=${1//\//_} && echo "$objects/${name%.c}.o"; }
is_fresh() {
    local than
    for than in "$2" "$newest_header" fuzz/targets.txt fuzz/run.sh "$(command -v "$CLANG")"; do [ "$1" -nt "$than" ] || return; done
}
compile() {
    local file made=$objects/new.$$ command
    mkdir -p "$made" || return
    for file in "$@"; do
        is_fresh "$(object_of "$file")" "$file" || ln -s "$source/$file" "$made/${file//\//_}" || return
    done
    (
        cd "$made" && set -- *.c && [ -e "$1" ] || exit 0
        # shellcheck disable=SC2086 # $flags and $sanitizers are lists of words
        command=$($CLANG -### $flags $sanitizers -fsanitize=fuzzer-no-link -c "$1" 2>&1 | grep '"-cc1"' |
            sed -E 's/"-main-file-name" "[^"]*"//; s/"-o" "[^"]*"//; s/"-disable-free"//; s/ "[^"]*"$//')
        eval "$command" '"$@"' && mv ./*.o "$objects"
    ) && rm -r "$made"
}
# The files of src that these objects need and that are not among them: the members that the linker takes out of the archives of the
# build. A list by hand would miss what a change adds.
needed_by() {
    local members
    members=$($CLANG -r -nostdlib -Wl,--strip-debug,--trace "$@" -Wl,--start-group "$build"/src/*/*.a -Wl,--end-group -o /dev/null |
        sed -nE 's|.*[/(]([^/]+\.c)\.o\)?$|\1|p' | sort -u | paste -sd '|')
    [ -z "$members" ] || find src -name '*.c' | grep -E "/($members)\$"
}
# The libraries that assay is linked with; the linker takes those that are needed.
libraries() {
    sed -n '/^build assay: /,/^$/s/^ LINK_ARGS = //p' "$build/build.ninja" | tr ' ' '\n' | grep -E '^(-l|-pthread|/.*\.so$)' | sort -u
}
linked=()
mapfile -t more < <(sed -n "s/^$target: *//p" fuzz/targets.txt | tr ' ' '\n' | grep '\.c$'; echo "fuzz/fuzz_$target.c")
# What is not optimised may need more than the build's objects do, so the linker is asked until nothing is missing.
while [ "${#more[@]}" -gt 0 ]; do
    compile "${more[@]}" || exit 2
    for file in "${more[@]}"; do linked+=("$(object_of "$file")"); done
    mapfile -t more < <(needed_by "${linked[@]}")
done
mapfile -t -O "${#linked[@]}" linked < <(libraries)
# shellcheck disable=SC2086 # $sanitizers is a list of words
$CLANG $sanitizers -fsanitize=fuzzer -Wl,--as-needed "${linked[@]}" -o "$dir/fuzz_$target.$$" || exit 2
mv "$dir/fuzz_$target.$$" "$dir/fuzz_$target"
seeds=()
[ -d "fuzz/corpus/$target" ] && seeds=("fuzz/corpus/$target")
# libFuzzer ends with 77 by itself when it finds something, which means "skipped" here.
exec "$dir/fuzz_$target" -error_exitcode=1 -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$dir/$target-" "$@" "$dir/$target" "${seeds[@]}"
