from __future__ import annotations

import pytest

from registry.cli.findings import Unusable
from registry.cli.source.linking import Document
from registry.cli.source.subjects import Namer, own_name
from tests.unit.registry.cli.helpers import record

AVRO = Document("a.avsc", "", "AVRO", record("Order", namespace="shop"))


def named(rule: str, path: str) -> str:
    return Namer(rule).subject(path, lambda: AVRO)


@pytest.mark.parametrize(
    ("rule", "path", "subject"),
    [
        ("{stem}", "a/orders-value.avsc", "orders-value"),
        ("{stem}-value", "orders.avsc", "orders-value"),
        ("{folder}.{stem}", "a/b/orders.avsc", "a/b.orders"),
        ("{path}", "a/b/orders.avsc", "a/b/orders"),
        ("{path}", "orders.avsc", "orders"),
        ("{name}", "x.avsc", "shop.Order"),
        ("{stem}-{name}", "x.avsc", "x-shop.Order"),
        ("fixed", "x.avsc", "fixed"),
        ("{stem}", "a/orders-value/v3.avsc", "orders-value"),
        ("{path}", "a/orders.x/v3.avsc", "a/orders.x"),
        ("{folder}", "a/orders/3.avsc", "a"),
    ],
)
def test_rules_name_subjects(rule: str, path: str, subject: str) -> None:
    assert named(rule, path) == subject


def test_the_table_comes_first_in_its_order() -> None:
    namer = Namer("{stem}", {"a/*": "by-folder", "*.avsc": "by-suffix"})
    assert namer.subject("a/x.avsc", lambda: AVRO) == "by-folder"
    assert namer.subject("b/x.avsc", lambda: AVRO) == "by-suffix"
    assert namer.subject("b/x.json", lambda: AVRO) == "x"


@pytest.mark.parametrize("rule", ["{topic}", "{", "{stem", "{}"])
def test_rules_with_other_placeholders_are_refused(rule: str) -> None:
    with pytest.raises(Unusable, match="subject rule"):
        Namer(rule)


def test_a_schema_without_a_name_can_not_be_named_by_it() -> None:
    nameless = Document("a.avsc", "", "AVRO", {"type": "array", "items": "int"})
    with pytest.raises(Unusable, match="no name of its own"):
        Namer("{name}").subject("a.avsc", lambda: nameless)


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (AVRO, "shop.Order"),
        (Document("", "", "JSON", {"title": "Order"}), "Order"),
        (Document("", "", "JSON", {"title": 3}), None),
        (Document("", "", "JSON", True), None),
        (
            Document("", 'syntax="proto3"; package a.b; // message X {\nmessage Order { }', "PROTOBUF", None),
            "a.b.Order",
        ),
        (Document("", "message Order{}", "PROTOBUF", None), "Order"),
        (Document("", "enum E { A = 0; }", "PROTOBUF", None), None),
    ],
)
def test_own_names(document: Document, name: str | None) -> None:
    assert own_name(document) == name


def test_a_file_whose_name_is_no_text_names_no_subject() -> None:
    path = b"a/\xff.avsc".decode("utf-8", "surrogateescape")
    with pytest.raises(Unusable, match=r"no subject can be called \\udcff: that is not UTF-8") as caught:
        named("{stem}", path)
    assert caught.value.kind == "NO_SUBJECT"
