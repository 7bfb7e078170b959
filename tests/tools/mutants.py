"""Finds the single-token mutants of a C file.

A mutant is one small change that compiles and that a test should notice: another operator, another constant, a negated
condition, two arguments swapped, a statement deleted. The file is cut into tokens by one regular expression; comments,
texts, preprocessor lines and everything outside of braces stay as they are. What a change means is not worked out: a
mutant that does not compile is no mutant, and the caller drops it.
"""
import dataclasses
import re

TOKEN = re.compile(r"""
    (?P<skip>/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:[^\n\\]|\\.)*(?:\\\n[^\n]*)*|\s+)
  | (?P<text>L?"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<number>\b(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)[uUlLfF]*\b)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<operator><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|.)
""", re.VERBOSE | re.MULTILINE | re.DOTALL)

BINARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
          "*": "+", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|"}
ASSIGNING = {"+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "<<=": ">>=", ">>=": "<<=", "*=": "+=", "/=": "*="}
STEPS = {"++": "--", "--": "++"}
WORDS = {"true": "false", "false": "true"}
NO_STATEMENT = {"return", "if", "for", "while", "do", "switch", "else", "case", "default", "goto", "static", "const",
                "struct", "enum", "typedef", "extern", "union"}
# What only words a message for a person, or aligns memory: a change there is not worth a test.
MESSAGES = re.compile(r"\b(as_log_\w+|as_error_set\w*|assert|static_assert|_Static_assert|alignas)\s*\(")
# What makes no difference, or one that the sanitizer build alone can see: what is not released or prefetched, larger buffers,
# rows too few, which way a branch is expected to go, the order of a product's factors and of two texts that are compared for equality.
RELEASES = re.compile(r"\w*(free|close)\(|__builtin_prefetch\(")
BUFFER = re.compile(r"\b(char|uint8_t) (\w+(\[[^\]]*\])?( = [^,;]*)?, )*\w+\[[^\]]*$")
SPARE = re.compile(r"\bas_alloc_array\([^,]*\+ $")
EXPECTED = re.compile(r"__builtin_expect\([^;]*, $")
COMMUTES = re.compile(r"\b(as_alloc_array|str\w*cmp|memcmp)\($")
# What qsort() is given: glibc's only asks whether the result is above 0, so that -1 and 0 are one.
ORDER = re.compile(r"^static int (\w+)\(const void", re.MULTILINE)
EQUAL = re.compile(r"[^;{}]*?\) [=!]= 0\b")


# Behind this < and <= are one: what is compared is not equal.
UNEQUAL = re.compile(r"\bif \(([^()]+) != ([^()]+)\)\s*return \1 $")


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int
    depth: int  # of braces around it

    @property
    def end(self):
        return self.start + len(self.text)


@dataclasses.dataclass(frozen=True)
class Mutant:
    kind: str
    start: int
    end: int
    replacement: str
    line: int

    def apply(self, source):
        return source[:self.start] + self.replacement + source[self.end:]


def tokens_of(source):
    tokens, depth = [], 0
    for match in TOKEN.finditer(source):
        kind = match.lastgroup
        if kind == "skip":
            continue
        text = match.group()
        depth -= text == "}"
        tokens.append(Token(kind, text, match.start(), depth))
        depth += text == "{"
    return tokens


def closing(tokens, at):
    """The index of the bracket that closes the one at `at`, or None."""
    level = 0
    for i in range(at, len(tokens)):
        level += tokens[i].text in "([{" and len(tokens[i].text) == 1
        level -= tokens[i].text in ")]}" and len(tokens[i].text) == 1
        if level == 0:
            return i
    return None


def is_operand(token):
    return token.kind in ("name", "number", "text") and token.text not in ("return", "case", "sizeof") or \
        token.text in (")", "]")


def other_number(text):
    """The constant one higher; 1 becomes 0, which is the likelier mistake."""
    suffix = re.search(r"[uUlLfF]*$", text)[0] if not text.lower().startswith("0x") else re.search(r"[uUlL]*$", text)[0]
    digits = text[:len(text) - len(suffix)]
    if "." in digits or ("e" in digits.lower() and not digits.lower().startswith("0x")):
        return f"({text} * 2)"
    value = int(digits, 16) if digits.lower().startswith("0x") else int(digits, 8 if len(digits) > 1 and digits[0] == "0" else 10)
    return f"{0 if value == 1 else value + 1}{suffix}"


def token_changes(tokens, i):
    token, before = tokens[i], tokens[i - 1]
    if token.kind == "number":
        yield "constant", token.start, token.end, other_number(token.text)
    elif token.text in WORDS:
        yield "constant", token.start, token.end, WORDS[token.text]
    elif token.text in ASSIGNING:
        yield "operator", token.start, token.end, ASSIGNING[token.text]
    elif token.text in STEPS:
        yield "operator", token.start, token.end, STEPS[token.text]
    elif token.text in BINARY and is_operand(before) and tokens[i + 1].text != ")":
        yield "operator", token.start, token.end, BINARY[token.text]
    elif token.text == "!" and tokens[i + 1].text != "=":
        yield "condition", token.start, token.end, ""
    elif token.text in ("break", "continue") and tokens[i + 1].text == ";":
        yield "statement", token.start, token.end, ""


def condition_changes(tokens, i, source):
    if tokens[i].text not in ("if", "while") or tokens[i + 1].text != "(":
        return
    end = closing(tokens, i + 1)
    if end is not None:
        inside = source[tokens[i + 1].end:tokens[end].start]
        yield "condition", tokens[i + 1].end, tokens[end].start, f"!({inside})"


def argument_changes(tokens, i, source):
    """The first two arguments of a call, swapped."""
    if tokens[i].kind != "name" or tokens[i].text in NO_STATEMENT or tokens[i + 1].text != "(":
        return
    end, commas, at = closing(tokens, i + 1), [], i + 2
    while end is not None and at < end:
        if tokens[at].text in "([{":
            at = closing(tokens, at) or end
        elif tokens[at].text == ",":
            commas.append(at)
        at += 1
    if not commas:
        return
    second_end = commas[1] if len(commas) > 1 else end
    first = source[tokens[i + 1].end:tokens[commas[0]].start].strip()
    second = source[tokens[commas[0]].end:tokens[second_end].start].strip()
    if first and second and first != second:
        yield "arguments", tokens[i + 1].end, tokens[second_end].start, f"{second}, {first}"


def statement_changes(tokens, i, source):
    """A call or an assignment that stands by itself, deleted."""
    if tokens[i].kind != "name" and tokens[i].text not in ("*", "(") or tokens[i].text in NO_STATEMENT:
        return
    if tokens[i - 1].text not in (";", "{", "}", ")", "else"):
        return
    end = i
    while end < len(tokens) and tokens[end].text not in (";", "{", "}"):
        end += 1
    body = [token.text for token in tokens[i:end]]
    if end == len(tokens) or tokens[end].text != ";" or len(body) < 2:
        return
    called = body[1] == "(" and body[-1] == ")"
    assigned = any(text == "=" or text in ASSIGNING or text in STEPS for text in body) and \
        (body[1] in ("=", "->", ".", "[", "++", "--") or body[1] in ASSIGNING or body[0] in ("*", "("))
    if called or assigned:
        yield "statement", tokens[i].start, tokens[end].start, ""


def is_less_for_qsort(source, start):
    """The 1 of a comparison's -1."""
    if source[start - 1] != "-":
        return False
    header = list(ORDER.finditer(source, 0, start))
    name = header[-1][1] if header and "\n}" not in source[header[-1].start():start] else None
    return bool(name) and bool(re.search(rf"\bqsort(_r)?\([^;]*\b{name}\b", source)) and not re.search(rf"\bbsearch\([^;]*\b{name}\b", source)


def is_of_unequal(source, start, end):
    """Whether two that are not equal are compared: < and <= say the same of them."""
    before = UNEQUAL.search(source[max(0, start - 300):start])
    return source[start:end] in ("<", ">") and bool(before) and source[end:].startswith(f" {before[2]} ?")


def is_harmless(source, kind, start, end):
    line = source[source.rfind("\n", 0, start) + 1:start]
    if kind == "statement":
        return bool(RELEASES.match(source[start:end]))
    if kind == "operator":
        return is_of_unequal(source, start, end)
    if kind == "constant" and source[start:end] == "1" and is_less_for_qsort(source, start):
        return True
    if kind == "constant":
        return bool(SPARE.search(line)) or bool(EXPECTED.search(line)) or bool(BUFFER.search(line)) and source[start:end] != "1"
    called = COMMUTES.search(line) if kind == "arguments" else None
    return bool(called) and (called[1] == "as_alloc_array" or bool(EQUAL.match(source[end:])))


def find(source):
    """All mutants of a file's text, in its order."""
    tokens = tokens_of(source)
    quiet = []
    for match in MESSAGES.finditer(source):
        opens = next((i for i, token in enumerate(tokens) if token.start == match.end() - 1), None)
        end = closing(tokens, opens) if opens is not None else None
        if end is not None:
            quiet.append((match.start(), tokens[end].end))
    for i in range(1, len(tokens) - 1):
        token = tokens[i]
        if token.depth == 0 or any(start <= token.start < end for start, end in quiet):
            continue
        for changes in (token_changes(tokens, i), condition_changes(tokens, i, source),
                        argument_changes(tokens, i, source), statement_changes(tokens, i, source)):
            for kind, start, end, replacement in changes:
                if is_harmless(source, kind, start, end):
                    continue
                yield Mutant(kind, start, end, replacement, source.count("\n", 0, start) + 1)
