"""Message classes made for tests, with shapes the real definitions (hardly) have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar
from uuid import UUID

from kafka_core.protocol.schema import OPEN, ZERO_UUID, ApiMessage, Field, Records, Struct


@dataclass(slots=True)
class Pair(Struct):
    left: int = 0
    right: int = 0
    unknown_tagged: list[tuple[int, bytes]] = field(default_factory=list)

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("left", "int8", (0, OPEN)), Field("right", "int16", (1, OPEN)))


@dataclass(slots=True)
class Unbounded(Struct):
    late: int = 0
    unknown_tagged: list[tuple[int, bytes]] = field(default_factory=list)

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("late", "int8", (1, OPEN)),)


@dataclass(slots=True)
class UnboundedMessage(ApiMessage):
    items: list[Unbounded] = field(default_factory=list)
    unknown_tagged: list[tuple[int, bytes]] = field(default_factory=list)

    VALID_VERSIONS: ClassVar[tuple[int, int]] = (0, 2)
    FLEXIBLE_SINCE: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (Field("items", "[]struct", (0, OPEN), struct=Unbounded),)


@dataclass(slots=True)
class LogPart(Struct):
    data: Records = None
    unknown_tagged: list[tuple[int, bytes]] = field(default_factory=list)

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("data", "records", (0, OPEN)),)


@dataclass(slots=True)
class Logs(ApiMessage):
    """Records that must not be null: between brokers there are such."""

    parts: list[LogPart] = field(default_factory=list)
    unknown_tagged: list[tuple[int, bytes]] = field(default_factory=list)

    VALID_VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE_SINCE: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (Field("parts", "[]struct", (0, OPEN), struct=LogPart),)


@dataclass(slots=True)
class Zoo(ApiMessage):
    """Every type in every position; version 0 is old, 1 is flexible."""

    flag: bool = True
    port: int = 9092
    big: int = 0
    ids: list[UUID] = field(default_factory=list)
    counts: list[int] | None = None
    blobs: list[bytes] = field(default_factory=list)
    pair: Pair = field(default_factory=Pair)
    maybe: Pair | None = None
    raw: bytes | None = b""
    tag_id: UUID = ZERO_UUID
    tag_names: list[str] | None = field(default_factory=list)
    tag_pairs: list[Pair] = field(default_factory=list)
    tag_raw: bytes = b"default"
    tag_ratio: float = 0.5
    unknown_tagged: list[tuple[int, bytes]] = field(default_factory=list)

    VALID_VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE_SINCE: ClassVar[int | None] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("flag", "bool", (0, OPEN)),
        Field("port", "uint16", (0, OPEN)),
        Field("big", "uint32", (0, OPEN)),
        Field("ids", "[]uuid", (0, OPEN)),
        Field("counts", "[]int64", (0, OPEN), nullable=(0, OPEN)),
        Field("blobs", "[]bytes", (0, OPEN)),
        Field("pair", "struct", (0, OPEN), struct=Pair),
        Field("maybe", "struct", (0, OPEN), struct=Pair, nullable=(1, OPEN)),
        Field("raw", "bytes", (0, OPEN), nullable=(0, OPEN)),
        Field("tag_names", "[]string", (1, OPEN), nullable=(1, OPEN), tag=1),
        Field("tag_id", "uuid", (1, OPEN), tag=0),
        Field("tag_pairs", "[]struct", (1, OPEN), struct=Pair, tag=2),
        Field("tag_raw", "bytes", (1, OPEN), tag=3),
        Field("tag_ratio", "float64", (1, OPEN), tag=4),
    )
