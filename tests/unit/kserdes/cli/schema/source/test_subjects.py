from __future__ import annotations

import pytest

from kserdes.cli.schema.source.linking import Document
from kserdes.cli.schema.source.subjects import Namer, own_name
from kserdes.cli.schema.source.versions import Numbered, history_key, numbered, series, split
from kserdes.cli.shell.unusable import Unusable
from tests.unit.kserdes.cli.schema.helpers import record

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
    with pytest.raises(Unusable, match="the schema has no name"):
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


# ---- versions


@pytest.mark.parametrize(
    ("path", "number"),
    [("orders/v1.avsc", 1), ("orders/12.avsc", 12), ("a/b/V03.json", 3), ("a/0007.proto", 7)],
)
def test_numbers_in_a_folder_are_versions(path: str, number: int) -> None:
    found = numbered(path)
    assert found is not None
    assert found.number == number


@pytest.mark.parametrize(
    "path", ["v1.avsc", "orders/orders-v1.avsc", "orders/v1beta.avsc", "orders/v.avsc", "a/v1.2.avsc"]
)
def test_other_names_are_not(path: str) -> None:
    assert numbered(path) is None


def test_series_are_ordered_by_number_and_split_by_suffix() -> None:
    paths = ["o/v10.avsc", "o/v9.avsc", "o/v1.json", "o/x.avsc"]
    assert series(paths) == {
        ("o", ".avsc"): [Numbered(("o", ".avsc"), 9, "o/v9.avsc"), Numbered(("o", ".avsc"), 10, "o/v10.avsc")],
        ("o", ".json"): [Numbered(("o", ".json"), 1, "o/v1.json")],
    }


def test_a_file_beside_a_version_folder_belongs_to_it() -> None:
    assert history_key("a/orders.avsc") == ("a/orders", ".avsc") == Numbered(("a/orders", ".avsc"), 1, "").key
    assert history_key("orders.avsc") == ("orders", ".avsc")
    assert split("a/b.schema.json") == ("a", "b.schema", ".json")
