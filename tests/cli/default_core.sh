#!/usr/bin/env bash
# The core that is modelled where none is named: the nearest to this processor for x86-64 programs, the same for all
# verbs, with the reason; and what a profile says about the processor that the program saw.
# plain-only: a choice among files, and few instructions
. "$(dirname "$0")/lib.sh"
unset ASSAY_CORE

demo=$WORKLOADS/demo
check_json "record says which core, and why" '(lambda s: s["core_why"].startswith("core " + s["core"] + ": ") and "nearest to this" in s["core_why"] or "none is near" in s["core_why"])(d["summary"])' \
    "$ASSAY" record --json --max 1000 -o near.db -- "$demo" 1
core=$(sqlite3 near.db "SELECT value FROM meta WHERE key = 'core'")
check_stderr_line "core $core: .*this .*\(.*, family [0-9]+, model [0-9]+\)" "compare, too" "$ASSAY" compare --json -o near.json --max 1000 -- "$demo" 1
holds "… the same one" "d[\"core\"] == \"$core\"" near.json
says_core() { "$ASSAY" "$@" 2>&1 >/dev/null | grep -q "^assay: core $core: "; }
check "whatif as well" says_core whatif --rank 1 --max 1000 -- "$demo" 1
check "points as well" says_core points --interval 100k -- true
check "reuse as well" says_core reuse --max 1000 -- "$demo" 1
check "blocks as well" says_core blocks --methods --max 1000 -- "$demo" 1
vendor=$(sed -n 's/^vendor_id[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
case $vendor in
AuthenticAMD) check_same "an AMD" zen4-like "$core" ;;
GenuineIntel) check "an Intel" grep -qE '^(golden-cove|skylake)-like$' <<<"$core" ;;
*) skip "a known vendor" "this is ${vendor:-no x86-64}" ;;
esac
check "the report says why" "$ASSAY" report near.db
report=$out
check "… in a line of its own" grep -q "^core $core: " <<<"$report"
check "… and that the program saw another processor" grep -q '^note: the program saw the processor of QEMU by CPUID, not this one' <<<"$report"
if grep -q '^flags.* avx512f' /proc/cpuinfo; then
    check "… without AVX-512" grep -q 'AVX2 instead of AVX-512' <<<"$(tr '\n' ' ' <<<"$report" | tr -s ' ')"
fi
check_json "… in JSON" 'any(q["key"] == "cpuid" for q in d["summary"]["quality"])' "$ASSAY" report --json near.db

check "--core: nothing to explain" "$ASSAY" record -q --core boom-tip --max 1000 -o named.db -- "$demo" 1
check_same "… so nothing is" "boom-tip|" "$(sqlite3 named.db "SELECT (SELECT value FROM meta WHERE key = 'core'), (SELECT value FROM meta WHERE key = 'core_why')")"
by_variable() { ASSAY_CORE=$1 "$ASSAY" compare --json -o named.json --max 1000 -- "$demo" 1; }
check "ASSAY_CORE" by_variable golden-cove-like
holds "… decides" 'd["core"] == "golden-cove-like"' named.json
check_same "… without a word" "" "$err"
check_fails 2 "no machine" "… and must be a machine" by_variable absent
riscv=$WORKLOADS/demo-riscv64-static
if [ -x "$riscv" ]; then
    check "a RISC-V program" "$ASSAY" compare --json -o riscv.json --max 1000 -- "$riscv" 1
    holds "… has a core of its own kind" 'd["core"] == "boom-tea"' riscv.json
    check "… and so has its profile" "$ASSAY" record -q --max 1000 -o riscv.db -- "$riscv" 1
    check_same "… which says nothing of CPUID" "boom-tea|0" "$(sqlite3 riscv.db "SELECT (SELECT value FROM meta WHERE key = 'core'), (SELECT count(*) FROM quality WHERE key = 'cpuid')")"
fi
