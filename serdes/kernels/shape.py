"""The shape of a user's class for kernels: its fields, and how objects of it are made.

Must not know of annotations or schemas: `serdes.models.shapes` makes shapes.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from serdes.kernels.misfit import Misfit

__all__ = ["Shape", "Unmade", "Way"]


class Way(enum.Enum):
    """The ways to make an object, beside `Shape.make`, from a value for every field. All have the same result."""

    MAKE = "by `make` alone"
    FIELDS = "they are the dict of their fields"
    CALL = "by calling the class with all fields by name"
    INIT = "by making an empty object and calling `__init__` on it: the class says no more about it"
    FILL = "by making an empty object and setting its attributes: its constructor does nothing else"
    TUPLE = "by making a tuple of the class"


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A class with fields.

    Attributes:
        kind: the class; `dict` for a TypedDict.
        name: the class's name, for errors.
        fields: the names of its fields, as attributes or keys, in the constructor's order.
        arguments: what the constructor calls them.
        make: makes an object of field → value.
        way: a shorter way.
        init: for `Way.INIT` the class's `__init__`, and whether it takes the fields in their order.
        take: gives the values of the fields of an object, in order; None where attributes are taken one by one.
        exact: whether `fields` are all that an object of the class holds, so that it may be written by them.
        required: fields that a TypedDict must have.
    """

    kind: type
    name: str
    fields: tuple[str, ...]
    arguments: tuple[str, ...]
    make: Callable[[Mapping[str, Any]], Any]
    way: Way
    init: tuple[Callable[..., None], bool] | None
    take: Callable[[Any], tuple[Any, ...]] | None
    exact: bool
    required: frozenset[str]

    def unmade(self, error: Exception) -> Unmade:
        """The error of an object that can't be made; the text of the class's own error may quote values."""
        return Unmade(f"no {self.name} can be made of the value: {type(error).__name__}")


class Unmade(Misfit):
    """A class refuses the values of its fields."""
