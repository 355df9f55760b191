from __future__ import annotations

import jsonschema
import pytest

from serdes.json_formats import formats_of

KINDS = [jsonschema.Draft4Validator, jsonschema.Draft7Validator, jsonschema.Draft202012Validator]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date-time", "2026-01-31T10:00:00.5+01:00", "2026-01-31 10:00:00"),
        ("date-time", "2026-01-31t10:00:60z", "2026-02-30T10:00:00Z"),
        ("time", "10:00:00Z", "10:00"),
        ("uri", "urn:x", "no uri"),
        ("uri-reference", "../a", "a b"),
        ("hostname", "a-1.example", "-a"),
        ("json-pointer", "/a~1b/0", "a"),
        ("duration", "P1DT2H", "P"),
        ("email", "a@b", "a"),
        ("ipv4", "127.0.0.1", "127.0.0.256"),
    ],
)
def test_formats(kind: type, name: str, good: str, bad: str) -> None:
    checker = formats_of(kind)
    assert checker.conforms(good, name)
    assert checker.conforms(5, name)
    assert not checker.conforms(bad, name)


def test_unknown_formats_say_nothing() -> None:
    assert formats_of(jsonschema.Draft7Validator).conforms("x", "of-ours")
