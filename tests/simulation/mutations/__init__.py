"""Defects put into the client on purpose, to see that the simulator finds them.

A mutation replaces a piece of one function's source; it must occur there exactly once, so that a mutation that has
become meaningless fails loudly (`tests/simulation/test_mutations.py`). They live in `catalogue.py`.
"""

from __future__ import annotations

import contextlib
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Mutation:
    """A defect.

    Attributes:
        what: what goes wrong, in words.
        owner: the class (or module) that has the function.
        function: its name.
        old, new: the piece of source that is replaced, and by what.
    """

    name: str
    what: str
    owner: Any
    function: str
    old: str
    new: str

    def mutant(self) -> Any:
        """The function with the defect.

        Raises:
            ValueError: the piece does not occur exactly once.
        """
        original = inspect.getattr_static(self.owner, self.function)
        plain = inspect.unwrap(getattr(original, "__func__", original))
        source = textwrap.dedent(inspect.getsource(plain))
        if source.count(self.old) != 1:
            raise ValueError(f"{self.name}: {self.old!r} occurs {source.count(self.old)} times in {self.function}")
        module = inspect.getmodule(plain)
        assert module is not None
        code = compile(
            "from __future__ import annotations\n" + source.replace(self.old, self.new), f"<{self.name}>", "exec"
        )
        names = dict(vars(module))
        exec(code, names)
        return names[self.function]


@contextlib.contextmanager
def put_in(mutation: Mutation) -> Iterator[None]:
    """Run with the defect."""
    original = inspect.getattr_static(mutation.owner, mutation.function)
    setattr(mutation.owner, mutation.function, mutation.mutant())
    try:
        yield
    finally:
        setattr(mutation.owner, mutation.function, original)
