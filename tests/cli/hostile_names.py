"""Makes a program whose functions have names that break careless tools.

    hostile_names.py OUTPUT

The assembler takes most bytes in a name, but not all: functions get stand-ins of the right length, and their names are
put into the string table of the linked program. What each name is, is known to hostile_names.sh too, by its number.
"""
import subprocess
import sys

NAMES = [
    b"plain",
    b"with space",
    b"quo'te",
    b'dou"ble',
    b"<script>alert(1)</script>",
    b"</script><img src=x onerror=alert(1)>",
    b"new\nline",
    b"tab\tname",
    b"escape\x1b[31mred",
    b"percent%s%n",
    b"comma,name",
    b"back\\slash",
    b"-dash",
    b"=1+1",
    "right\u202eleft".encode(),
    b"invalid\xff\xfeutf8",
    b"'; DROP TABLE functions; --",
    b"_ZN" + b"9namespace" * 100000 + b"1fEv",  # a megabyte, C++
]
LOOPS = 2000


def assemble(stand_ins):
    text = ".globl _start\n.type _start, @function\n_start:\n"
    text += "".join(f"  call {name}\n" for name in stand_ins)
    text += "  mov $60, %eax\n  xor %edi, %edi\n  syscall\n.size _start, .-_start\n"
    for name in stand_ins:
        text += f".globl {name}\n.type {name}, @function\n{name}:\n  mov ${LOOPS}, %ecx\n1: dec %ecx\n  jnz 1b\n  ret\n"
        text += f".size {name}, .-{name}\n"
    return text


def main():
    output = sys.argv[1]
    stand_ins = [(f"z{i:02}" + "x" * len(name))[: len(name)] for i, name in enumerate(NAMES)]
    source = output + ".S"
    with open(source, "w", encoding="ascii") as file:
        file.write(assemble(stand_ins))
    subprocess.run(["gcc", "-nostdlib", "-static", "-Wl,--build-id", "-o", output, "-x", "assembler", source], check=True)
    with open(output, "rb") as file:
        image = file.read()
    for name, stand_in in zip(NAMES, stand_ins):
        old = b"\0" + stand_in.encode() + b"\0"
        assert image.count(old) == 1
        image = image.replace(old, b"\0" + name + b"\0")
    with open(output, "wb") as file:
        file.write(image)


main()
