"""Damaged recordings: `import_mutants.py ASSAY SEED COUNT RECORDING...`.

Changes single places of each RECORDING (bytes, 8-byte numbers, pieces left out or repeated, the end cut off; lines
and words of text), imports the result, and requires one line of an import that fails, and of whatever was imported with
status 0 that `assay report` and `assay export` accept it. COUNT changes in all; the same SEED makes the same ones. Prints one line, or
what was accepted and then rejected, with the number of the change; KEEP=DIR in the environment keeps those files.
"""
import os
import random
import shutil
import subprocess
import sys

assay, seed, count, recordings = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
NUMBERS = [0, 1, 7, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 1 << 32, 1 << 47, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]


def change(data, chance):
    data = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 2, 4, 8])):
        # The first 4 KiB have the header and the events; the rest is mostly samples.
        size = len(data)
        at = chance.randrange(min(size, 4096)) if chance.random() < 0.4 else chance.randrange(size)
        how = chance.randrange(6)
        if how == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif how == 1:
            data[at] = chance.randrange(256)
        elif how == 2:
            at &= ~7
            data[at:at + 8] = chance.choice(NUMBERS).to_bytes(8, "little")
        elif how == 3:
            del data[at:at + chance.choice([1, 8, 40, 64])]
        elif how == 4:
            piece = data[at:at + chance.choice([8, 40, 64, 512])]
            data[at:at] = piece
        else:
            del data[max(at, 64):]
        if not data:
            data = bytearray(b"\0")
    return bytes(data)


def run(*words):
    done = subprocess.run([assay, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=120)
    said = done.stderr.decode(errors="replace").strip().split("\n")
    return done.returncode, said[-1], sum(not line.startswith("assay: ") for line in said)


bad = accepted = 0
originals = []
for recording in recordings:
    with open(recording, "rb") as file:
        originals.append((recording, file.read()))
for number in range(count):
    name, data = originals[number % len(originals)]
    with open("mutant.data", "wb") as file:
        file.write(change(data, random.Random(f"{seed} {number}")))
    if os.path.exists("mutant.db"):
        os.remove("mutant.db")
    status, said, others = run("import", "-q", "-o", "mutant.db", "mutant.data")
    problems = [f"import: {others} lines that are not Assay's"] if others > 1 else []
    if status == 0:
        accepted += 1
        for words in (["report", "mutant.db"], ["export", "--to=json", "mutant.db"]):
            status, said, _ = run(*words)
            if status != 0:
                problems.append(f"{words[0]} {words[1]}: status {status}: {said}")
    elif status not in (1, 2, 125):
        problems.append(f"import: status {status}: {said}")
    for problem in problems:
        print(f"# change {number} of {os.path.basename(name)}: {problem}")
    if problems and os.environ.get("KEEP"):
        shutil.copy("mutant.data", f"{os.environ['KEEP']}/{number}.data")
    bad += bool(problems)
print(f"{count} changes, {accepted} imported, {bad} of them rejected by what reads profiles")
sys.exit(bad > 0 or accepted < count // 10)
