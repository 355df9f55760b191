"""The facts: version ranges of fields, defaults of generated classes, and rules all generated classes keep."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from kafka_core.protocol.messages.fetch import EpochEndOffset, FetchRequest, FetchResponse, PartitionData
from kafka_core.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_core.protocol.messages.metadata import MetadataRequest
from kafka_core.protocol.schema import OPEN, ApiMessage, Field, Struct, defaults
from tests.strategies.messages import all_classes


def every_struct() -> Iterator[type[Struct]]:
    seen: set[type[Struct]] = set()
    waiting: list[type[Struct]] = [*all_classes()]
    while waiting:
        struct = waiting.pop()
        if struct not in seen:
            seen.add(struct)
            yield struct
            waiting += [item.struct for item in struct.FIELDS if item.struct is not None]


def test_ranges_include_both_ends() -> None:
    item = Field("x", "string", (2, 5), nullable=(3, OPEN))
    assert [item.exists_in(version) for version in (1, 2, 5, 6)] == [False, True, True, False]
    assert [item.nullable_in(version) for version in (2, 3, 99)] == [False, True, True]
    assert not Field("x", "string", (2, 5)).nullable_in(2)


def test_flexible_versions() -> None:
    assert [FetchRequest.is_flexible(version) for version in (11, 12)] == [False, True]
    assert not ApiMessage.is_flexible(0)


def test_defaults_are_fresh() -> None:
    first, second = defaults(PartitionData), defaults(PartitionData)
    assert first["diverging_epoch"] == EpochEndOffset(-1, -1)
    assert first["diverging_epoch"] is not second["diverging_epoch"]
    assert first["aborted_transactions"] == []
    assert first["preferred_read_replica"] == -1
    assert list(first)[-1] == "unknown_tagged"


def test_known_facts() -> None:
    assert FetchRequest.API_KEY == 1
    assert FetchRequest.VALID_VERSIONS == (4, 18)
    assert FetchRequest.RESPONSE is FetchResponse
    assert MetadataRequest().topics == []
    assert InitProducerIdRequest.LATEST_VERSION_UNSTABLE
    assert not FetchRequest.LATEST_VERSION_UNSTABLE


def test_generated_classes_keep_the_rules() -> None:
    for struct in every_struct():
        names = [item.name for item in struct.FIELDS]
        assert [item.name for item in dataclasses.fields(struct)] == [*names, "unknown_tagged"]  # type: ignore[arg-type]
        assert not hasattr(struct(), "__dict__"), struct
        for item in struct.FIELDS:
            assert (item.struct is not None) == item.kind.endswith("struct")
            assert item.tag is None or item.kind != "records"
