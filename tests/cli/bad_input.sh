#!/usr/bin/env bash
# What cannot be run, what is missing, and what is ended from outside: one clear line, the right status, nothing left
# behind.
# sanitized-only: what is said is the same in both builds
# time-limit: 200
. "$(dirname "$0")/lib.sh"

stat() { "$ASSAY" stat "$@"; }

# What could be left over: names in /dev/shm and in the temporary directory that are Assay's (this test's own aside).
left_over() {
    find /dev/shm "${TMPDIR:-/tmp}" /tmp -maxdepth 1 -iname '*assay*' 2>/dev/null |
        grep -v 'assay-\(test\|job\|reports\|probe\)' | sort -u
}
before=$(left_over)

# ---- programs that are none ----------------------------------------------------------------------------------------
check_fails 127 '\./absent: not found' "not found" stat -- ./absent
check_fails 127 'absent-command: not found' "not found along PATH" stat -- absent-command
check_fails 127 'empty' "an empty name" stat -- ''
check_fails 127 'not found' "below a file" stat -- /etc/passwd/program
check_fails 126 'too long' "a name longer than any path" stat -- "./$(head -c 5000 /dev/zero | tr '\0' x)"
check_fails 127 'new\?line' "control characters in a name" stat -- $'./new\nline\e[31m'
mkdir directory
check_fails 126 'directory' "a directory" stat -- ./directory
echo 'just text' >text
check_fails 126 'not executable|permission' "not executable" stat -- ./text
chmod +x text
check_fails 126 'neither an ELF program nor a script' "not ELF" stat -- ./text
: >empty && chmod +x empty
check_fails 126 'empty' "an empty file" stat -- ./empty
mkfifo fifo && chmod +x fifo
check_fails 126 'fifo' "a named pipe" stat -- ./fifo
ln -s loop loop
check_fails 126 'loop.*symbolic links' "a link to itself" stat -- ./loop
printf '#!/no/such/interpreter\n' >orphan
printf '#!%s/circle\n' "$TMP" >circle
printf '#!\n' >nothing
chmod +x orphan circle nothing
check_fails 126 'interpreter /no/such/interpreter' "a script without its interpreter" stat -- ./orphan
check_fails 126 'circle' "a script that interprets itself" stat -- ./circle
check_fails 126 'nothing' "a script that names no interpreter" stat -- ./nothing

# ---- ELF files that cannot run -------------------------------------------------------------------------------------
python3 - /bin/true <<'END'
import os, struct, sys
good = open(sys.argv[1], "rb").read()
def write(name, data):
    open(name, "wb").write(data)
    os.chmod(name, 0o755)
def patched(name, offset, form, value):
    data = bytearray(good)
    struct.pack_into(form, data, offset, value)
    write(name, data)
for size in (4, 20, 63, 100, 5000):
    write(f"cut-{size}", good[:size])
elf32 = struct.pack("<4sBBBB8xHHIIIIIHHHHHH", b"\x7fELF", 1, 1, 1, 0, 2, 3, 1, 0x8048000, 52, 0, 0, 52, 32, 1, 40, 0, 0)
write("i386", elf32 + struct.pack("<IIIIIIII", 1, 0, 0x8048000, 0x8048000, 200, 200, 5, 4096) + bytes(200))
write("arm32", elf32[:18] + struct.pack("<H", 40) + elf32[20:] + bytes(232))
patched("aarch64", 18, "<H", 183)
patched("ppc64", 18, "<H", 21)
patched("big-endian", 5, "B", 2)
patched("no-version", 6, "B", 9)
patched("class-9", 4, "B", 9)
patched("core", 16, "<H", 4)
patched("object", 16, "<H", 1)
patched("headers-far", 32, "<Q", 1 << 62)
patched("headers-wrap", 32, "<Q", (1 << 64) - 8)
patched("headers-many", 56, "<H", 65535)
patched("headers-none", 56, "<H", 0)
patched("headers-odd", 54, "<H", 7)
at, = struct.unpack_from("<Q", good, 32)
count, = struct.unpack_from("<H", good, 56)
for i in range(count):
    kind, = struct.unpack_from("<I", good, at + 56 * i)
    if kind == 1:
        patched("segment-huge", at + 56 * i + 40, "<Q", 1 << 62)
        patched("segment-far", at + 56 * i + 8, "<Q", 1 << 62)
    if kind == 3:
        where, = struct.unpack_from("<Q", good, at + 56 * i + 8)
        data = bytearray(good)
        data[where:where + 8] = b"/nowhere"
        write("no-loader", data)
        patched("loader-far", at + 56 * i + 8, "<Q", 1 << 61)
