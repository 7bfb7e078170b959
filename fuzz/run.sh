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
flags="-std=gnu17 -D_GNU_SOURCE -gline-tables-only -O${FUZZ_OPTIMIZE:-1} -I$source/include -I$source/src $(words -I | sed "s|^-I|&$source/|") $(words -D)"
sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=all"
echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n); int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n == 77; }' |
    $CLANG -fsanitize=fuzzer -x c - -o "$dir/probe" 2>/dev/null ||
    { echo "fuzz/run.sh: no $CLANG with libFuzzer (Debian: clang, libclang-rt-14-dev)" >&2 && exit 77; }

# Compiles the sources whose objects are not newer than they and than every header, all in one process of clang's compiler proper
# (-cc1): to start clang takes as long as to compile a file. Objects and the program are made anew and put in place at once, so
# that two runs do not disturb each other.
objects=$dir/objects
mkdir -p "$objects" || exit 2
newest_header=$(find include src tests fuzz -name '*.h' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-)
object_of() { local name=${1//\//_} && echo "$objects/${name%.c}.o"; }
is_fresh() { [ "$1" -nt "$2" ] && [ "$1" -nt "$newest_header" ] && [ "$1" -nt fuzz/targets.txt ]; }
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
sources=() linked=()
# shellcheck disable=SC2086 # $parts is a list of words with patterns in them
for part in "fuzz/fuzz_$target.c" $parts; do
    case $part in
    -[ID]*) ;;
    -*) linked+=("$part") ;;
    *) sources+=("$part") && linked+=("$(object_of "$part")") ;;
    esac
done
compile "${sources[@]}" || exit 2
# shellcheck disable=SC2086
$CLANG $sanitizers -fsanitize=fuzzer "${linked[@]}" -o "$dir/fuzz_$target.$$" || exit 2
mv "$dir/fuzz_$target.$$" "$dir/fuzz_$target"
seeds=()
[ -d "fuzz/corpus/$target" ] && seeds=("fuzz/corpus/$target")
# libFuzzer ends with 77 by itself when it finds something, which means "skipped" here.
exec "$dir/fuzz_$target" -error_exitcode=1 -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$dir/$target-" "$@" "$dir/$target" "${seeds[@]}"
