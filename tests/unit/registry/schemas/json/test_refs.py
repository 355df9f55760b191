from __future__ import annotations

from typing import Any

import pytest

from registry.errors import InvalidSchemaError
from registry.schemas.json.refs import Draft, References, draft_of

LEAF = {"type": "string"}


def found(document: Any, ref: str, others: dict[str, Any] | None = None, draft: Draft = Draft.DRAFT_7) -> Any:
    references = References(document, draft, others or {})
    return references.lookup(references.root, ref)[0]


def test_drafts() -> None:
    for draft in Draft:
        for url in (f"http://{draft.value}", f"https://{draft.value}", f"http://{draft.value}#"):
            assert draft_of({"$schema": url}) is draft
    assert draft_of({"$schema": "http://json-schema.org/schema#"}) is Draft.DRAFT_4
    unknown = ("http://example.com/own", "http://json-schema.org/draft-04/hyper-schema#", Draft.DRAFT_4.value, 7)
    for document in (True, {}, *({"$schema": said} for said in unknown)):
        assert draft_of(document) is Draft.DRAFT_7
    assert [draft.modern for draft in Draft] == [False, False, False, True, True]
    assert [draft.id_keyword for draft in Draft] == ["id", "$id", "$id", "$id", "$id"]


@pytest.mark.parametrize(
    ("ref", "draft", "document"),
    [
        ("#/definitions/a", Draft.DRAFT_7, {"definitions": {"a": LEAF}}),
        ("#/definitions/a%20b~1c", Draft.DRAFT_7, {"definitions": {"a b/c": LEAF}}),
        ("#a", Draft.DRAFT_7, {"definitions": {"x": {"$id": "#a", **LEAF}}}),
        ("#a", Draft.DRAFT_4, {"definitions": {"x": {"id": "#a", **LEAF}}}),
        (
            "item.json",
            Draft.DRAFT_7,
            {"$id": "http://e.com/r.json", "definitions": {"x": {"$id": "item.json", **LEAF}}},
        ),
        ("#a", Draft.DRAFT_2020_12, {"$defs": {"x": {"$anchor": "a", **LEAF}}}),
        ("#a", Draft.DRAFT_2020_12, {"$defs": {"x": {"$dynamicAnchor": "a", **LEAF}}}),
        ("urn:example:x", Draft.DRAFT_2019_09, {"$defs": {"x": {"$id": "urn:example:x", **LEAF}}}),
    ],
)
def test_inside_the_document(ref: str, draft: Draft, document: Any) -> None:
    assert found(document, ref, draft=draft)["type"] == "string"


def test_other_documents_by_name() -> None:
    others = {"dir/a.json": {"definitions": {"x": LEAF}}, "b.json": {"type": "null"}}
    assert found({}, "dir/a.json#/definitions/x", others) == LEAF
    assert found({}, "./b.json", others) == {"type": "null"}
    assert found({"$id": "http://e.com/v1/r.json"}, "b.json", others) == {"type": "null"}
    assert found({"$id": "http://e.com/v1/r.json"}, "http://e.com/v1/b.json", others) == {"type": "null"}
    assert found({}, "http://e.com/x", {"http://e.com/x": LEAF}) == LEAF


def test_names_are_taken_from_other_documents_too() -> None:
    references = References({}, Draft.DRAFT_7, {"dir/a.json": {"$ref": "b.json"}, "b.json": LEAF})
    _, scope = references.lookup(references.root, "dir/a.json")
    # relative to the document it would be dir/b.json
    assert references.lookup(scope, "b.json")[0] == LEAF


def test_an_id_changes_what_is_relative() -> None:
    document = {"properties": {"a": {"$id": "http://e.com/deep/", "properties": {"b": {}}}}}
    references = References(document, Draft.DRAFT_7, {"http://e.com/deep/x.json": LEAF})
    inner = references.inside(references.root, document["properties"]["a"], Draft.DRAFT_7)
    assert references.lookup(inner, "x.json")[0] == LEAF
    assert references.inside(references.root, {"type": "null"}, Draft.DRAFT_7) is references.root


def test_meta_schemas_are_known() -> None:
    assert found({}, "http://json-schema.org/draft-07/schema")["title"] == "Core schema meta-schema"
    assert found({}, "http://json-schema.org/draft-07/schema#/definitions/stringArray")["type"] == "array"


@pytest.mark.parametrize(
    "ref", ["file:///etc/passwd", "http://localhost:1/x", "x.json", "//host/x", "http://[bad", "urn:a:b", "\0"]
)
def test_nothing_is_fetched(ref: str) -> None:
    with pytest.raises(InvalidSchemaError, match="nothing is fetched") as caught:
        found({}, ref)
    assert repr(ref) in caught.value.error_message


@pytest.mark.parametrize("ref", ["#/nope", "#/a/b/c"])
def test_nowhere(ref: str) -> None:
    with pytest.raises(InvalidSchemaError, match="leads nowhere"):
        found({"a": {}}, ref)


def test_an_unknown_anchor_is_the_document_up_to_draft_7() -> None:
    document = {"a": {"$anchor": "x"}}
    assert found(document, "#x") is document
    for other, draft in (({"$id": "http://example.com/a"}, Draft.DRAFT_7), ({}, Draft.DRAFT_2020_12)):
        with pytest.raises(InvalidSchemaError, match=r"leads nowhere|nothing is fetched"):
            found(other, "#x", draft=draft)


@pytest.mark.parametrize("name", ["a b", "100%", "a|b", "<a>"])
def test_an_id_has_to_be_a_uri(name: str) -> None:
    with pytest.raises(InvalidSchemaError, match="is not a valid URI"):
        found({"$id": name}, "#")
    assert found({"id": name}, "#") == {"id": name}


def test_ids_that_are_none() -> None:
    with pytest.raises(InvalidSchemaError, match=r"can.t be resolved|leads nowhere|nothing is fetched"):
        found({"definitions": {"a": {"id": 5}}}, "item.json", draft=Draft.DRAFT_4)
