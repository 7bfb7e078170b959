#!/usr/bin/env python3
"""Makes the page: one HTML file with its style and script in it, and the same as a C array for the program.

    build.py --esbuild PROGRAM --source DIR --html OUT.html --c OUT.c [--depfile OUT.d]

The style and the script are named to the browser by their hashes, so that nothing else can run in the page; nothing at
all may be loaded. The place for the profile stays open: a comment, <!--assay-data-->, that as_page_open() replaces.
"""
import argparse
import base64
import hashlib
import pathlib
import subprocess
import sys

MARKER = "<!--assay-data-->"


def bundle(esbuild, entry, *options):
    command = [esbuild, str(entry), "--bundle", "--minify", "--charset=utf8", "--log-level=warning", "--legal-comments=none", *options]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=entry.parent).stdout.decode().strip()


def csp_hash(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def assemble(esbuild, source):
    script = bundle(esbuild, source / "main.ts", "--format=iife", "--target=es2020")
    style = bundle(esbuild, source / "page.css", "--target=chrome123,firefox120,safari17.5")
    for text, end in ((script, "</script"), (style, "</style")):
        if end in text.lower() or "<!--" in text:
            sys.exit(f"build.py: the page's own code must not contain {end} or <!--")
    policy = f"default-src 'none'; script-src {csp_hash(script)}; style-src {csp_hash(style)}; base-uri 'none'; form-action 'none'"
    page = (source / "page.html").read_text(encoding="utf-8")
    for name, text in (("@CSP@", policy), ("@STYLE@", style), ("@SCRIPT@", script)):
        if page.count(name) != 1:
            sys.exit(f"build.py: page.html must have {name} once")
        page = page.replace(name, text)
    if page.count(MARKER) != 1:
        sys.exit(f"build.py: the page must have {MARKER} once")
    return page


def c_lines(data, width=100):
    """The bytes as string literals. Octal escapes have three digits, so that no digit behind one joins it."""
    plain = {i: chr(i) for i in range(32, 127) if chr(i) not in '"\\?'}
    for start in range(0, len(data), width):
        yield '    "' + "".join(plain.get(byte, f"\\{byte:03o}") for byte in data[start:start + width]) + '"'


def c_file(data):
    return "\n".join([
        "/* The page's template. Made by web/build.py from web/src: do not edit. */",
        '#include "page/page_template.h"',
        "",
        f"const size_t as_page_template_size = {len(data)};",
        "const char as_page_template[] =",
        *c_lines(data),
        "    ;",
        ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--esbuild", default="esbuild")
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--html", type=pathlib.Path, required=True)
    parser.add_argument("--c", type=pathlib.Path, required=True)
    parser.add_argument("--depfile", type=pathlib.Path)
    options = parser.parse_args()
    page = assemble(options.esbuild, options.source.resolve()).encode()
    options.html.write_bytes(page)
    options.c.write_text(c_file(page), encoding="ascii")
    if options.depfile:
        inputs = sorted(str(path) for path in options.source.iterdir())
        options.depfile.write_text(f"{options.html}: {' '.join(inputs)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
