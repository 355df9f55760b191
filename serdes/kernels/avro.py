"""Avro's encoding in two implementations with the same names; `serdes.kernels` says which one is taken.

Must not know of schemas: `serdes.formats.avro.writing` and `serdes.formats.avro.reading` put the nodes together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from serdes.kernels import IMPL

__all__ = [
    "Decoder",
    "Encoder",
    "ReadArray",
    "ReadBoolean",
    "ReadBytes",
    "ReadConverted",
    "ReadDate",
    "ReadDecimal",
    "ReadDouble",
    "ReadEnum",
    "ReadFixed",
    "ReadFloat",
    "ReadInstant",
    "ReadInt",
    "ReadMap",
    "ReadNull",
    "ReadObject",
    "ReadRecord",
    "ReadRefused",
    "ReadString",
    "ReadTagged",
    "ReadTimeOfDay",
    "ReadUUID",
    "ReadUnion",
    "Reader",
    "WriteArray",
    "WriteBoolean",
    "WriteByClass",
    "WriteBytes",
    "WriteDate",
    "WriteDecimal",
    "WriteDouble",
    "WriteEnum",
    "WriteFixed",
    "WriteFloat",
    "WriteInstant",
    "WriteInt",
    "WriteMap",
    "WriteMember",
    "WriteNull",
    "WriteObject",
    "WritePrepared",
    "WriteRecord",
    "WriteString",
    "WriteTimeOfDay",
    "WriteUUID",
    "WriteUnion",
    "Writer",
]

if TYPE_CHECKING or IMPL == "pure":
    from serdes.kernels.pure.avro import (
        Decoder,
        Encoder,
        ReadArray,
        ReadBoolean,
        ReadBytes,
        ReadConverted,
        ReadDouble,
        ReadEnum,
        Reader,
        ReadFixed,
        ReadFloat,
        ReadInt,
        ReadMap,
        ReadNull,
        ReadRecord,
        ReadRefused,
        ReadString,
        ReadTagged,
        ReadUnion,
        WriteArray,
        WriteBoolean,
        WriteBytes,
        WriteDouble,
        WriteEnum,
        WriteFixed,
        WriteFloat,
        WriteInt,
        WriteMap,
        WriteNull,
        WritePrepared,
        Writer,
        WriteRecord,
        WriteString,
        WriteUnion,
    )
    from serdes.kernels.pure.avro_logical import (
        ReadDate,
        ReadDecimal,
        ReadInstant,
        ReadTimeOfDay,
        ReadUUID,
        WriteDate,
        WriteDecimal,
        WriteInstant,
        WriteTimeOfDay,
        WriteUUID,
    )
    from serdes.kernels.pure.avro_objects import ReadObject, WriteByClass, WriteMember, WriteObject
else:
    from serdes.kernels.native import avro as _nodes
    from serdes.kernels.native import avro_logical as _logical
    from serdes.kernels.native import avro_objects as _objects

    for _module in (_nodes, _logical, _objects):
        globals().update({_name: getattr(_module, _name) for _name in __all__ if hasattr(_module, _name)})
