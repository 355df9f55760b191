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
    "ReadDouble",
    "ReadEnum",
    "ReadFixed",
    "ReadFloat",
    "ReadInt",
    "ReadMap",
    "ReadNull",
    "ReadRecord",
    "ReadRefused",
    "ReadString",
    "ReadTagged",
    "ReadUnion",
    "Reader",
    "WriteArray",
    "WriteBoolean",
    "WriteBytes",
    "WriteDouble",
    "WriteEnum",
    "WriteFixed",
    "WriteFloat",
    "WriteInt",
    "WriteMap",
    "WriteNull",
    "WritePrepared",
    "WriteRecord",
    "WriteString",
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
else:
    from serdes.kernels.native import avro as _native

    globals().update({_name: getattr(_native, _name) for _name in __all__})