END
for size in 4 20 63 100 5000; do
    check_fails 126 'truncated|neither' "cut to $size bytes" stat -- ./cut-$size
done
check_fails 126 '32-bit' "32-bit x86" stat -- ./i386
check_fails 126 '32-bit' "32-bit Arm" stat -- ./arm32
check_fails 126 'AArch64' "64-bit Arm" stat -- ./aarch64
check_fails 126 'PowerPC' "PowerPC" stat -- ./ppc64
check_fails 126 'big-endian' "big-endian" stat -- ./big-endian
check_fails 126 'core dump' "a core dump" stat -- ./core
check_fails 126 'object file' "an object file" stat -- ./object
check_fails 126 'no-loader.*loader|nowhere' "a missing dynamic loader" stat -- ./no-loader
for name in no-version class-9 headers-far headers-wrap headers-many headers-none headers-odd segment-huge segment-far \
    loader-far; do
    check_fails 126 'corrupt|truncated|ELF' "corrupt: $name" stat -- "./$name"
done
if [ "$(id -u)" -ne 0 ]; then
    cp /bin/true unreadable && chmod 111 unreadable
    check_fails 126 'unreadable' "a program that may not be read" stat -- ./unreadable
fi

# ---- QEMU ----------------------------------------------------------------------------------------------------------
echo >wrong
check_fails 125 '/nonexistent' "--qemu that is not there" stat --qemu /nonexistent -- true
check_fails 125 'wrong is not an executable' "--qemu that is not executable" stat --qemu ./wrong -- true
mkdir bare
without_qemu() { PATH=$TMP/bare "$ASSAY" stat -- /bin/true; }
check_fails 125 'qemu-x86_64 was not found.*qemu-user' "no QEMU on PATH" without_qemu
printf '#!/bin/sh\necho "qemu-x86_64 version 3.1.0 (Debian 1:3.1+dfsg-8)"\n' >old
printf '#!/bin/sh\necho "qemu-x86_64 version 99.0.0"\n' >future
printf '#!/bin/sh\n' >silent
printf '#!/bin/sh\necho hello\n' >stranger
cat >dying <<'END'
#!/bin/sh
[ "$1" = --version ] && echo "qemu-x86_64 version 7.2.0"
exit 3
END
chmod +x old future silent stranger dying
check_fails 125 'QEMU 3\.1, too old.*6\.0' "QEMU too old" stat --qemu ./old -- true
check_fails 125 'QEMU 99\.0' "QEMU too new" stat --qemu ./future -- true
check_fails 125 'silent' "a QEMU that says nothing" stat --qemu ./silent -- true
check_fails 125 'stranger is not QEMU' "a QEMU that is none" stat --qemu ./stranger -- true
check_fails 125 'QEMU ended before the program started' "a QEMU that dies" stat --qemu ./dying -- true
cat >slow <<'END'
#!/bin/sh
[ "$1" = --version ] && echo "qemu-x86_64 version 7.2.0" && exit
until grep -q '^SigCgt:.*[4-7c-f]...$' /proc/$PPID/status; do :; done # it catches SIGTERM
kill -TERM $PPID
exec sleep 60
END
chmod +x slow
check_fails 143 'interrupted before the program started' "a signal before QEMU has the program" stat --qemu ./slow -- true
other_qemu() { "$ASSAY" stat --qemu "$(command -v qemu-riscv64)" -- true; }
check_status 126 "the other architecture's QEMU" other_qemu
check "the other architecture's QEMU: said so" test -n "$err"

