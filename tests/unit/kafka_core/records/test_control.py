"""Control records."""

from __future__ import annotations

import pytest

from kafka_core.errors import CorruptRecordError
from kafka_core.records import ControlType, control_key, control_value, parse_control_key


@pytest.mark.parametrize(("kind", "key"), [(ControlType.ABORT, "00000000"), (ControlType.COMMIT, "00000001")])
def test_keys(kind: ControlType, key: str) -> None:
    assert control_key(kind).hex() == key
    assert parse_control_key(bytes.fromhex(key)) is kind


def test_other_kinds_and_newer_versions() -> None:
    assert parse_control_key(bytes.fromhex("00000002")) is None
    assert parse_control_key(bytes.fromhex("00050001ffff")) is ControlType.COMMIT


@pytest.mark.parametrize("key", [None, b"", b"\0\0\0", b"\xff\xff\0\0"])
def test_malformed(key: bytes | None) -> None:
    with pytest.raises(CorruptRecordError, match="key"):
        parse_control_key(key)


def test_value() -> None:
    assert control_value(7).hex() == "000000000007"
