"""Objects of one class as Avro: what `AvroFormat` is given to write and read them.

Must not know of registries or frames.
"""

from __future__ import annotations

from typing import Any

from registry.schemas.avro.model import AvroType
from serdes.errors import foreign
from serdes.kernels.avro import Reader, Writer
from serdes.models.avro_reading import object_reader
from serdes.models.avro_writing import object_writer
from serdes.models.objects import avro_builder, avro_dumper, names_needed


class Model:
    """A class; see `serdes.formats.avro.codec.AvroModel`.

    Args:
        kind: the class.
        own: whether the schema to write with is the class's own: in one that was given, records may have other names.
    """

    def __init__(self, kind: Any, own: bool = True) -> None:
        self._kind, self._own = kind, own
        self._dump, self._build = avro_dumper(kind, own), avro_builder(kind)
        self.named = names_needed(kind)

    def writer(self, avro: AvroType, strict: bool, allow_default: bool) -> Writer:
        """The node that writes objects."""
        return object_writer(avro, self._kind, self._own, strict, allow_default)

    def reader(self, writer: AvroType, reader: AvroType) -> Reader:
        """The node that reads objects."""
        return object_reader(writer, reader, self._kind)

    def plain(self, value: Any) -> Any:
        """An object as a plain value."""
        return self._dump(value)

    def objects(self, value: Any) -> Any:
        """A plain value as an object."""
        try:
            return self._build(value)
        except (TypeError, ValueError, KeyError) as error:  # its text may quote the value
            raise foreign(f"no {self._kind.__name__} can be made of the value", error) from error
