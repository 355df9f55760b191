"""The programs that kernels run over payloads: operations, the check that one may run, and how it is printed.

A program is a list of operations that jump forwards, and backwards only to the start of a list's items. Must not know
of schemas: `serdes.columnar.avro.plan` writes programs. The numbers are those of `native/avro_columns.pyx`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from serdes.columnar.layout import BINARY, BITS, FIXED, LIST, NULLS, STRUCT, UNION, Layout
from serdes.errors import SerializationError


class Code(enum.IntEnum):
    """The code of an operation; `column` is where values go, other operands are named here."""

    END = 0
    """The value is complete: nothing may be left of the payload."""
    JUMP = 1
    """Go on at `a`."""
    NULL = 2
    """Append null."""
    STRUCT = 3
    """The column's children have a cell each: append the struct."""
    REFUSE = 4
    """A value is here that can't be read: message `a`."""
    INPUT = 5
    """Read what follows from the pool: `d` bytes at `c` (the default of a field)."""
    OUTPUT = 6
    """Read from the payload again."""
    BRANCH = 7
    """Read the branch of a union and go on at the target for it: `b` of them, at `a` of the table."""
    OPTIONAL = 8
    """Read the branch of a union of two, of which `a` is null: append null and go on at `b`, or go on."""
    UNION = 9
    """The cell of a dense union is in its child `a`, which is appended next."""
    LIST = 10
    """Begin an array; at its end append the list and go on at `a`. `b`: items take no bytes; `c`: bytes one costs."""
    LIST_END = 11
    """The end of an item: go on at `a` if there is another, else append the list. `b`, `c`: as of `LIST`."""
    MAP = 12
    """As `LIST`, of entries."""
    MAP_END = 13
    """As `LIST_END`; of several entries with one key only the last is kept."""
    BOOL = 16
    INT = 17
    LONG = 18
    INT_LONG = 19
    """An int into a column of 64 bits."""
    FLOAT = 20
    DOUBLE = 21
    FLOAT_DOUBLE = 22
    """A float into a column of doubles."""
    WHOLE_FLOAT = 23
    """An int (`a` = 32) or long (`a` = 64) into a column of floats."""
    WHOLE_DOUBLE = 24
    """The same into a column of doubles; `b`: rounded to a float first."""
    BYTES = 25
    STRING = 26
    FIXED = 27
    """`a` bytes into a column of bytes."""
    DECIMAL = 28
    """`a` bytes (-1: with their length; `d`: which are UTF-8) times 10 to the `b`, of `c` digits at most."""
    UUID = 29
    """A text (`d`: which has to be UTF-8 beneath) that is a UUID."""
    ENUM = 30
    """A symbol: `b` pairs of place and size in the pool, at `a` of the table; -1 for one that the reader lacks."""
    ENUM_NUMBER = 31
    """A symbol as its number with the reader: `b` of them at `a` of the table."""
    INT_WITHIN = 32
    """An int between `c` and `d`, else error `a`."""
    LONG_WITHIN = 33
    """A long between `c` and `d`, else error `a`; `b`: written as an int."""
    SCALED = 34
    """An int (`a` = 32) or long times over, at `b` of the table of numbers: factor, divisor, low, high, error."""
    SKIP_INT = 40
    SKIP_LONG = 41
    SKIP_BOOL = 42
    SKIP_BYTES = 43
    """`a` bytes."""
    SKIP_TEXT = 44
    """A length and so many bytes."""
    SKIP_ENUM = 45
    """One of `a` symbols."""
    SKIP_LIST = 46
    """Begin an array or map; at its end go on at `a`. `b`: items take no bytes."""
    SKIP_LIST_END = 47
    """The end of an item or entry: go on at `a` if there is another."""
    CALL = 48
    """Run the part at `a`, which is one level deeper, up to its `RETURN`."""
    RETURN = 49
    SKIP_RUN = 50
    """Go on at `a` if what comes is as `c` pairs of `Pass` and operand say, at `b` of the table; else with the next."""


