"""The inputs of the suite's programs: of our own making, the same every time, large enough that each program runs for a
hundred million instructions and more, and that what it works on does not all fit into the caches."""
import array, json, math, os, random, shutil, subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def write(folder, name, data):
    mode = {"mode": "wb"} if isinstance(data, bytes) else {"mode": "w", "encoding": "utf-8"}
    with open(os.path.join(folder, name), **mode) as out:
        out.write(data)


def texts(folder, dice, words):
    write(folder, "text.txt", "\n".join(" ".join(dice.choices(words, k=12)) for _ in range(100000)) + "\n")
    write(folder, "data.bin", dice.randbytes(16 << 20))
    write(folder, "tree.xml", "<?xml version='1.0'?>\n<!DOCTYPE a [<!ELEMENT a (b*)><!ELEMENT b (#PCDATA)>"
          "<!ATTLIST b k CDATA #REQUIRED>]>\n<a>" +
          "".join(f"<b k='{i}'>{dice.choice(words)}</b>" for i in range(60000)) + "</a>\n")
    write(folder, "sheet.xsl", "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>"
          "<xsl:template match='/'><c><xsl:for-each select='a/b[contains(., \"ab\")]'><xsl:sort select='.'/>"
          "<d n='{@k}'><xsl:value-of select='translate(., \"abc\", \"xyz\")'/></d></xsl:for-each></c></xsl:template>"
          "</xsl:stylesheet>\n")
    write(folder, "list.json", json.dumps([{"a": i, "b": dice.choice(words), "c": [i] * 5} for i in range(20000)]))


def scripts(folder, dice, words):
    write(folder, "words.awk", '{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) s += n[w]; print s }\n')
    write(folder, "words.pl", 'my %n; while (<>) { $n{$_}++ for split } print scalar(keys %n), "\\n";\n')
    write(folder, "nbody.py", "s = [(i * 0.1, i * 0.2, 1.0 + i) for i in range(40)]\nfor _ in range(60):\n"
          "    t = []\n    for x, y, m in s:\n        fx = sum(n * (u - x) / ((u - x) ** 2 + (v - y) ** 2 + 1)"
          " for u, v, n in s)\n        t.append((x + fx * 1e-3, y, m))\n    s = t\nprint(s[0])\n")
    write(folder, "fields.py", "import numpy\nn = 700\nu = numpy.zeros((n, n))\nu[n // 2, :] = 1.0\n"
          "for _ in range(200):\n    u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])\n"
          "print(u.sum())\n")
    write(folder, "queens.lua", "local n, found = 10, 0\nlocal function place(row, cols, up, down)\n"
          "  if row > n then found = found + 1 return end\n  for c = 1, n do\n"
          "    if not cols[c] and not up[row + c] and not down[row - c] then\n"
          "      cols[c], up[row + c], down[row - c] = true, true, true\n      place(row + 1, cols, up, down)\n"
          "      cols[c], up[row + c], down[row - c] = nil, nil, nil\n    end\n  end\nend\n"
          "place(1, {}, {}, {})\nprint(found)\n")
    rows = "".join(f"INSERT INTO t VALUES({i},{dice.randint(0, 999)},'{dice.choice(words)}');\n" for i in range(8000))
    write(folder, "table.sql", "CREATE TABLE t(a INTEGER PRIMARY KEY, b INT, c TEXT);\nBEGIN;\n" + rows +
          "COMMIT;\nSELECT c, count(*), sum(b) FROM t GROUP BY c ORDER BY 3 DESC LIMIT 5;\n"
          "SELECT count(*) FROM t x JOIN t y ON x.b = y.b;\n")
    body = "".join(f"int f{i}(int a, int b) {{ int s = {i}; for (int k = 0; k < a; k++) s += (k ^ b) * {i + 3} % (k + 1);"
                   f" return s > b ? f{i - 1 if i else 0}(a - 1, s) : s; }}\n" for i in range(400))
    write(folder, "code.c", "int f0(int, int);\n" + body)
    write(folder, "pi.bc", "scale=900\n4*a(1)\nquit\n")
    write(folder, "prime.gp", "for(i = 1, 60, factor(nextprime(10^19 + i*10^16) * nextprime(3*10^19 + i*7*10^16))); quit\n")


