"""The changes that `tools/mutants --make` tries: every small change of the function bodies of one C file.

A change replaces the text from `start` to `end` by `text`. Nothing is changed in comments, strings, preprocessor lines,
tables outside of functions, assertions and what only they call, the sizes of memory and declared arrays, calls that release
memory (both of which sanitizers test), or what says that memory is out (which tests/faults tests).
"""
import re
from typing import NamedTuple

TOKEN = re.compile(
    r"(?P<skip>//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.)*|\s+)"
    r'|(?P<text>"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')'
    r"|(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[uUlLfF]*)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)",
    re.S | re.M,
)
TURNED = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"],
    "&": ["|"], "|": ["&"], "<<": [">>"], ">>": ["<<"],
    "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "|=": ["&="], "&=": ["|="], "++": ["--"], "--": ["++"],
}  # fmt: skip
COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
UNARY_TOO = {"+", "-", "*", "&"}
SWAPPED = {"-", "/", "%", "<<", ">>"}
LOGIC_STOPS = {"&&", "||", ";", ",", "?", ":", "=", "|=", "&=", "return"}
CONTROL = {"if", "else", "for", "while", "do", "switch", "case", "default", "return", "goto", "break", "continue"}
TYPES = {"const", "static", "struct", "union", "enum", "unsigned", "signed", "int", "long", "short", "char", "float", "double",
         "bool", "void", "size_t", "_Thread_local", "register", "volatile", "extern", "typedef"}  # fmt: skip
NOT_CALLS = CONTROL | TYPES | {"sizeof", "_Alignof", "assert"}
LEFT_ALONE = re.compile(r"(^|_)([mc]?alloc|realloc|reserve|sizeof|assert|Static_assert)$")
RELEASES = re.compile(r"(^|_)(free|fini|release|decref|finalize)$")
OUT_OF_MEMORY = {"sx_error_memory", "sx_arena_error"}
SYMMETRIC = re.compile(r"f(min|max)|\w+_equal|\w+_times|sx_overlap|sx_(larger|smaller|gcd)")
COMPARES = re.compile(r"mem_?cmp|strn?cmp")
OPENS, CLOSES = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}


