"""Whether a regular expression of a schema occurs in a property's name, in time linear in both.

Must not know of schemas. Python's parser reads the expression, an automaton with sets of states runs it: `(a+)+$` can't
explode here. Source: `java.util.regex` is what the registry uses; `find`, ASCII classes, `$` before a last line end.
"""

from __future__ import annotations

import functools
import importlib
import re
import string
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from registry.errors import InvalidSchemaError
from registry.limits import MAX_PATTERN_STATES, MAX_PATTERN_STEPS

SURELY_WRONG: Final = (
    *("missing ), unterminated", "unbalanced parenthesis", "unterminated character set", "bad escape (end of pattern)"),
    *("nothing to repeat", "bad character range", "min repeat greater than max repeat"),
)

_parser: Any = importlib.import_module("re._parser")
_constants: Any = importlib.import_module("re._constants")

# Java's spelling → Python's
SPELLINGS: Final = (
    (re.compile(r"\(\?<(?=[A-Za-z])"), "(?P<"),
    (re.compile(r"\\k<(\w+)>"), r"(?P=\1)"),
    (re.compile(r"\\[zZ]"), r"\\Z"),
)

CATEGORIES: Final = "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp"
# Java's properties of characters. POSIX's names are for ASCII alone, categories and `Is…` are not.
PROPERTIES: Final[Mapping[str, Callable[[str], bool]]] = {
    "Lower": frozenset(string.ascii_lowercase).__contains__,
    "Upper": frozenset(string.ascii_uppercase).__contains__,
    "Alpha": frozenset(string.ascii_letters).__contains__,
    "Digit": frozenset(string.digits).__contains__,
    "Alnum": frozenset(string.ascii_letters + string.digits).__contains__,
    "XDigit": frozenset(string.hexdigits).__contains__,
    "Punct": frozenset(string.punctuation).__contains__,
    "Space": frozenset(" \t\n\x0b\f\r").__contains__,
    "IsAlphabetic": str.isalpha,
    "IsDigit": lambda char: unicodedata.category(char) == "Nd",
    "IsLowercase": str.islower,
    "IsUppercase": str.isupper,
    **{
        before + name: functools.partial(lambda name, char: unicodedata.category(char).startswith(name), name)
        for name in re.findall(r"\w+", CATEGORIES)
        for before in ("", "Is")
    },
}
PROPERTY: Final = re.compile(r"\\\\|\\([pP])(?:\{(\w+)\}|([LMNPSZ]))")
FIRST_STAND_IN: Final = 0x100000
"""Python's parser knows no `\\p{…}`: a character for private use stands for each, inside and outside of classes."""
STAND_INS: Final = {
    (kind, name): FIRST_STAND_IN + number
    for number, (kind, name) in enumerate((kind, name) for kind in "pP" for name in PROPERTIES)
}
STANDS_FOR: Final = {code: (PROPERTIES[name], kind == "p") for (kind, name), code in STAND_INS.items()}


class _Unknown(Exception):
    """The expression has something that can't be run here."""


def check_pattern(pattern: str, where: str) -> None:
    """Refuses what is no regular expression in any dialect.

    Raises:
        InvalidSchemaError: it is not one.
    """
    wrong = _what_is_wrong(pattern)
    if wrong:
        shown = pattern if len(pattern) <= 80 else pattern[:80] + "…"
        raise InvalidSchemaError.local(f"invalid JSON Schema at {where}: {shown!r} is no regular expression: {wrong}")


@functools.lru_cache(maxsize=1000)
def _what_is_wrong(pattern: str) -> str | None:
    try:
        _parse(pattern)
    except RecursionError:
        return "it is nested too deeply"
    except (re.error, OverflowError) as error:
        return str(error) if str(error).startswith(SURELY_WRONG) else None
    return None


def _stand_in(found: re.Match[str]) -> str:
    """The character that stands for a property; the text as it was, if it is none that is known."""
    code = STAND_INS.get((found[1], found[2] or found[3]))
    return found[0] if code is None else chr(code)


def _parse(pattern: str) -> Any:
    pattern = PROPERTY.sub(_stand_in, pattern)
    for java, python in SPELLINGS:
        pattern = java.sub(python, pattern)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _parser.parse(pattern, re.ASCII)


