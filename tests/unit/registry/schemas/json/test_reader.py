from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from registry.errors import InvalidSchemaError
from registry.schemas.documents import loads
from registry.schemas.json.model import CombinedNode, Node, NodeKind, NotNode
from registry.schemas.json.reader import Place, Reading, SchemaReader, text_of
from registry.schemas.json.refs import Draft, References


class Small(SchemaReader):
    """Knows `not`, `$ref` and `n`."""

    def read(self, schema: Mapping[str, Any], place: Place) -> Reading:
        if "$ref" in schema:
            return self.done(self.reference(schema["$ref"], place), {})
        if "not" in schema:
            return self.done(NotNode(inner=(yield schema["not"], place / "not")), schema)
        self.number(schema, "n", place)
        return self.done(Node(NodeKind.EMPTY), schema)


def reader(document: Any) -> Small:
    return Small(References(document, Draft.DRAFT_7, {}), Draft.DRAFT_7)


def test_deep_documents_need_no_stack() -> None:
    document: Any = True
    for _ in range(20_000):
        document = {"not": document}
    node = reader(document).document(document)
    for _ in range(20_000):
        assert isinstance(node, NotNode)
        node = node.inner
    assert node.kind is NodeKind.TRUE


def test_chains_of_references_need_no_stack() -> None:
    document: Any = {"$ref": "#/d/0", "d": {str(at): {"not": {"$ref": f"#/d/{at + 1}"}} for at in range(5_000)}}
    document["d"]["5000"] = False
    node = reader(document).document(document)
    for _ in range(5_000):
        node = node.referred.inner  # type: ignore[attr-defined]
    assert node.referred.kind is NodeKind.FALSE  # type: ignore[attr-defined]


def test_the_document_itself_is_a_target() -> None:
    document: Any = {"not": {"$ref": "#"}}
    root = reader(document).document(document)
    assert root.inner.referred is root  # type: ignore[attr-defined]
    document = {"$ref": "#"}
    root = reader(document).document(document)
    assert root.referred is root  # type: ignore[attr-defined]


def test_places() -> None:
    references = References({}, Draft.DRAFT_7, {})
    root = Place(references.root, Draft.DRAFT_7)
    assert (str(root), str(root / "a/b" / "c~")) == ("#/", "#/a~1b/c~0")
    assert str(Place(references.root, Draft.DRAFT_7, None, "x.json#/y") / "z") == "x.json#/y/z"
    deep = root
    for at in range(1_000):
        deep /= str(at)
    assert len(str(deep)) < 1_000
    assert "/…/" in str(deep)


@pytest.mark.parametrize(
    ("text", "message"), [("true", "not true"), ('"1"', 'not "1"'), ("1e1001", "digits"), ("[]", "an array")]
)
def test_numbers(text: str, message: str) -> None:
    document = {"n": loads(text, exact=True)}
    with pytest.raises(InvalidSchemaError, match=f"#/n: .*{message}"):
        reader(document).document(document)
    for fine in ("1", "-1.50", "1e999"):
        document = {"n": loads(fine, exact=True)}
        reader(document).document(document)


def test_only_branches_get_keys() -> None:
    document: dict[str, Any] = {"not": {}}
    assert reader(document).document(document).key == -1
    small = reader(document)
    combined = CombinedNode(branches=(NotNode(inner=Node(NodeKind.NULL)),))
    small.done(combined, {})
    small.document(document)
    assert combined.branches[0].key >= 0
    assert combined.key == -1


def test_text_of() -> None:
    assert [text_of(value) for value in (None, True, 1, "x", [], {})] == [
        "null",
        "true",
        "1",
        '"x"',
        "an array",
        "an object",
    ]
    assert len(text_of("x" * 1_000)) == 61