class Change(NamedTuple):
    kind: str
    start: int
    end: int
    text: str


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def tokens_of(source):
    return [Token(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(source) if m.lastgroup != "skip"]


class Reader:
    """The tokens of a file, the partner of each bracket, the innermost open bracket of each token, and which tokens lie in
    function bodies outside assertions and of the functions that only assertions call, which have the attribute `unused`."""

    def __init__(self, source):
        self.source = source
        self.tokens = tokens_of(source)
        self.partner = {}
        self.bracket = {}
        stack = []
        for i, t in enumerate(self.tokens):
            self.bracket[i] = self.text(stack[-1]) if stack else ""
            if t.text in OPENS and t.kind == "sign":
                stack.append(i)
            elif t.text in CLOSES and t.kind == "sign" and stack:
                self.partner[stack[-1]] = i
                self.partner[i] = stack.pop()
        self.body = self.body_tokens()
        self.statement = self.statement_starts()

    def text(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def body_tokens(self):
        inside = set()
        i, asserted = 0, False
        while i < len(self.tokens):
            asserted = asserted and self.text(i - 1) not in (";", "}")
            if self.text(i) == "{" and self.text(i - 1) == ")" and i in self.partner:
                inside.update(() if asserted else range(i + 1, self.partner[i]))
                i = self.partner[i]
            elif self.text(i) in OPENS and i in self.partner:
                asserted |= self.text(i - 1) == "__attribute__" and self.text(i + 2) == "unused"
                i = self.partner[i]
            i += 1
        for i in sorted(inside):
            if self.text(i + 1) == "(" and LEFT_ALONE.search(self.text(i)):
                inside.difference_update(range(i, self.partner[i + 1] + 1))
            close = self.partner[i + 1] if self.text(i) in ("if", "for") and self.text(i + 1) == "(" else None
            if close is not None and RELEASES.search(self.text(close + 1)) and self.text(close + 2) == "(":
                inside.difference_update(range(i, self.partner[close + 2] + 1))
            elif self.text(i) in OUT_OF_MEMORY and self.text(i + 1) == "(" and self.text(i - 1) in ("return", "="):
                inside.difference_update(range(self.guard_of(i), self.partner[i + 1] + 2))
        return inside

    def guard_of(self, i):
        """The first token of the statement whose value begins at a token, and of the `if` before it."""
        first = i - 1 if self.text(i - 1) == "return" else i - 2
        opened = self.partner[first - 1] if self.text(first - 1) == ")" else 0
        return opened - 1 if self.text(opened - 1) == "if" else first

    def statement_starts(self):
        """The first token of the statement that a token belongs to."""
        start, first = {}, 0
        for i in range(len(self.tokens)):
            before = self.text(i - 1)
            if before in (";", "{", "}", "else", "do") or (before == ":" and self.text(i - 3) in ("case",)):
                first = i
            elif before == "(" and self.text(i - 2) == "for":
                first = i
            elif before == ")" and self.text(self.partner.get(i - 1, 0) - 1) in ("if", "for", "while", "switch", "SX_FOR"):
                first = i
            start[i] = first
        return start

    def is_declaration(self, first):
        """Whether the statement that starts at a token declares something: a type, then a name."""
        i = first
        if self.text(i) in TYPES:
            return True
        if self.tokens[i].kind != "name" or self.text(i) in CONTROL:
            return False
        i += 1
        stars = 0
        while self.text(i) == "*":
            i, stars = i + 1, stars + 1
        if self.tokens[i].kind != "name":
            return False
        return stars == 0 or self.text(i + 1) in ("=", ";", ",", "[", ")")

    def ends_operand(self, i):
        t = self.tokens[i]
        return (t.kind in ("number", "text") or t.text in (")", "]") or (t.kind == "name" and t.text not in CONTROL)) and not (
            t.text == ")" and self.is_cast(i)
        )

    def is_cast(self, close):
        """Whether a closing bracket ends a cast: only type names and stars lie between the brackets."""
        inside = [self.tokens[i] for i in range(self.partner.get(close, close) + 1, close)]
        if not inside or any(t.kind != "name" and t.text != "*" for t in inside):
            return False
        return inside[-1].text == "*" or inside[0].text in TYPES or re.fullmatch(r"\w+_t|sx_\w+", inside[0].text) and len(
            inside) == 1 and self.tokens[min(close + 1, len(self.tokens) - 1)].kind in ("name", "number", "text")

    def operand_before(self, i):
        """The first token of the simple operand that ends before a token, or None."""
        j = i - 1
        while True:
            if self.text(j) in (")", "]") and j in self.partner:
                j = self.partner[j] - 1
                if self.text(j + 1) == "(" and self.tokens[j].kind != "name":
                    return j + 1
                if self.text(j) in CONTROL:
                    return None
                continue
            if self.tokens[j].kind not in ("name", "number"):
                return None
            if self.text(j - 1) in (".", "->"):
                j -= 2
                continue
            return j

    def operand_after(self, i):
        """The token after the simple operand that follows a token, or None."""
        j = i + 1
        if self.text(j) == "(" and j in self.partner and not self.is_cast(self.partner[j]):
            return self.partner[j] + 1
        if self.tokens[j].kind not in ("name", "number"):
            return None
        j += 1
        while True:
            if self.text(j) in ("(", "[") and j in self.partner:
                j = self.partner[j] + 1
            elif self.text(j) in (".", "->"):
                j += 2
            else:
                return j

    def expression_end(self, i, stops):
        """The first token from i on, at the same depth of brackets, that is one of `stops` or closes the depth."""
        while i < len(self.tokens):
            if self.text(i) in stops or self.text(i) in CLOSES:
                return i
            i = self.partner[i] + 1 if self.text(i) in OPENS and i in self.partner else i + 1
        return None

    def expression_start(self, i, stops):
        """The token after the last one before i, at the same depth of brackets, that is one of `stops` or opens the depth."""
        i -= 1
        while i >= 0 and self.text(i) not in stops and self.text(i) not in OPENS:
            i = self.partner[i] - 1 if self.text(i) in CLOSES and i in self.partner else i - 1
        return i + 1

    def span(self, i, j):
        """The text of the tokens from i to before j."""
        return self.source[self.tokens[i].start : self.tokens[j - 1].end]


def number_changes(text):
    m = re.fullmatch(r"(\d+)([uUlL]*)", text)
    if m:
        n = int(m[1])
        return [f"{n + 1}{m[2]}"] + ([f"{n - 1}{m[2]}"] if n else [])
    if re.fullmatch(r"[\d.]+(?:[eE][+-]?\d+)?[fF]?", text):
        value = float(text.rstrip("fF"))
        return [repr(value * 2 if value else 1.0)]
    return []


def sign_changes(r, i):
    t = r.tokens[i]
    binary = r.ends_operand(i - 1)
    if t.text in UNARY_TOO and not binary:
        return
    if t.text == "*" and r.is_declaration(r.statement[i]) and all(
        r.tokens[j].kind == "name" or r.text(j) == "*" for j in range(r.statement[i], i)
    ):
        return
    if t.text == "!" and not binary:
        yield Change("negation dropped", t.start, t.end, "")
    for text in TURNED.get(t.text, ()):
        yield Change("comparison turned" if t.text in COMPARISONS else "operator changed", t.start, t.end, text)
    if t.text in SWAPPED and binary:
        before, after = r.operand_before(i), r.operand_after(i)
        if before is not None and after is not None and r.span(before, i) != r.span(i + 1, after):
            text = f"{r.span(i + 1, after)} {t.text} {r.span(before, i)}"
            yield Change("operands swapped", r.tokens[before].start, r.tokens[after - 1].end, text)
    if t.text in ("&&", "||"):
        end = r.expression_end(i + 1, LOGIC_STOPS)
        if end is not None:
            yield Change("condition dropped", t.start, r.tokens[end - 1].end, "")
        start = r.expression_start(i, LOGIC_STOPS)
        if r.text(start - 1) not in ("&&", "||"):
            yield Change("condition dropped", r.tokens[start].start, t.end, "")
    if t.text == "?":
        colon = r.expression_end(i + 1, {":", "?"})
        end = r.expression_end(colon + 1, {";", ",", "?", ":"}) if colon is not None and r.text(colon) == ":" else None
        if end is not None and r.span(i + 1, colon) != r.span(colon + 1, end):
            text = f"? {r.span(colon + 1, end)} : {r.span(i + 1, colon)}"
            yield Change("alternatives swapped", t.start, r.tokens[end - 1].end, text)


def call_changes(r, i):
    name, close = r.text(i), r.partner.get(i + 1)
    if close is None or name in NOT_CALLS:
        return
    for one, other in (("min", "max"), ("max", "min")):
        swapped = re.sub(rf"(^|_|f){one}(_|$)", rf"\g<1>{other}\g<2>", name)
        if swapped != name:
            yield Change("minimum and maximum swapped", r.tokens[i].start, r.tokens[i].end, swapped)
    compared = COMPARES.fullmatch(name) and (r.text(close + 1) in ("==", "!=", "&&", "||") or r.text(i - 1) in ("!", "&&", "||"))
    comma = None if compared or SYMMETRIC.fullmatch(name) else r.expression_end(i + 2, {","})
    while comma is not None and r.text(comma) == ",":
        end = r.expression_end(comma + 1, {","})
        begin = comma
        while r.text(begin - 1) != "," and begin - 1 != i + 1:
            begin = r.partner[begin - 1] if r.text(begin - 1) in CLOSES else begin - 1
        if r.span(begin, comma) != r.span(comma + 1, end):
            text = f"{r.span(comma + 1, end)}, {r.span(begin, comma)}"
            yield Change("arguments swapped", r.tokens[begin].start, r.tokens[end - 1].end, text)
        comma = end


def statement_changes(r, i):
    t = r.tokens[i]
    if t.text == "if" and r.text(i + 1) == "(":
        close = r.partner[i + 1]
        yield Change("condition turned", r.tokens[i + 1].start, r.tokens[close].end, f"(!{r.span(i + 1, close + 1)})")
        if r.text(close + 1) in ("return", "continue", "break", "goto"):
            end = r.expression_end(close + 1, {";"})
            if end is not None and r.text(end) == ";" and r.text(end + 1) != "else":
                yield Change("guard dropped", t.start, r.tokens[end].end, ";")
    elif t.text == "return" and r.text(i + 1) != ";":
        end = r.expression_end(i + 1, {";"})
        value = r.span(i + 1, end)
        text = {"true": "false", "false": "true"}.get(value, "0")
        if value not in ("0", "NULL", "NAN") and not value.startswith("{"):
            yield Change("another value returned", r.tokens[i + 1].start, r.tokens[end - 1].end, text)
    elif (t.kind == "name" or t.text in ("*", "++", "--", "(")) and t.text not in CONTROL and not r.is_declaration(i):
        end = r.expression_end(i, {";", "{"})
        if end is None or r.text(end) != ";" or r.text(i + 1) == ":" or "{" in r.span(i, end):
            return
        if r.bracket[i] == "{" and not (r.text(i + 1) == "(" and RELEASES.search(t.text)):
            yield Change("statement deleted", t.start, r.tokens[end].end, ";")


def in_array_size(r, i):
    return r.text(i - 1) == "[" and r.text(i + 1) == "]" and r.is_declaration(r.statement[i]) and not any(
        r.text(j) == "=" for j in range(r.statement[i], i)
    )


def is_plain_initializer(r, i):
    return r.text(i - 1) == "{" and r.text(i) == "0" and r.text(i + 1) == "}"


def changes_of(source):
    """All changes of a file, in the order of their places."""
    r = Reader(source)
    found = []
    for i in sorted(r.body):
        t = r.tokens[i]
        if t.kind == "number" and not in_array_size(r, i) and not is_plain_initializer(r, i):
            found += [Change("constant changed", t.start, t.end, text) for text in number_changes(t.text)]
        elif t.kind == "sign":
            found += sign_changes(r, i)
        elif t.kind == "name" and r.text(i + 1) == "(":
            found += call_changes(r, i)
        if t.text in ("true", "false") and r.text(i - 1) != "return":
            found.append(Change("constant changed", t.start, t.end, "false" if t.text == "true" else "true"))
        if r.statement[i] == i or t.text in ("if", "return"):
            found += statement_changes(r, i)
    return list(dict.fromkeys(found))
