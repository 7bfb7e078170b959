#!/usr/bin/env python3
"""Holds the includes of src/ against the table of folders in ARCHITECTURE.md, which is an allow-list.

usage: layers.py ROOT

A row of that table is

    | `src/NAME` | what it is | what it includes | what it offers |

"What it includes" names folders (`base, store`) and single headers (`engine/wire.h`); `assay` is include/assay, and the
folder itself goes without saying. A folder may only name rows below its own, so there is no circle. "What it offers" are
the headers that other folders may include: `all`, `nothing`, or their names; a single header that a row names is allowed
in any case. What is named or offered must also be included somewhere: the table says what is, not what might be.

Includes are read as the preprocessor reads them: without comments, and with lines that go on joined. One whose header
is a macro is refused, and so are #import and #include_next. include/assay is public: it includes nothing of src/.

Prints one line for each include or row that is wrong, and ends with status 1 if there was one.
"""
import pathlib
import re
import sys

ROW = re.compile(r"^\|\s*`src/(\w+)`\s*\|[^|]*\|([^|]*)\|([^|]*)\|\s*$")
INCLUDE = re.compile(r'^\s*(?:#|%:)\s*(include|include_next|import)\b\s*(?:"([^"]+)"|<([^>]+)>)?')
TEXT_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*', re.S)
SOURCES = (".c", ".h", ".S", ".s", ".inc", ".def")


class Row:
    def __init__(self, includes, offers):
        self.includes = words(includes)
        self.offers = words(offers)
        self.used = set()
        self.taken = set()  # of what it offers, by others

    def allows(self, header):
        """The word of the row that allows a header of another folder, or None."""
        folder = header.split("/")[0]
        return next((word for word in (header, folder) if word in self.includes), None)

    def is_offered(self, name):
        return "all" in self.offers or name in self.offers


def words(cell):
    return [word for word in re.split(r"[,\s]+", cell.replace("`", "")) if word and word not in ("nothing", "–")]


def read_table(text):
    return {match[1]: Row(match[2], match[3]) for match in map(ROW.match, text.splitlines()) if match}


def bare_lines(text):
    """The lines without comments. What goes on in the next line is joined; the numbers of lines stay."""
    text = re.sub(r"((?:[^\n]*\\\n)+)([^\n]*)", lambda m: m[0].replace("\\\n", "") + "\n" * m[1].count("\n"), text)
    blank = lambda match: match[0] if match[0][0] == '"' else " " + "\n" * match[0].count("\n")
    return TEXT_OR_COMMENT.sub(blank, text).split("\n")


def includes_below(root, top):
    """Place and header of each include of a file of ours, `<…>` of a folder of ours among them; None: it names none."""
    for path in sorted((root / top).rglob("*")):
        if path.suffix not in SOURCES:
            continue
        for number, line in enumerate(bare_lines(path.read_text(errors="replace")), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            plain = match[1] == "include" and (match[2] or match[3])
            if not plain or match[2] or (root / "src" / match[3].split("/")[0]).is_dir():
                yield f"{path.relative_to(root)}:{number}", plain or None


def unread(header):
    return 'an include that names no header: write #include "FOLDER/NAME"' if header is None else None


def wrong_include(table, folder, header):
    other, _, name = header.partition("/")
    if not name:
        return f'"{header}" does not name its folder'
    if ".." in header.split("/"):
        return f"includes {header}: name the folder itself"
    if other == folder:
        return None
    if other in table:
        table[other].taken.add(name)
    word = table[folder].allows(header)
    if not word:
        return f"includes {header}: the row of src/{folder} does not name {other}"
    table[folder].used.add(word)
    if word != header and other in table and not table[other].is_offered(name):
        return f"includes {header}: src/{other} does not offer it"
    return None


def wrong_rows(table):
    order = list(table)
    for at, folder in enumerate(order):
        for word in table[folder].includes:
            other = word.split("/")[0]
            if other != "assay" and other not in order[at + 1:]:
                yield f"ARCHITECTURE.md: src/{folder} names {other}, which is not a row below it"
            elif word not in table[folder].used:
                yield f"ARCHITECTURE.md: src/{folder} names {word}, which it does not include"
        for name in table[folder].offers:
            if name != "all" and name not in table[folder].taken:
                yield f"ARCHITECTURE.md: src/{folder} offers {name}, which no other folder includes"


def check(root):
    table = read_table((root / "ARCHITECTURE.md").read_text())
    folders = sorted(path.name for path in (root / "src").iterdir() if path.is_dir())
    for folder in folders:
        if folder not in table:
            yield f"ARCHITECTURE.md: there is no row for src/{folder}"
            continue
        for where, header in includes_below(root, f"src/{folder}"):
            if wrong := unread(header) or wrong_include(table, folder, header):
                yield f"{where}: {wrong}"
    for where, header in includes_below(root, "include/assay"):
        if wrong := unread(header) or (not header.startswith("assay/") and f"includes {header}: include/assay is public"):
            yield f"{where}: {wrong}"
    for folder in table:
        if folder not in folders:
            yield f"ARCHITECTURE.md: there is no folder src/{folder}"
    yield from wrong_rows(table)


def main():
    problems = list(check(pathlib.Path(sys.argv[1])))
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
