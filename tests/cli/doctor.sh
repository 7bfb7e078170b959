#!/usr/bin/env bash
# assay doctor: its rows, its honesty about what is not there, and that it leaves nothing behind.
. "$(dirname "$0")/lib.sh"

check "doctor" "$ASSAY" doctor
check_same "doctor says nothing on stderr" "" "$err"
check_same "it stays within 80 columns, paths aside" "" "$(grep -v / <<<"$out" | grep -E '^.{81}')"
check "it ends with the best source" grep -qE '^Best source here: (pmu|model|timer|none): ' <<<"$out"
check_same "each row has a verdict" "" \
    "$(sed '/^$/,$d' <<<"$out" | grep -vE '^((ok     |limited|missing)  [^ ]| {32}[^ ])')"

names='["cpu", "cores", "virtual", "pmu", "precise", "ibs_op", "ibs_fetch", "spe", "branch_stack", "debug_registers",
 "task_clock", "perf_event_paranoid", "kptr_restrict", "perf_event_mlock_kb", "perf_event_max_sample_rate", "ptrace",
 "qemu_x86_64", "qemu_riscv64", "engine", "shared_memory", "riscv64_libraries", "model"]'
check_json "the rows" "[r['name'] for r in d['rows']] == ${names//$'\n'/}" "$ASSAY" doctor --json
check_json "each row is whole" \
    'all(r["state"] and r["label"] and r["verdict"] in ("ok", "limited", "missing") and "remedy" in r for r in d["rows"])' \
    "$ASSAY" doctor --json
check_json "the summary" 'd["summary"]["source"] in ("pmu", "model", "timer") and d["summary"]["why"] != ""' \
    "$ASSAY" doctor --json
check_json "the model works" '{r["name"]: r["verdict"] for r in d["rows"]}["model"] == "ok"' "$ASSAY" doctor --json

# row NAME: the expression for a row in check_json.
row() { echo "{r['name']: r for r in d['rows']}['$1']"; }

# What the kernel itself says must be in the rows.
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)
check_json "perf_event_paranoid is the kernel's" "$(row perf_event_paranoid)['state'].startswith('${paranoid:-not found}')" \
    "$ASSAY" doctor --json
check_json "cores" "$(row cores)['state'].startswith('$(getconf _NPROCESSORS_ONLN) online')" "$ASSAY" doctor --json
allowed() { taskset -c 0 "$ASSAY" doctor --json; }
if [ "$(nproc)" -gt 1 ]; then
    check_json "cores allowed to the process" "'1 allowed' in $(row cores)['state']" allowed
fi
for unit in ibs_op ibs_fetch; do
    [ -e /sys/bus/event_source/devices/$unit ] ||
        check_json "$unit: not there, and said so" \
            "$(row $unit)['verdict'] == 'missing' and 'not found: there is no /sys' in $(row $unit)['state']" \
            "$ASSAY" doctor --json
done
if ! ls -d /sys/bus/event_source/devices/{cpu,cpu_core,armv8*} >/dev/null 2>&1; then
    check_json "no PMU, and said so" \
        "$(row pmu)['verdict'] == 'missing' and $(row pmu)['remedy'] != '' and d['summary']['source'] != 'pmu'" \
        "$ASSAY" doctor --json
fi
# Every x86 processor has four debug registers; they may all be in use by a debugger, or a hypervisor may hide them.
if [ "$(uname -m)" = x86_64 ] && [ -e /sys/bus/event_source/devices/breakpoint ] && [ "${paranoid:-3}" -le 2 ]; then
    check_json "four debug registers" "$(row debug_registers)['state'] == '4 hardware watchpoints per thread; one was fired'" \
        "$ASSAY" doctor --json
fi

# Twice the same, but for the rate that the kernel changes by itself.
stable() { "$ASSAY" doctor | grep -v 'max. sample rate'; }
check_stdout_equals "$(stable)" "twice the same" stable

# Without QEMU.
mkdir bare
ln -s "$(command -v true)" bare/true
without_qemu() { PATH=$TMP/bare "$ASSAY" doctor --json; }
check_json "without QEMU" "($(row qemu_x86_64)['verdict'] == 'missing' and
 'not found on PATH' in $(row qemu_x86_64)['state'] and 'apt-get install qemu-user' in $(row qemu_x86_64)['remedy'] and
 $(row model)['verdict'] == 'missing' and d['summary']['source'] != 'model')" without_qemu
check_same "without QEMU: status 0 all the same" 0 "$status"

# A QEMU that is none, one that is too old, one without plugins.
mkdir old plain none
printf '#!/bin/sh\necho "qemu-x86_64 version 3.1.0 (Debian 1:3.1+dfsg)"\n' >old/qemu-x86_64
cat >plain/qemu-x86_64 <<'END'
#!/bin/sh
[ "$1" = --version ] && echo "qemu-x86_64 version 7.2.0" || echo "qemu: unknown option 'plugin'" >&2
END
printf '#!/bin/sh\n' >none/qemu-x86_64
chmod +x old/* plain/* none/*
with_path() { PATH=$TMP/$1:$PATH "$ASSAY" doctor --json; }
check_json "QEMU too old" "$(row qemu_x86_64)['verdict'] == 'missing' and 'too old' in $(row qemu_x86_64)['state']" with_path old
check_json "QEMU without plugins" "($(row qemu_x86_64)['verdict'] == 'missing' and
 'built without plugins' in $(row qemu_x86_64)['state'] and $(row model)['verdict'] == 'missing')" with_path plain
check_same "QEMU without plugins: nothing on stderr" "" "$err"
check_json "a QEMU that is none" "$(row qemu_x86_64)['verdict'] == 'missing'" with_path none

# Limits.
small_files() { (ulimit -f 8 && "$ASSAY" doctor --json | cat); }
check_json "a file-size limit" "($(row shared_memory)['verdict'] == 'missing' and
 $(row shared_memory)['remedy'] != '' and $(row model)['verdict'] == 'missing')" small_files

check_fails 2 "takes no arguments" "arguments" "$ASSAY" doctor ls
full() { "$ASSAY" doctor --json >/dev/full; }
check_fails 125 "cannot write to standard output" "a full stdout" full
check_no_strays "no process is left"