# ---- profiles whose numbers cannot be ------------------------------------------------------------------------------
check "a profile" "$ASSAY" record -q -o sound.db --max 100k -- "$STATIC/nothing"
check_json "… that is exact" 'd["summary"]["exact"] and d["summary"]["error_estimate"] == 0' "$ASSAY" report --json sound.db
changed() {
    cp sound.db changed.db
    python3 -c 'import sqlite3, sys; d = sqlite3.connect("changed.db"); d.execute(sys.argv[1]); d.commit()' "$1"
}
hottest='WHERE series = 0 AND instruction = (SELECT instruction FROM times ORDER BY units DESC LIMIT 1)'
for sql in "UPDATE times SET units = -5 $hottest" "UPDATE times SET units = 9000000000000000000"; do
    changed "$sql"
    check_fails 125 'is damaged \(row [0-9]+ of [a-z_]+ is invalid\)' "report: ${sql%%WHERE*}" "$ASSAY" report changed.db
    check_fails 125 'is damaged' "export: ${sql%%WHERE*}" "$ASSAY" export --to=csv changed.db
    check_fails 125 'is damaged' "--html: ${sql%%WHERE*}" "$ASSAY" report --html page.html changed.db
done
changed "UPDATE times SET units = units + 7 $hottest"
check "times that do not add up to the cycles" "$ASSAY" report changed.db
check "… are not called exact" grep -q 'error unknown: its times do not add up to the cycles of the run' <<<"$out"
check_same "… anywhere" 0 "$(grep -c 'every cycle' <<<"$out")"
check_json "… nor in JSON" 'not d["summary"]["exact"] and d["summary"]["error_estimate"] is None' \
    "$ASSAY" report --json changed.db

# ---- limits and outputs --------------------------------------------------------------------------------------------
small_files() { (ulimit -f 8 && "$ASSAY" stat -- true); }
check_fails 125 'shared memory.*File too large' "no room for shared memory" small_files
little_memory() { (ulimit -v 30000 && "$ASSAY" stat -- true); }
if ldd "$ASSAY" | grep -q libasan; then
    skip "hardly any memory" "AddressSanitizer itself needs much"
else
    check_fails 125 'memory' "hardly any memory" little_memory
fi
few_files() { (ulimit -n 5 && "$ASSAY" stat -- true); }
check_fails 125 '' "hardly any file descriptors" few_files
full() { "$ASSAY" stat "$@" >/dev/full; }
check_fails 125 'standard output: No space left' "a full stdout" full -- true
check_fails 125 'standard output: No space left' "a full stdout, JSON" full --json -- true
closed() { "$ASSAY" stat "$@" >&-; }
check_fails 125 'standard output: Bad file' "a closed stdout" closed -- true
check_fails 125 '/dev/full: No space left' "a full output file" stat -o /dev/full -- true
check_fails 125 '/no/such/file: No such file' "an output file that cannot be" stat -o /no/such/file -- true
check_fails 125 'directory' "an output file that is a directory" stat -o directory -- true
check_fails 2 'no program given' "no program" stat
check_fails 2 'no program given' "no program behind --" stat --
check_fails 2 'max' "a malformed number" stat --max 12x -- true
closed_input() { "$ASSAY" stat -o counts -- cat <&- 2>/dev/null; }
check_status 1 "a closed stdin is the program's affair" closed_input
closed_errors() { "$ASSAY" stat -o counts -- sh -c 'exit 5' 2>&-; }
check_status 5 "a closed stderr" closed_errors
left_reader() {
    "$ASSAY" script -- "$STATIC/demo" 1 | head -n 1 >/dev/null
    return "${PIPESTATUS[0]}"
}
check_status 141 "a reader that leaves" left_reader
check_same "a reader that leaves: quiet" "" "$err"
check_no_strays "nothing runs after all this"

# ---- ended from outside --------------------------------------------------------------------------------------------
# A program that says when it runs and then runs until it is ended.
spin='echo >ready; while :; do :; done'
set -m # background jobs get their own process group, and SIGINT

# The child of a process (the fields of /proc/PID/stat behind the name in parentheses: state, parent …).
child_of() { sed -n "s/^\([0-9]*\) (.*) . $1 .*/\1/p" /proc/[0-9]*/stat 2>/dev/null | head -n 1; }

