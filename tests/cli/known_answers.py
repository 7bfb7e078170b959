"""What the known-answer programs must count, and whether a JSON document of `assay stat` agrees.

    known_answers.py TABLE list PREFIX              the names of the programs that begin so
    known_answers.py TABLE expect PROGRAM           its counts as JSON
    known_answers.py TABLE rows PROGRAM …           the same as initialisers of C, for tests/unit/plugin/test_known_runs.c
    known_answers.py TABLE small PREFIX STEPS       those that take at most so many single steps, or are the shortest of their family
    known_answers.py TABLE compare FOLDER           of each FILE of the folder, which has a program's name: the name, a tab, and the
                                                    fields that differ
    known_answers.py TABLE compare-steps FOLDER     the same for files of stepcount, which have fewer fields

TABLE is workloads/known/known_answers.table, whose head explains its lines.
"""
import json
import os
import sys

CLASSES = """int mul div fp_add fp_mul fp_fma fp_div fp_sqrt fp_convert fp_other vector vector_mul load store atomic string
branch jump jump_indirect call call_indirect return fence serialise system cache nop unknown""".split()
OTHERS = """unclassed cond_taken loads stores load_accesses store_accesses syscalls processes
thread_instructions""".split()


def parameters(words):
    """NAME=VALUE words; values that are numbers become numbers."""
    found = {}
    for word in words:
        name, value = word.split("=", 1)
        try:
            found[name] = int(value, 0)
        except ValueError:
            found[name] = value
    return found


def families(path):
    """[(shared parameters, {program: own parameters}, {field: formula})]"""
    found = []
    with open(path, encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            words = line.split("#", 1)[0].split()
            if not words:
                continue
            if words[0] == "family":
                found.append((parameters(words[2:]), {}, {}))
            elif words[0] == "build":
                found[-1][1][words[1]] = parameters(words[2:])
            else:
                field, equals, formula = line.partition("=")
                field = field.strip()
                if not equals or field not in CLASSES + OTHERS or field in found[-1][2]:
                    sys.exit(f"{path}:{number}: not a field, or given twice: {field}")
                found[-1][2][field] = formula.strip()
    return found


def expectation(shared, own, formulas):
    names = {**shared, **own}
    value = {field: eval(formula, {**names}) for field, formula in formulas.items()}
    classes = {name: value.get(name, 0) for name in CLASSES}
    instructions = sum(classes.values()) + value.get("unclassed", 0)
    threads = value.get("thread_instructions", [instructions])
    if sum(threads) != instructions:
        sys.exit(f"the table contradicts itself: {instructions} instructions, {sum(threads)} in threads: {names}")
    calls = classes["call"] + classes["call_indirect"]
    branches = classes["branch"] + classes["jump"] + classes["jump_indirect"] + calls + classes["return"]
    loads, stores = value.get("loads", 0), value.get("stores", 0)
    return {
        "instructions": instructions,
        "loads": loads, "stores": stores,
        "load_accesses": value.get("load_accesses", loads), "store_accesses": value.get("store_accesses", stores),
        "branches": branches, "conditional": classes["branch"],
        "taken": value.get("cond_taken", 0) + branches - classes["branch"],
        "calls": calls, "returns": classes["return"],
        "syscalls": value.get("syscalls", classes["system"]),
        "threads": len(threads), "processes": value.get("processes", 1),
        "classes": classes, "unclassed": value.get("unclassed", 0), "thread_instructions": sorted(threads),
    }


def expectations(path):
    found = {}
    for shared, builds, formulas in families(path):
        for program, own in builds.items():
            if program in found:
                sys.exit(f"{path}: {program} is there twice")
            found[program] = expectation(shared, own, formulas)
    return found


def step_differences(want, seen):
    for field in "instructions branches conditional taken calls returns syscalls threads processes".split():
        if seen.get(field) != want[field]:
            yield f"{field}: {seen.get(field)}, not {want[field]}"
    threads = sorted(thread.get("instructions", -1) for thread in seen.get("by_thread", []))
    if threads != want["thread_instructions"]:
        yield f"by_thread: {threads} instructions, not {want['thread_instructions']}"


def differences(want, seen):
    yield from step_differences(want, seen)
    for field in "loads stores load_accesses store_accesses".split():
        if seen.get(field) != want[field]:
            yield f"{field}: {seen.get(field)}, not {want[field]}"
    classes = seen.get("classes", {})
    if sum(classes.values()) != want["instructions"]:
        yield f"classes: their sum is {sum(classes.values())}, not {want['instructions']}"
    for name in sorted({*classes, *want["classes"]}):
        least = want["classes"].get(name, 0)
        if not least <= classes.get(name, 0) <= least + want["unclassed"]:
            yield f"classes.{name}: {classes.get(name, 0)}, not {least}"
    by_thread = seen.get("by_thread", [])
    for field in ("loads", "stores", "load_accesses", "store_accesses", "branches", "taken", "calls", "syscalls"):
        total = sum(thread.get(field, 0) for thread in by_thread)
        if total != want[field]:
            yield f"by_thread: {total} {field} in all, not {want[field]}"


def row_of(program, want):
    fields = ("instructions loads stores load_accesses store_accesses branches conditional taken calls returns syscalls "
              "threads processes").split()
    return f'{{"{program}", {", ".join(f".{field} = {want[field]}" for field in fields)}}},'


def small_ones(table, known, prefix, most):
    """In the order of the table. Of a family without such a program the shortest, if it takes at most ten times as many."""
    def steps(program):
        return known[program]["instructions"] + known[program]["load_accesses"] + known[program]["store_accesses"]

    for _, builds, _ in families(table):
        programs = [program for program in builds if program.startswith(prefix)]
        least = min(map(steps, programs), default=0)
        limit = least if most < least <= 10 * most else most
        yield from (program for program in programs if steps(program) <= limit)


def main():
    _, table, verb, *rest = sys.argv
    known = expectations(table)
    if verb == "list":
        print("\n".join(program for program in known if program.startswith(rest[0])))
    elif verb == "expect":
        print(json.dumps(known[rest[0]], indent=2))
    elif verb == "rows":
        print("\n".join(row_of(program, known[program]) for program in rest))
    elif verb == "small":
        print("\n".join(small_ones(table, known, rest[0], int(rest[1]))))
    elif verb in ("compare", "compare-steps"):
        judge = differences if verb == "compare" else step_differences
        for program in sorted(os.listdir(rest[0])):
            with open(os.path.join(rest[0], program), encoding="utf-8") as document:
                print(program, "; ".join(judge(known[program], json.load(document))), sep="\t")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