def pictures_and_sound(folder, dice):
    write(folder, "image.ppm", b"P6 320 240 255\n" + bytes((x * y + c * 40 + dice.randint(0, 20)) & 255
                                                           for y in range(240) for x in range(320) for c in range(3)))
    write(folder, "scene.pov", "camera { location <0,2,-5> look_at 0 }\nlight_source { <9,9,-9> color rgb 1 }\n"
          "plane { y, -1 pigment { checker color rgb 1 color rgb 0 } }\n"
          "sphere { 0, 1 pigment { color rgb <1,0,0> } finish { reflection 0.4 phong 1 } }\n"
          "torus { 2, 0.3 pigment { marble scale 0.3 } normal { bumps 0.4 } }\n")
    sound = array.array("h")
    for i in range(500000):
        tone = sum(math.sin(i * f * (1 + i * 1e-7)) for f in (0.031, 0.083, 0.27)) * 6000
        sound.extend((int(tone) + dice.randint(-300, 300), int(tone * 0.7) + dice.randint(-300, 300)))
    write(folder, "sound.raw", sound.tobytes())


def puzzles(folder, dice):
    clauses = [[dice.choice([-1, 1]) * dice.randint(1, 250) for _ in range(3)] for _ in range(1065)]
    write(folder, "sat.cnf", f"p cnf 250 {len(clauses)}\n" + "".join(" ".join(map(str, c)) + " 0\n" for c in clauses))
    write(folder, "chess.txt", "depth 12\ngo\nquit\n")
    write(folder, "go.txt", "boardsize 13\nlevel 8\n" + "genmove black\ngenmove white\n" * 6 + "quit\n")
    n = 80
    terms = lambda pairs: " + ".join(f"{dice.randint(1, 99)} x{i}_{j}" for i, j in pairs)
    every = [(i, j) for i in range(n) for j in range(n)]
    write(folder, "plan.lp", "Minimize\n cost: " + terms(every) + "\nSubject To\n" +
          "".join(f" r{i}: " + " + ".join(f"x{i}_{j}" for j in range(n)) + f" <= {dice.randint(50, 90)}\n" for i in range(n)) +
          "".join(f" c{j}: " + " + ".join(f"x{i}_{j}" for i in range(n)) + f" >= {dice.randint(20, 50)}\n" for j in range(n)) +
          "End\n")


def sequences(folder, dice):
    """A genome of random bases with its index, reads that occur in it with errors, and proteins to align."""
    genome = "".join(dice.choices("ACGT", k=8 << 20))
    write(folder, "genome.fa", ">genome\n" + genome + "\n")
    reads = []
    for i in range(6000):
        at = dice.randrange(len(genome) - 150)
        read = list(genome[at:at + 150])
        for _ in range(3):
            read[dice.randrange(150)] = dice.choice("ACGT")
        reads.append(f"@r{i}\n{''.join(read)}\n+\n{'I' * 150}\n")
    write(folder, "reads.fq", "".join(reads))
    root = dice.choices("ACDEFGHIKLMNPQRSTVWY", k=250)
    write(folder, "proteins.fa", "".join(
        f">p{i}\n" + "".join(dice.choice("ACDEFGHIKLMNPQRSTVWY") if dice.random() < 0.3 else a for a in root) + "\n"
        for i in range(40)))
    if shutil.which("bwa"):
        subprocess.run(["bwa", "index", "genome.fa"], cwd=folder, check=True, capture_output=True)


def make(folder, commands):
    """What these commands read. The genome takes longest, so it comes last and only where it is read: what the others
    read does not depend on it."""
    dice = random.Random(20211018)
    words = ["".join(dice.choice("abcdefghij") for _ in range(dice.randint(2, 9))) for _ in range(3000)]
    texts(folder, dice, words)
    scripts(folder, dice, words)
    pictures_and_sound(folder, dice)
    puzzles(folder, dice)
    if any(name in command for command in commands for name in ("genome.fa", "proteins.fa")):
        sequences(folder, dice)
    cross = shutil.which("riscv64-linux-gnu-gcc")
    if cross:
        subprocess.run([cross, "-O2", "-static", "-o", os.path.join(folder, "rv-kernels"),
                        os.path.join(HERE, "rv_kernels.c"), "-lm"], check=True)