class Pass(enum.IntEnum):
    """A step that passes a plainly right value; for anything else there are operations, which give the reason."""

    LONG = 0
    """A number of at most eight bytes."""
    INT = 1
    """A number of at most four bytes."""
    BYTES = 2
    """So many bytes."""
    TEXT = 3
    """A length of at most two bytes, and so many more."""
    BOOL = 4
    ENUM = 5
    """One of so many symbols, in one byte."""
    OPTIONAL = 6
    """The branch of a union of two, of which so many is null: then what comes next is not there."""
    LIST = 7
    """Blocks of fewer than 64 of what comes next."""


class Op(NamedTuple):
    """One operation.

    Attributes:
        code: of the operation.
        column: which column it fills; 0 where it fills none.
        a, b, c, d: operands.
        path: where in the value it is: names, `[]` for an item, `[entry]` for a map's.
    """

    code: Code
    column: int = 0
    a: int = 0
    b: int = 0
    c: int = 0
    d: int = 0
    path: tuple[str, ...] = ()


@dataclass(slots=True)
class Program:
    """Operations with their tables.

    Attributes:
        ops: the operations; the first is where it begins.
        table: jump targets, symbols.
        numbers: of `SCALED`.
        pool: defaults and symbols.
        messages: of `REFUSE`.
    """

    ops: list[Op] = field(default_factory=list)
    table: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    pool: bytearray = field(default_factory=bytearray)
    messages: list[str] = field(default_factory=list)

    def lines(self, names: Sequence[str]) -> Iterator[str]:
        """The program as text.

        Args:
            names: of the columns.
        """
        for at, op in enumerate(self.ops):
            operands = " ".join(
                f"{name}={value}" for name, value in zip("abcd", op[2:6], strict=True) if value and name not in _own(op)
            )
            column = names[op.column] if op.code in FILLING else ""
            parts = [f"{at:5}", f"{op.code.name:13}", f"{column:24}", operands, self._shown(op)]
            yield " ".join(part for part in parts if part).rstrip()

    def _shown(self, op: Op) -> str:
        if op.code is Code.SKIP_RUN:
            pairs = self.table[op.b : op.b + 2 * op.c]
            return " ".join(Pass(kind).name.lower() for kind in pairs[::2]) + f", then to {op.a}"
        if op.code is Code.BRANCH:
            return "to " + ", ".join(map(str, self.table[op.a : op.a + op.b]))
        if op.code is Code.REFUSE:
            return self.messages[op.a]
        if op.code is Code.INPUT:
            return f"default {bytes(self.pool[op.c : op.c + op.d]).hex() or 'empty'}"
        if op.code is Code.SCALED:
            return "times {} by {}, {} to {}".format(*self.numbers[op.b : op.b + 4])
        if op.code is Code.ENUM:
            pairs = self.table[op.a : op.a + 2 * op.b]
            return ", ".join(
                self.pool[start : start + size].decode() if start >= 0 else "?"
                for start, size in zip(pairs[::2], pairs[1::2], strict=True)
            )
        return ""


def _own(op: Op) -> str:
    """Operands that are shown in words."""
    shown = {Code.BRANCH: "ab", Code.REFUSE: "a", Code.INPUT: "cd", Code.SCALED: "b", Code.ENUM: "ab"}
    return {**shown, Code.SKIP_RUN: "abc"}.get(op.code, "")


# --- the check


