#!/usr/bin/env bash
# Fuzzes one target with libFuzzer and the address and undefined-behaviour sanitizers:
#   fuzz/run.sh TARGET SECONDS [LIBFUZZER OPTIONS…]
# TARGET is one of fuzz/targets.txt. Seeds come from fuzz/corpus/TARGET and stay as they are; what is found on the way is
# kept in $FUZZ_DIR (default build/fuzz) for the next run, and so is an input that makes the target fail.
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
flags="-std=gnu17 -D_GNU_SOURCE -g -O1 -Iinclude -Isrc -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all"
echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n); int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n == 77; }' |
    $CLANG -fsanitize=fuzzer -x c - -o "$dir/probe" 2>/dev/null ||
    { echo "fuzz/run.sh: no $CLANG with libFuzzer (Debian: clang, libclang-rt-14-dev)" >&2 && exit 77; }

# $flags and $parts are lists of words with patterns in them. The program is made anew and put in place at once, so that
# two runs do not disturb each other.
# shellcheck disable=SC2086
$CLANG $flags "fuzz/fuzz_$target.c" $parts -o "$dir/fuzz_$target.$$" || exit 2
mv "$dir/fuzz_$target.$$" "$dir/fuzz_$target"
seeds=()
[ -d "fuzz/corpus/$target" ] && seeds=("fuzz/corpus/$target")
# libFuzzer ends with 77 by itself when it finds something, which means "skipped" here.
exec "$dir/fuzz_$target" -error_exitcode=1 -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$dir/$target-" "$@" "$dir/$target" "${seeds[@]}"
