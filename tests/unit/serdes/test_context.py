from __future__ import annotations

from serdes.context import MessageField, SerializationContext, place


def test_fields_are_their_names() -> None:
    assert [str(field) for field in MessageField] == ["none", "key", "value"]
    assert MessageField("value") is MessageField.VALUE
    assert {MessageField.KEY: 1}["key"] == 1  # type: ignore[index]


def test_place() -> None:
    assert place(None) == (None, None)
    assert place(SerializationContext("orders", MessageField.KEY)) == ("orders", "key")


def test_headers_are_optional() -> None:
    assert SerializationContext("t", MessageField.KEY).headers is None
    assert SerializationContext("t", MessageField.KEY, [("a", b"b")]).headers == [("a", b"b")]
