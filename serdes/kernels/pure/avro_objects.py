"""Records as objects of users' classes, without a dict between. Twin: `native/avro_objects.pyx`.

A node writes what is exactly of its class; all else goes to the node beside it, which says what is wrong or makes it
fit. Must not know of schemas or annotations: `serdes.formats.avro.writing` and `reading` put nodes together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from serdes.kernels.misfit import Misfit
from serdes.kernels.pure.avro import Out, ReadRecord, Source, WriteNull, Writer, WriteRecord
from serdes.kernels.shape import Shape

__all__ = ["ReadObject", "WriteByClass", "WriteMember", "WriteObject"]


class WriteObject(WriteRecord):
    """An object of exactly one class, by its attributes.

    Args:
        what: the record's name for errors.
        strict: as for `WriteRecord`.
        allow_default: as for `WriteRecord`.
        shape: the class.
    """

    def __init__(self, what: str, strict: bool, allow_default: bool, shape: Shape) -> None:
        super().__init__(what, strict, allow_default)
        self._shape = shape
        self._otherwise: Writer = WriteNull()

    def beside(self, otherwise: Writer) -> None:
        """Says what writes values that are not of the class."""
        self._otherwise = otherwise

    def write(self, out: Out, value: Any) -> None:
        """One field after the other."""
        shape = self._shape
        if type(value) is not shape.kind:
            self._otherwise.write(out, value)
        elif not isinstance(value, dict):
            super().write(out, {name: getattr(value, name) for name in shape.fields})
        elif value.keys() <= set(shape.fields) and shape.required <= value.keys():
            super().write(out, value)
        else:
            self._otherwise.write(out, value)


class WriteMember(Writer):
    """A member of a Python enum, as the symbol of an Avro one.

    Args:
        places: member → place of its symbol.
        otherwise: writes what is no member.
    """

    def __init__(self, places: Mapping[Any, int], otherwise: Writer) -> None:
        self._places = [(member, place) for member, place in places.items()]
        self._otherwise = otherwise

    def write(self, out: Out, value: Any) -> None:
        """The symbol's place."""
        for member, place in self._places:
            if member is value:
                return out.long(place)
        return self._otherwise.write(out, value)


class WriteByClass(Writer):
    """Values by their exact class: branches of a union, or forms of one type.

    Args:
        otherwise: writes values of other classes.
    """

    def __init__(self, otherwise: Writer) -> None:
        self._table: dict[type, tuple[int | None, Writer]] = {}
        self._otherwise = otherwise

    def fill(self, table: Mapping[type, tuple[int | None, Writer]]) -> None:
        """Says what writes which class: the place of its branch (None if there is no union) and a node."""
        self._table = dict(table)

    def write(self, out: Out, value: Any) -> None:
        """The branch's place and the value."""
        found = self._table.get(value.__class__)
        if found is None:
            self._otherwise.write(out, value)
            return
        place, node = found
        if place is not None:
            out.long(place)
        node.write(out, value)


class ReadObject(ReadRecord):
    """An object of a class, of fields in the writer's order and what the reader adds.

    Args:
        shape: the class.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self._shape = shape

    def read(self, source: Source) -> Any:
        """The object."""
        fields = super().read(source)
        try:
            return self._shape.make(fields)
        except (MemoryError, RecursionError, Misfit):
            raise
        except Exception as error:
            raise self._shape.unmade(error) from error