FILLING: Final = frozenset(range(Code.NULL, Code.STRUCT + 1)) | frozenset(range(Code.OPTIONAL, Code.SCALED + 1))
CELLS: Final[dict[Code, tuple[int, int]]] = {
    Code.BOOL: (BITS, 0),
    Code.INT: (FIXED, 4),
    Code.LONG: (FIXED, 8),
    Code.INT_LONG: (FIXED, 8),
    Code.FLOAT: (FIXED, 4),
    Code.DOUBLE: (FIXED, 8),
    Code.FLOAT_DOUBLE: (FIXED, 8),
    Code.WHOLE_FLOAT: (FIXED, 4),
    Code.WHOLE_DOUBLE: (FIXED, 8),
    Code.BYTES: (BINARY, 0),
    Code.STRING: (BINARY, 0),
    Code.FIXED: (BINARY, 0),
    Code.UUID: (BINARY, 0),
    Code.ENUM: (BINARY, 0),
    Code.ENUM_NUMBER: (FIXED, 4),
    Code.INT_WITHIN: (FIXED, 4),
    Code.LONG_WITHIN: (FIXED, 8),
}
"""The shape and width that an operation's column must have."""
SKIPPING: Final = -2


class _State(NamedTuple):
    """The state in which an operation is always reached.

    Attributes:
        lists: the lists that are open, as (column, place of the operation that began it); outermost first.
        done: for the value and for each open list the columns that have their cell.
        pooled: whether a default is read.
    """

    lists: tuple[tuple[int, int], ...]
    done: tuple[frozenset[int], ...]
    pooled: bool


class _Refusal(Exception):
    pass


def verify(program: Program, layout: Layout) -> None:
    """Checks that a program can't do harm, whatever a payload holds.

    Every jump and column is in range, every column is of the kind its operation fills, and on every path each column
    gets one cell for each of its parent's.

    Raises:
        SerializationError: it could; that is a mistake of the compiler.
    """
    try:
        _Verifier(program, layout).run()
    except _Refusal as error:
        raise SerializationError(f"the plan is not sound ({error}): please report this with both schemas") from None


