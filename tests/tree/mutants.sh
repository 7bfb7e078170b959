#!/usr/bin/env bash
# The generator of mutants: what it changes, what it leaves alone, and that a seed chooses the same ones again. Trying
# them is no part of the tests (CONTRIBUTING.md).
. "$(dirname "$0")/lib.sh"

cat >some.c <<'C'
/* 1 + 1 */
#define LIMIT (3 + 4)
static const int outside = 7;
int f(int a, int *b)
{
    if (a < 10 && !b)
        as_log_warn("%d", a + 5);
    g(a, b);
    a += 2;
    return "1 < 2"[0] ? true : a--;
}
int harmless(int a, char *b)
{
    char text[30], *copy = as_alloc_array(a, sizeof *b);
    free(copy);
    if (a != b)
        return a < b ? x : y;
    return __builtin_expect(strcmp(b, text) == 0, 1);
}
C
listed() {
    python3 -c '
import sys
sys.path.insert(0, sys.argv[1] + "/tests/tools")
import mutants
source = open("some.c", encoding="utf-8").read()
for mutant in mutants.find(source):
    print(mutant.line, mutant.kind, source[mutant.start:mutant.end], "->", mutant.replacement or "nothing")
' "$SOURCE"
}
check_stdout_equals "6 condition a < 10 && !b -> !(a < 10 && !b)
6 operator < -> <=
6 constant 10 -> 11
6 operator && -> ||
6 condition ! -> nothing
8 arguments a, b -> b, a
8 statement g(a, b) -> nothing
9 statement a += 2 -> nothing
9 operator += -> -=
9 constant 2 -> 3
10 constant 0 -> 1
10 constant true -> false
10 operator -- -> ++
16 condition a != b -> !(a != b)
16 operator != -> ==
18 arguments strcmp(b, text) == 0, 1 -> 1, strcmp(b, text) == 0
18 operator == -> !=
18 constant 0 -> 1" "the mutants of a function" listed

choose() { "$SOURCE/tests/tools/mutate" --list --count 5 --seed "$1" "$SOURCE/src/base"; }
check "a seed chooses" choose 1
first=$out
check_same "… five" 5 "$(wc -l <<<"$first")"
check_stdout_equals "$first" "… and the same again" choose 1
run choose 2
check "… and another one others" test "$out" != "$first"

missing=$(sed -n 's/^\([a-z]*\):.*/\1/p' "$SOURCE/tests/tools/mutate.map" |
    while read -r folder; do [ -d "$SOURCE/src/$folder" ] || echo "$folder"; done)
check_same "the map names folders that are there" "" "$missing"