class Patterns:
    """The expressions of one comparison, with a common limit on what they may cost."""

    def __init__(self) -> None:
        self._steps = 0
        self._programs: dict[str, _Program | None] = {}

    def occurs(self, pattern: str, text: str) -> bool:
        """Whether the expression matches somewhere in the text; what can't be run (back references) never does.

        Raises:
            InvalidSchemaError: all that was asked so far took more than `MAX_PATTERN_STEPS` steps.
        """
        if pattern not in self._programs:
            try:
                self._programs[pattern] = _Program.of(_parse(pattern))
            except (_Unknown, re.error, OverflowError, RecursionError):
                self._programs[pattern] = None
        program = self._programs[pattern]
        return program is not None and program.run(text, 0, True, self._spend)

    def _spend(self, steps: int) -> None:
        self._steps += steps
        if self._steps > MAX_PATTERN_STEPS:
            raise InvalidSchemaError.local("comparing the patterns with the names of properties takes too long")


Spend: TypeAlias = Callable[[int], None]
Test: TypeAlias = Callable[[str], bool]


@dataclass(slots=True)
class _Program:
    """An automaton: instructions that test a character, branch, or ask about the place."""

    code: list[tuple[Any, ...]] = field(default_factory=list)
    ignore_case: bool = False
    dot_all: bool = False
    multiline: bool = False

    @classmethod
    def of(cls, tree: Any, flags: int | None = None) -> _Program:
        """The automaton of a parsed expression."""
        flags = tree.state.flags if flags is None else flags
        program = cls([], bool(flags & re.I), bool(flags & re.S), bool(flags & re.M))
        program._sequence(tree)
        program.code.append(("match",))
        return program

    def run(self, text: str, start: int, anywhere: bool, spend: Spend) -> bool:
        """Whether it matches at a place of the text, or anywhere after it."""
        now: set[int] = set()
        for at in range(start, len(text) + 1):
            if anywhere or at == start:
                now.add(0)
            spend(len(now) + 1)
            ahead = self._closure(now, text, at, spend)
            if ahead is None:
                return True
            if not ahead and not anywhere:
                return False
            char = text[at : at + 1]
            now = {state + 1 for state in ahead if char and self.code[state][1](char)}
        return False

    def _closure(self, states: Iterable[int], text: str, at: int, spend: Spend) -> list[int] | None:
        """The states that wait for a character; None if the end is reached."""
        todo, seen, waiting = list(states), set(states), []
        while todo:
            state = todo.pop()
            instruction = self.code[state]
            if instruction[0] == "match":
                return None
            if instruction[0] == "test":
                waiting.append(state)
                continue
            if instruction[0] == "split":
                after: tuple[int, ...] = instruction[1]
            else:
                after = (state + 1,) if instruction[1](text, at, spend) else ()
            for item in after:
                if item not in seen:
                    seen.add(item)
                    todo.append(item)
        spend(len(seen))
        return waiting

    # --- from the parser's tree

    def _emit(self, *instruction: Any) -> int:
        if len(self.code) >= MAX_PATTERN_STATES:
            raise _Unknown
        self.code.append(instruction)
        return len(self.code) - 1

    def _sequence(self, tree: Any) -> None:
        for name, argument in tree:
            step = getattr(self, f"_on_{str(name).lower()}", None)
            if step is None:
                raise _Unknown
            step(argument)

    def _on_literal(self, code: int) -> None:
        self._test(_is(code))

    def _on_not_literal(self, code: int) -> None:
        test = _is(code)
        self._test(lambda char: not test(char))

    def _on_any(self, _: Any) -> None:
        all_of_them = self.dot_all
        self._emit("test", lambda char: all_of_them or char not in "\n\r\u0085\u2028\u2029")

    def _on_in(self, items: Any) -> None:
        negate = items[0][0] is _constants.NEGATE
        tests = [_member(*item) for item in items[negate:]]
        if self.ignore_case:
            tests = [_any_case(test) for test in tests]
        self._emit("test", lambda char: any(test(char) for test in tests) is not negate)

    def _test(self, test: Test) -> None:
        self._emit("test", _any_case(test) if self.ignore_case else test)

    def _on_branch(self, argument: Any) -> None:
        ends = []
        for tree in argument[1]:
            split = self._emit("split", ())
            self._sequence(tree)
            ends.append(self._emit("split", ()))
            self.code[split] = ("split", (split + 1, len(self.code)))
        dead = self._emit("split", ())
        for end in ends:
            self.code[end] = ("split", (dead + 1,))

    def _on_subpattern(self, argument: Any) -> None:
        _, add, remove, tree = argument
        before = self.ignore_case, self.dot_all, self.multiline
        flags = [
            (item or add & flag) and not remove & flag for item, flag in zip(before, (re.I, re.S, re.M), strict=True)
        ]
        self.ignore_case, self.dot_all, self.multiline = map(bool, flags)
        self._sequence(tree)
        self.ignore_case, self.dot_all, self.multiline = before

    def _on_atomic_group(self, tree: Any) -> None:
        self._sequence(tree)

    def _on_max_repeat(self, argument: Any) -> None:
        least, most, tree = argument
        for _ in range(least):
            self._sequence(tree)
            if len(self.code) > MAX_PATTERN_STATES:
                raise _Unknown
        if most is _constants.MAXREPEAT:
            split = self._emit("split", ())
            self._sequence(tree)
            self._emit("split", (split,))
            self.code[split] = ("split", (split + 1, len(self.code)))
            return
        splits = []
        for _ in range(most - least):
            splits.append(self._emit("split", ()))
            self._sequence(tree)
        for split in splits:
            self.code[split] = ("split", (split + 1, len(self.code)))

    _on_min_repeat = _on_possessive_repeat = _on_max_repeat

    def _on_at(self, place: Any) -> None:
        name = str(place)
        multiline = self.multiline
        if name in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
            lines = multiline and name == "AT_BEGINNING"
            self._emit("ask", lambda text, at, _: at == 0 or (lines and text[at - 1] == "\n"))
        elif name == "AT_END":
            self._emit(
                "ask", lambda text, at, _: at == len(text) or (text[at] == "\n" and (multiline or at == len(text) - 1))
            )
        elif name == "AT_END_STRING":
            self._emit("ask", lambda text, at, _: at == len(text))
        else:
            wanted = name == "AT_BOUNDARY"
            self._emit("ask", lambda text, at, _: (_is_word(text, at - 1) != _is_word(text, at)) is wanted)

    def _on_assert(self, argument: Any, wanted: bool = True) -> None:
        direction, tree = argument
        flags = self.ignore_case * re.I | self.dot_all * re.S | self.multiline * re.M
        inner = _Program.of(tree, int(flags))
        width = tree.getwidth()[0] if direction < 0 else 0

        def ask(text: str, at: int, spend: Spend) -> bool:
            return (at >= width and inner.run(text, at - width, False, spend)) is wanted

        self._emit("ask", ask)

    def _on_assert_not(self, argument: Any) -> None:
        self._on_assert(argument, wanted=False)


def _is(code: int) -> Test:
    """The test for a character, or for the property it stands for."""
    if code not in STANDS_FOR:
        return lambda char: ord(char) == code
    test, wanted = STANDS_FOR[code]
    return lambda char: test(char) is wanted


def _is_word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_")


def _any_case(test: Test) -> Test:
    return lambda char: test(char) or any(map(test, char.lower())) or any(map(test, char.upper()))


def _member(name: Any, argument: Any) -> Test:
    """The test for one item of a character class."""
    if name is _constants.LITERAL:
        return _is(argument)
    if name is _constants.RANGE:
        return lambda char: argument[0] <= ord(char) <= argument[1]
    wanted = "NOT" not in str(argument)
    kind = str(argument).rsplit("_", 1)[-1]
    if kind == "DIGIT":
        return lambda char: ("0" <= char <= "9") is wanted
    if kind == "SPACE":
        return lambda char: (char in " \t\n\x0b\f\r") is wanted
    return lambda char: (char == "_" or (char.isascii() and char.isalnum())) is wanted
