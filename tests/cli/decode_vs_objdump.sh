#!/usr/bin/env bash
# Our decoders against objdump over the whole text of large binaries: lengths, branch kinds, memory operands, on RISC-V
# also the text. Differences are allowed only where tests/golden/decode_differences.txt explains their kind.
# plain-only: the decoders run under sanitizers in their unit tests and fuzz targets; here it is millions of instructions
# time-limit: 240
DEFAULT_CORE=boom-tip
. "$(dirname "$0")/lib.sh"

COMPARE=$BUILD/tests/unit/isa/decode_compare
EXPLAINED=$SOURCE/tests/golden/decode_differences.txt
RISCV=riscv64-linux-gnu-
RISCV_LIB=/usr/riscv64-linux-gnu/lib

total=0

# compare ARCH LIMIT NAME OBJDUMP ARGUMENTS…: one check, and its instructions go into the total. No more than LIMIT
# differences in ten thousand instructions, explained or not: what explains oddities must not hide errors.
compare() {
    local arch=$1 limit=$2 name=$3
    shift 3
    "$@" 2>objdump.err | "$COMPARE" "$arch" "$EXPLAINED" >report.txt
    local states=("${PIPESTATUS[@]}") last compared differences
    last=$(tail -n 1 report.txt)
    if [ "${states[*]}" != "0 0" ]; then
        fail "$arch agrees on $name" "objdump ended with ${states[0]}, decode_compare with ${states[1]}" \
            "$(head -n 3 objdump.err)" "$(grep UNEXPLAINED report.txt | sort -rn | head -n 20)" "$last"
        return
    fi
    read -r _ compared _ differences _ <<<"$last"
    total=$((total + compared))
    if [ $((differences * 10000)) -gt $((compared * limit)) ]; then
        fail "$arch agrees on $name" "more than $limit differences in 10000" "$(sort -rn report.txt | head -n 20)"
    else
        pass "$arch agrees on $name ($last)"
    fi
}

at_least() {
    if [ "$total" -ge "$2" ]; then
        pass "$1: $total instructions compared"
    else
        fail "$1: enough instructions compared" "expected at least $2, compared $total"
    fi
    total=0
}

# Whatever of these is here; the first ones are on every machine that can build Assay. libm has assembly with fwait,
# libcrypto has tables of constants in its code. DECODE_ALL=1 takes millions of instructions more.
all() { [ -n "${DECODE_ALL:-}" ] && printf '%s\n' "$@"; }
while read -r limit file; do
    [ -r "$file" ] && compare x86_64 "$limit" "${file##*/}" objdump -dwz "$file"
done <<EOF
0 /bin/bash
0 $(readlink -f /usr/bin/python3)
0 /lib/x86_64-linux-gnu/libc.so.6
10 /lib/x86_64-linux-gnu/libm.so.6
100 /usr/lib/x86_64-linux-gnu/libcrypto.so.3
$(all "0 /usr/bin/perl" "0 /usr/lib/x86_64-linux-gnu/libstdc++.so.6" "0 /usr/bin/qemu-x86_64" "0 /usr/bin/git")
EOF
at_least x86_64 1000000

if ! command -v ${RISCV}objdump >/dev/null; then
    skip "RISC-V" "no ${RISCV}objdump (Debian: binutils-riscv64-linux-gnu)"
    exit 0
fi
for file in libc.so.6 libm.so.6 $(all libstdc++.so.6) libgomp.so.1 libgcc_s.so.1 libasan.so.8 ld-linux-riscv64-lp64d.so.1; do
    [ -r "$RISCV_LIB/$file" ] && compare riscv64 0 "$file" ${RISCV}objdump -dwz "$RISCV_LIB/$file"
done
at_least riscv64 500000

# Every compressed instruction there can be.
python3 -c '
import struct, sys
sys.stdout.buffer.write(b"".join(struct.pack("<H", v) for v in range(65536) if v & 3 != 3))' >halves.bin
compare riscv64 100 "all 16-bit values" ${RISCV}objdump -Dwz -b binary -m riscv:rv64 halves.bin
at_least "all 16-bit values" 49152

# Random 32-bit values of every major opcode, with fields that aliases depend on more often than chance has them.
python3 - >words.s <<'EOF'
import random
random.seed(1)
opcodes = [0x03, 0x07, 0x0F, 0x13, 0x17, 0x1B, 0x23, 0x27, 0x2F, 0x33, 0x37, 0x3B, 0x43, 0x47, 0x4B, 0x4F, 0x53, 0x63,
           0x67, 0x6F, 0x73]
functs = [0, 1, 4, 5, 8, 9, 0x0C, 0x0D, 0x10, 0x11, 0x14, 0x20, 0x21, 0x24, 0x2C, 0x2D, 0x30, 0x34, 0x50, 0x51, 0x60, 0x61,
          0x68, 0x69, 0x70, 0x71, 0x78, 0x79]
for i in range(60000):
    word = random.getrandbits(32) & ~0x7F | random.choice(opcodes)
    if random.random() < 0.3:
        word &= ~(31 << 7)
    if random.random() < 0.3:
        word &= ~(31 << 15)
    if random.random() < 0.3:
        word = word & ~(31 << 20) | random.choice([0, 1, 2, 3, 4, 5, 7, 24, 31]) << 20
    if random.random() < 0.5:
        word = word & ~(0x7F << 25) | random.choice(functs) << 25
    if random.random() < 0.1:
        word = word & ~(31 << 20) | (word >> 15 & 31) << 20
    if word & 0x7F == 0x73 and random.random() < 0.7:
        word = word & 0xFFFFF | random.choice([1, 2, 3, 0xC00, 0xC01, 0xC02, 0xC03, 0x300, 0x100]) << 20
    print(".insn 4,", hex(word))
EOF
check "random words assemble" \
    ${RISCV}as -march=rv64gc_zba_zbb_zbc_zbs_zicbom_zicbop_zicboz_zihintpause words.s -o words.o
compare riscv64 600 "random 32-bit values" ${RISCV}objdump -dwz words.o
at_least "random 32-bit values" 60000