# begin ARGS…: starts `assay stat` in the background and waits until its program runs; $job is it, $qemu its child.
begin() {
    start "$@"
    wait_until test -e ready
    qemu=$(child_of "$job")
    sleep 0.2
}
start() {
    rm -f ready counts
    "$ASSAY" stat "$@" >"$LOGS/out" 2>"$LOGS/err" &
    job=$!
}
# ended: waits for it; sets out, err, status.
ended() {
    wait "$job" 2>/dev/null
    status=$?
    out=$(cat "$LOGS/out") err=$(cat "$LOGS/err")
}
check_ended() {
    local name=$1 want=$2 line=$3
    ended
    if [ "$status" -eq "$want" ] && [ "$(wc -l <"$LOGS/err")" -eq 1 ] && [[ $err =~ $line ]]; then
        pass "$name"
    else
        report "$name" "expected status $want and one line on stderr that matches: $line"
    fi
}
partial='d["instructions"] > 10000 and d["complete"] is False'

begin --json -o counts -- sh -c "$spin"
check "there is a QEMU to end" test -n "$qemu"
kill -INT -- -"$job"
check_ended "Ctrl-C" 130 'interrupted|signal 2'
check_json "Ctrl-C: what ran is reported" "$partial" cat counts

# What a process sends to the group reaches the program directly and through Assay: it may come a second time.
begin -o counts -- sh -c "trap 'trap \"\" INT; echo caught >&2; exit 7' INT; $spin"
kill -INT -- -"$job"
ended
check_same "Ctrl-C that the program handles: its status" 7 "$status"
check_same "… what it prints, and that the run is partial" $'caught\nassay: interrupted: the program handled that and ended; the result covers the run until its end' "$err"
check_same "… in the head of the counts, too" 1 "$(grep -c "^Executed by 'sh' until it ended after an interrupt:$" counts)"

begin --json -o counts -- sh -c "trap '' INT; $spin"
kill -INT -- -"$job"
wait_until took_signal "$job" 2
kill -INT -- -"$job"
check_ended "Ctrl-C twice ends a program that ignores it" 130 'interrupted'
check_json "Ctrl-C twice: what ran is reported" "$partial" cat counts

begin --json -o counts -- sh -c "$spin"
kill -KILL "$qemu"
check_ended "the program killed" 137 'killed by signal 9'
check_json "the program killed: what ran is reported" "$partial and d['signal'] == 9" cat counts

# Whether each of the three threads that the program starts has used processor time: a tick, which is thousands of instructions.
# (Fields of /proc/PID/task/TID/stat: the 14th. The first thread may take less than a tick, and QEMU has one of its own, which
# takes none.)
work() { qemu=$(child_of "$job") && [ "$(cat "/proc/$qemu/task"/*/stat | awk -v first="$qemu" '$1 != first && $14 > 0' | wc -l)" -ge 3 ]; }
start --json -o counts -- "$STATIC/threads" -t 3 -w 100000000
wait_until work
kill -KILL "$qemu"
check_ended "a threaded program killed" 137 'killed by signal 9'
check_json "a threaded program killed: its threads are reported" "$partial and d['threads'] == 4" cat counts

begin --json -o counts -- sh -c "$spin"
kill -TERM "$job"
ended
check_same "Assay terminated" 143 "$status"
check_no_strays "Assay terminated: its program ends too"

begin -o counts -- sh -c 'sleep 100 & echo >ready; wait'
kill -TERM "$job"
ended
check_no_strays "Assay terminated: the whole tree ends"

begin --json -o counts -- sh -c "$spin"
kill -KILL "$job"
ended
check_same "Assay killed" 137 "$status"
check_no_strays "Assay killed: its program ends too"

begin --json -o counts -- sh -c "sh -c '$spin' & sh -c '$spin' | cat"
kill -KILL "$job"
ended
check_no_strays "Assay killed: the whole tree ends"

begin -o counts -- sh -c 'echo >ready; sleep 100'
kill -KILL "$job"
ended
check_no_strays "Assay killed: a sleeping program ends too"

begin -o counts -- sh -c 'echo >ready; sleep 100'
kill -INT -- -"$job"
check_ended "Ctrl-C wakes a sleeping program" 130 'interrupted|signal 2'

# Other tests have files there for a while, too: what was left stays.
comm -13 <(echo "$before") <(left_over) >left
all_gone() { while read -r name; do [ ! -e "$name" ] || return 1; done <left; }
wait_until all_gone
check_same "nothing is left in /dev/shm or /tmp" "" "$(xargs -r ls -d <left 2>/dev/null)"
check_no_strays "no process is left"
