#!/usr/bin/env bash
# Fuzzes one target with libFuzzer and the address and undefined-behaviour sanitizers:
#   fuzz/run.sh TARGET SECONDS [LIBFUZZER OPTIONS…]
# TARGET is one of fuzz/targets.txt. Seeds come from fuzz/corpus/TARGET and stay as they are; what is found on the way is
# kept in $FUZZ_DIR (default build/fuzz) for the next run, and so is an input that makes the target fail.
# $FUZZ_OPTIMIZE is the level at which it is compiled (default 1); 0 compiles in half the time, for short runs.
# Ends with 0 when nothing was found, 77 when there is no clang with libFuzzer, otherwise with the fuzzer's status.
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 2 ] || { echo "usage: fuzz/run.sh TARGET SECONDS [LIBFUZZER OPTIONS…]" >&2 && exit 2; }
target=$1 seconds=$2
shift 2
parts=$(sed -n "s/^$target: *//p" "$source/fuzz/targets.txt")
[ -n "$parts" ] || { echo "fuzz/run.sh: no target '$target' in fuzz/targets.txt" >&2 && exit 2; }
dir=${FUZZ_DIR:-$source/build/fuzz}
mkdir -p "$dir/$target" || exit 2
dir=$(cd "$dir" && pwd)
cd "$source" || exit 2

CLANG=${CLANG:-clang}
# The flags of all targets for all of them, so that they share the objects.
words() { sed -n 's/^[a-z0-9_]*: *//p' fuzz/targets.txt | tr ' ' '\n' | grep "^$1" | sort -u; }
flags="-std=gnu17 -D_GNU_SOURCE -gline-tables-only -O${FUZZ_OPTIMIZE:-1} -Iinclude -Isrc $(words -I) $(words -D)"
sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=all"
echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n); int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n == 77; }' |
    $CLANG -fsanitize=fuzzer -x c - -o "$dir/probe" 2>/dev/null ||
    { echo "fuzz/run.sh: no $CLANG with libFuzzer (Debian: clang, libclang-rt-14-dev)" >&2 && exit 77; }

# Compiles one source unless its object is newer than it and than every header; prints the object's name. Objects and the
# program are made anew and put in place at once, so that two runs do not disturb each other.
objects=$dir/objects
mkdir -p "$objects" || exit 2
newest_header=$(find include src tests fuzz -name '*.h' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-)
compile() {
    local object=$objects/${1//\//_}.o
    echo "$object"
    [ "$object" -nt "$1" ] && [ "$object" -nt "$newest_header" ] && [ "$object" -nt fuzz/targets.txt ] && return
    # shellcheck disable=SC2086 # $flags and $sanitizers are lists of words
    $CLANG $flags $sanitizers -fsanitize=fuzzer-no-link -c "$1" -o "$object.$$" >&2 && mv "$object.$$" "$object"
}
linked=()
# shellcheck disable=SC2086 # $parts is a list of words with patterns in them
for part in "fuzz/fuzz_$target.c" $parts; do
    case $part in
    -[ID]*) ;;
    -*) linked+=("$part") ;;
    *) linked+=("$(compile "$part")") || exit 2 ;;
    esac
done
# shellcheck disable=SC2086
$CLANG $sanitizers -fsanitize=fuzzer "${linked[@]}" -o "$dir/fuzz_$target.$$" || exit 2
mv "$dir/fuzz_$target.$$" "$dir/fuzz_$target"
seeds=()
[ -d "fuzz/corpus/$target" ] && seeds=("fuzz/corpus/$target")
# libFuzzer ends with 77 by itself when it finds something, which means "skipped" here.
exec "$dir/fuzz_$target" -error_exitcode=1 -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$dir/$target-" "$@" "$dir/$target" "${seeds[@]}"
