#!/usr/bin/env bash
# Where names come from beside the file itself: debuginfod servers (one on this machine), the vdso, data operands, and
# hints which package has what is missing.
# plain-only: the same files are read by the sanitized suites of import and symbols
. "$(dirname "$0")/lib.sh"

cat >prog.c <<'END_C'
#include <time.h>
struct row { long hits, misses; };
static struct row table[4];
static volatile long counter;
__attribute__((noinline)) static void hidden_work(long n) {
    for (long i = 0; i < n; i++) {
        counter += i;
        table[2].misses += i & 3;
    }
}
__attribute__((noinline)) static long ask_time(long n) {
    struct timespec t = {0};
    for (long i = 0; i < n; i++)
        clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}
int main(int argc, char **argv) {
    long n = argc > 1 ? 100000000 : 20000;
    hidden_work(n);
    return argc > 1 && ask_time(n / 8) == 0;
}
END_C
cc -O1 -g -o whole prog.c
cp whole prog
objcopy --only-keep-debug whole prog.debug && strip prog
id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
mkdir -p "srv/buildid/$id" && cp prog.debug "srv/buildid/$id/debuginfo" && cp prog "srv/buildid/$id/executable"
unset DEBUGINFOD_URLS
export DEBUGINFOD_CACHE_PATH=$PWD/cache DEBUGINFOD_TIMEOUT=20

# ---- debuginfod ----

python3 - 2>server.log <<'END_PY' &
import functools, http.server
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="srv")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
open("port.new", "w").write(str(server.server_port))
__import__("os").rename("port.new", "port")
server.serve_forever()
END_PY
server=$!
wait_until test -e port
served() { DEBUGINFOD_URLS=http://127.0.0.1:$(cat port) "$@"; }
known='any(r["function"] == "hidden_work" and r["share"] > 0.1 for r in d["rows"])'
check "a program without symbols" "$ASSAY" record -q --source=model -o bare.db -- ./prog
check_json "… has no names" "not $known" "$ASSAY" report --json bare.db
check "… the report says where they may be" bash -c '"$1" report bare.db | tr "\n" " " | tr -s " " | grep -q "% of the time is in functions of [^ ]*/prog that have no names; the file is in no installed Debian package"' - "$ASSAY"
check "DEBUGINFOD_URLS: it has" served "$ASSAY" record -q --source=model -o served.db -- ./prog
check_json "… those of its debug file" "$known" "$ASSAY" report --json served.db
check "… no hint is left" bash -c '! "$1" report served.db | grep -q "functions of [^ ]*prog that have no names"' - "$ASSAY"
check_json "… and lines" 'any((r["file"] or "").endswith("prog.c") and r["line"] == 7 for r in d["rows"])' "$ASSAY" report --by line --json served.db
check "the server was asked for it" grep -q "GET /buildid/$id/debuginfo .* 200" server.log

# ---- debug files in directories ----

mkdir -p "roots/.build-id/${id:0:2}" && cp prog.debug "roots/.build-id/${id:0:2}/${id:2}.debug"
check "ASSAY_DEBUG_PATH" env ASSAY_DEBUG_PATH="$PWD/absent:$PWD/roots" "$ASSAY" record -q --source=model -o roots.db -- ./prog
check_json "… names" "$known" "$ASSAY" report --json roots.db
libc_id=$(readelf -n "$(ldconfig -p | sed -n 's/.*libc\.so\.6 (libc6,x86-64) => //p;T;q')" 2>/dev/null | sed -n 's/.*Build ID: //p')
if [ -n "$libc_id" ] && [ -e "/usr/lib/debug/.build-id/${libc_id:0:2}/${libc_id:2}.debug" ]; then
    lines='any((r["module"] or "").endswith("libc.so.6") and r["line"] for r in d["rows"])'
    check "without it" env -u ASSAY_DEBUG_PATH "$ASSAY" record -q --source=model -o usual.db -- true
    check_json "… lines of libc6-dbg" "$lines" "$ASSAY" report --by line --limit 0 --json usual.db
    check "an empty one" "$ASSAY" record -q --source=model -o none.db -- true
    check_json "… none of them" "not $lines" "$ASSAY" report --by line --limit 0 --json none.db
else
    skip "debug files of the C library" "libc6-dbg is not installed"
fi
if command -v perf >/dev/null && perf record -q -e cpu-clock -o perf.data -- ./prog long >perf.log 2>&1; then
    mv prog gone
    check "a recording whose program is gone" "$ASSAY" import -q --buildid-dir . -o lost.db perf.data
    check_json "… without names" "not $known" "$ASSAY" report --json lost.db
    check_json "… and what would help" 'any(q["key"] == "unmatched_files" and "--symfs=DIR" in q["text"] for q in d["summary"]["quality"])' \
        "$ASSAY" report --json lost.db
    check_json "… with the part of all samples that is in it" 'abs(next(q["value"] for q in d["summary"]["quality"] if q["key"] == "unmatched_files")
        - sum(r["share"] for r in d["rows"] if (r["module"] or "").endswith("prog"))) < 1e-3' "$ASSAY" report --json lost.db
    check "… and with a server that has the program" served "$ASSAY" import -q --buildid-dir . -o found.db perf.data
    check_json "… with them" "$known" "$ASSAY" report --json found.db
    mv gone prog