class _Verifier:
    def __init__(self, program: Program, layout: Layout) -> None:
        self._program = program
        self._ops = program.ops
        self._columns = layout.every()
        self._parent = {child.place: column for column in self._columns for child in column.children}
        self._home = {0: 0}
        for column in self._columns[1:]:
            parent = self._parent[column.place]
            self._home[column.place] = parent.place if parent.shape == LIST else self._home[parent.place]
        self._states: list[_State | None] = [None] * (len(program.ops) + 1)
        self._parts: set[int] = set()

    def run(self) -> None:
        """Follows the program from its start, then each of its parts."""
        for at, op in enumerate(self._ops):
            self._operands(at, op)
        self._follow(0, _State((), (frozenset(),), False), part=False)
        waiting = list(self._parts)
        checked: set[int] = set()
        while waiting:
            start = waiting.pop()
            if start not in checked:
                checked.add(start)
                self._follow(start, _State(((SKIPPING, start),), (frozenset(),), False), part=True)
                waiting += self._parts - checked

    def _operands(self, at: int, op: Op) -> None:
        if not 0 <= op.column < len(self._columns):
            raise _Refusal(f"{at}: no column {op.column}")
        column, program = self._columns[op.column], self._program
        if op.code in CELLS and (column.shape, column.width if column.shape == FIXED else 0) != CELLS[op.code]:
            raise _Refusal(f"{at}: {op.code.name} into a column of type {column.type}")
        digits = {16: 38, 32: 76}.get(column.width, 0) if column.shape == FIXED else 0
        if op.code is Code.DECIMAL and not (0 < op.c <= digits and op.a >= -1):
            raise _Refusal(f"{at}: a decimal into a column of type {column.type}")
        if op.code is Code.SCALED:
            wide = program.numbers[op.b : op.b + 5]
            if column.shape != FIXED or column.width not in (4, 8) or len(wide) != 5 or min(wide[:2]) <= 0 or op.b < 0:
                raise _Refusal(f"{at}: a number that is not scaled")
            bound = 2 ** (8 * column.width - 1)
            if not -bound <= wide[2] <= wide[3] < bound:
                raise _Refusal(f"{at}: a number that may not fit")
        pairs = {Code.ENUM: 2, Code.ENUM_NUMBER: 1, Code.BRANCH: 1}.get(op.code)
        if pairs and (op.a < 0 or op.b < 0 or len(program.table) < op.a + pairs * op.b):
            raise _Refusal(f"{at}: outside of the table")
        if op.code is Code.ENUM:
            for start, size in self._pairs(op):
                if start >= 0 and (size < 0 or start + size > len(program.pool)):
                    raise _Refusal(f"{at}: outside of the pool")
        if op.code is Code.INPUT and (op.c < 0 or op.d < 0 or op.c + op.d > len(program.pool)):
            raise _Refusal(f"{at}: outside of the pool")
        if op.code is Code.REFUSE and not 0 <= op.a < len(program.messages):
            raise _Refusal(f"{at}: no message {op.a}")
        lists = (Code.LIST, Code.LIST_END, Code.MAP, Code.MAP_END)
        if (op.code in (Code.FIXED, Code.SKIP_BYTES, Code.SKIP_ENUM) and op.a < 0) or (op.code in lists and op.c < 0):
            raise _Refusal(f"{at}: a size below zero")
        if op.code is Code.SKIP_RUN:
            self._run_of(at, op)
        if op.code is Code.OPTIONAL and op.a not in (0, 1):
            raise _Refusal(f"{at}: branch {op.a} of two")

    def _run_of(self, at: int, op: Op) -> None:
        """Looks whether each part of a run that speaks of the next one has a next one to speak of."""
        table = self._program.table[op.b : op.b + 2 * op.c]
        if min(op.b, op.c) < 0 or len(table) != 2 * op.c:
            raise _Refusal(f"{at}: outside of the table")
        of_next = (Pass.OPTIONAL, Pass.LIST)
        for kind, operand, following in zip(table[::2], table[1::2], [*table[2::2], -1], strict=True):
            if kind not in tuple(Pass) or operand < 0 or (kind in of_next and (following < 0 or following in of_next)):
                raise _Refusal(f"{at}: a run of what there is not")

    def _pairs(self, op: Op) -> Iterator[tuple[int, int]]:
        table = self._program.table
        for at in range(op.a, op.a + 2 * op.b, 2):
            yield table[at], table[at + 1]

    def _follow(self, start: int, state: _State, part: bool) -> None:
        """Follows all paths from an operation: forwards, so that one pass sees everything."""
        self._reach(start, state, -1)
        for at in range(start, len(self._ops)):
            found = self._states[at]
            if found is None:
                continue
            op = self._ops[at]
            if part and op.code in FILLING | {Code.END, Code.INPUT, Code.OUTPUT}:
                raise _Refusal(f"{at}: {op.code.name} in a part that skips")
            self._step(at, op, found, part)
            self._states[at] = None
        if self._states[len(self._ops)] is not None:
            raise _Refusal("it runs over its end")

    def _reach(self, target: int, state: _State, source: int) -> None:
        if not source < target < len(self._ops):
            raise _Refusal(f"{source}: a jump to {target}")
        known = self._states[target]
        if known is not None and known != state:
            raise _Refusal(f"{target}: reached with different columns filled")
        self._states[target] = state

    def _step(self, at: int, op: Op, state: _State, part: bool) -> None:
        code = op.code
        if code is Code.END:
            if state.lists or state.pooled or state.done != (frozenset({0}),):
                raise _Refusal(f"{at}: the end with columns unfilled")
        elif code is Code.JUMP:
            self._reach(op.a, state, at)
        elif code is Code.SKIP_RUN:
            self._reach(at + 1, state, at)
            self._reach(op.a, state, at)
        elif code is Code.BRANCH:
            for target in self._program.table[op.a : op.a + op.b]:
                self._reach(target, state, at)
        elif code is Code.OPTIONAL:
            self._reach(at + 1, state, at)
            self._reach(op.b, self._filled(at, op.column, state), at)
        elif code in (Code.INPUT, Code.OUTPUT):
            if state.pooled is (code is Code.INPUT):
                raise _Refusal(f"{at}: {code.name} twice")
            self._reach(at + 1, state._replace(pooled=code is Code.INPUT), at)
        elif code in (Code.LIST, Code.MAP, Code.SKIP_LIST):
            self._begin(at, op, state)
        elif code in (Code.LIST_END, Code.MAP_END, Code.SKIP_LIST_END):
            self._end(at, op, state)
        elif code is Code.CALL:
            if not 0 < op.a < len(self._ops):
                raise _Refusal(f"{at}: a call of {op.a}")
            self._parts.add(op.a)
            self._reach(at + 1, state, at)
        elif code is Code.RETURN:
            if not part or len(state.lists) != 1:
                raise _Refusal(f"{at}: a return from nowhere")
        elif code is not Code.REFUSE:
            self._reach(at + 1, self._filled(at, op.column, state) if code in FILLING else state, at)

    def _filled(self, at: int, place: int, state: _State) -> _State:
        """The state after a column got a cell."""
        op, column = self._ops[at], self._columns[place]
        home = state.lists[-1][0] if state.lists else 0
        done = state.done[-1]
        if home == SKIPPING or self._home[place] != home or place in done or (place == 0 and state.lists):
            raise _Refusal(f"{at}: column {place} is not to be filled here")
        if op.code is Code.UNION:
            if column.shape != UNION or not 0 <= op.a < len(column.children):
                raise _Refusal(f"{at}: no child {op.a} of a union")
            if any(-column.children[other].place in done for other in range(len(column.children))):
                raise _Refusal(f"{at}: a union twice")
            return state._replace(done=(*state.done[:-1], done | {-column.children[op.a].place}))
        children = frozenset(child.place for child in column.children)
        if op.code is Code.STRUCT:
            if column.shape != STRUCT or not children <= done:
                raise _Refusal(f"{at}: a struct with fields unfilled")
            done = done - children
        elif column.shape == STRUCT and done & set(range(place, place + column.span)):
            raise _Refusal(f"{at}: null for a struct that is begun")
        if op.code not in (Code.NULL, Code.OPTIONAL) and column.shape in (NULLS, UNION):
            raise _Refusal(f"{at}: {op.code.name} into a column of type {column.type}")
        if -place in done and place:
            parent = self._parent[place]
            return state._replace(done=(*state.done[:-1], (done - {-place}) | {parent.place}))
        parent_of = self._parent.get(place)
        if parent_of is not None and parent_of.shape == UNION:
            raise _Refusal(f"{at}: a child of a union that was not chosen")
        return state._replace(done=(*state.done[:-1], done | {place}))

    def _begin(self, at: int, op: Op, state: _State) -> None:
        if not at < op.a <= len(self._ops) or self._ops[op.a - 1].a != at + 1:
            raise _Refusal(f"{at}: a list without an end")
        place = SKIPPING
        if op.code is not Code.SKIP_LIST:
            place = op.column
            if self._columns[place].shape != LIST:
                raise _Refusal(f"{at}: a list into a column of type {self._columns[place].type}")
            self._filled(at, place, state)
        deeper = _State((*state.lists, (place, at)), (*state.done, frozenset()), state.pooled)
        self._reach(at + 1, deeper, at)

    def _end(self, at: int, op: Op, state: _State) -> None:
        place = SKIPPING if op.code is Code.SKIP_LIST_END else op.column
        begun = self._ops[op.a - 1] if 0 < op.a <= at else None
        if not state.lists or state.lists[-1] != (place, op.a - 1) or begun is None or begun.a != at + 1:
            raise _Refusal(f"{at}: the end of another list")
        if begun.code + 1 != op.code or (begun.b, begun.c) != (op.b, op.c):
            raise _Refusal(f"{at}: the end of another kind of list")
        wanted = frozenset() if place == SKIPPING else frozenset({place + 1})
        if state.done[-1] != wanted:
            raise _Refusal(f"{at}: an item with columns unfilled")
        outer = _State(state.lists[:-1], state.done[:-1], state.pooled)
        self._reach(at + 1, outer if place == SKIPPING else self._filled(at, place, outer), at)