else
    skip "a recording whose program is gone" "no perf, or no permission"
fi
rm -rf cache
refused() { DEBUGINFOD_URLS=http://127.0.0.1:1 "$@"; }
check "a server that is not there" refused "$ASSAY" record --source=model -o refused.db -- ./prog
check "… costs names, not the run" grep -q 'the servers in DEBUGINFOD_URLS cannot be asked: ' <<<"$err"

# ---- hints, the vdso: on this machine itself ----

if "$ASSAY" record -q --source=timer -o own.db -- ./prog long 2>own.log; then
    check "a program in no package" "$ASSAY" report own.db
    check "… is said to be" bash -c 'tr "\n" " " | tr -s " " | grep -q "% of the time is in functions of [^ ]*/prog that have no names; the file is in no installed Debian package"' <<<"$out"
    check_json "functions of the vdso have names" 'any(r["module"] == "[vdso]" and "gettime" in (r["function"] or "") for r in d["rows"])' "$ASSAY" report --json own.db
    gzip=$(readlink -f "$(command -v gzip)")
    if [ -e /var/lib/dpkg/info/gzip.list ] && ! readelf -S "$gzip" | grep -q '\.symtab'; then
        build_id=$(readelf -n "$gzip" | sed -n 's/.*Build ID: //p')
        head -c 30000000 /dev/urandom >noise
        check "a program of a package" "$ASSAY" record -q --source=timer -o gzip.db -- gzip -c noise
        check "… reported" "$ASSAY" report gzip.db
        [ -e "/usr/lib/debug/.build-id/${build_id:0:2}/${build_id:2}.debug" ] ||
            check "… names the one with its symbols" bash -c 'tr "\n" " " | tr -s " " | grep -q "the package gzip-dbgsym has them"' <<<"$out"
    else
        skip "a program of a package" "gzip is not Debian's, or has symbols"
    fi
else
    skip "hints and the vdso" "no permission to sample"
fi

# ---- hints: text without names ----

printf 'prog 7 1.0%d: 1000 cycles:\n\t401000 [unknown] (%s)\n\n' 1 /opt/absent/prog 2 /opt/absent/prog 3 //anon >bare.txt
check "text without names" "$ASSAY" import -q -o text.db bare.txt
check "… reported" "$ASSAY" report text.db
hints=$(tr -s "\n " " " <<<"$out")
check "… says where they may be" grep -q '66.7 % of the time is in functions of /opt/absent/prog whose names perf script did not print.*-dbgsym.*--symfs=DIR' <<<"$hints"
check "… and those of code that the program made" grep -q '33.3 % of the time is in code that the program made .*/tmp/perf-PID.map' <<<"$hints"

# ---- data ----

check "a program with symbols" "$ASSAY" record -q --source=model -o whole.db -- ./whole
check "its data" "$ASSAY" annotate hidden_work whole.db
listing=$out
check "… has names" grep -q 'qword ptr \[counter\]' <<<"$listing"
check "… down to the member" grep -q 'qword ptr \[table\[2\]\.misses\]' <<<"$listing"
check_json "… as JSON" '{"counter", "table[2].misses"} <= {r.get("data") for r in d["rows"]}' "$ASSAY" annotate --json hidden_work whole.db

kill "$server"
wait "$server" 2>/dev/null || true
