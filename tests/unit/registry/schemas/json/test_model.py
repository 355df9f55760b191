from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from registry.schemas.json.model import (
    ArrayNode,
    CombinedNode,
    Interner,
    Node,
    NodeKind,
    NotNode,
    NumberNode,
    ObjectNode,
    ReferenceNode,
    StringNode,
    merged,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
)


def same(one: Any, other: Any) -> bool:
    """Equality in which `true` is not 1."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@given(VALUES, VALUES)
def test_equal_values_have_equal_numbers(one: Any, other: Any) -> None:
    interner = Interner()
    assert (interner.value(one) == interner.value(other)) is same(one, other)


def test_numbers_are_told_apart_by_their_digits() -> None:
    interner = Interner()
    found = {interner.value(item) for item in (1, Decimal("1.0"), Decimal("1.00"), True, "1", [1], {"1": 1})}
    assert len(found) == 7


def test_values_of_any_depth() -> None:
    value: Any = 1
    for _ in range(20_000):
        value = [value]
    Interner().value(value)


def key(interner: Interner, node: Node) -> int:
    interner.node(node)
    return node.key


def test_nodes_with_equal_parts_have_equal_keys() -> None:
    interner = Interner()

    def build(length: int, title: str) -> Node:
        leaf = StringNode(max_length=length, extras={"title": title})
        return CombinedNode(
            branches=(ObjectNode(properties={"a": leaf}, required=("a",)), NotNode(inner=Node(NodeKind.TRUE)))
        )

    assert key(interner, build(1, "x")) == key(interner, build(1, "x"))
    assert len({key(interner, build(*said)) for said in ((1, "x"), (2, "x"), (1, "y"))}) == 3
    assert key(interner, Node(NodeKind.TRUE)) != key(interner, Node(NodeKind.EMPTY))
    assert key(interner, NumberNode(maximum=1)) != key(interner, NumberNode(minimum=1))
    assert key(interner, ReferenceNode(ref="#/a")) != key(interner, ReferenceNode(ref="#/b"))


def test_targets_of_references_do_not_count() -> None:
    interner = Interner()
    assert key(interner, ReferenceNode(ref="#", target=Node(NodeKind.NULL))) == key(interner, ReferenceNode(ref="#"))


def test_nodes_of_any_depth() -> None:
    node = Node(NodeKind.NULL)
    for _ in range(20_000):
        node = NotNode(inner=node)
    Interner().node(node)
    assert node.key >= 0


def test_merged_adds_lists_and_members_up() -> None:
    one = ObjectNode(properties={"a": Node(NodeKind.NULL)}, required=("a",), more=False)
    other = ObjectNode(properties={"b": Node(NodeKind.NULL)}, required=("b",), min_properties=2)
    both = merged(one, other)
    assert (list(both.properties), both.required, both.more, both.min_properties) == (["a", "b"], ("a", "b"), False, 2)
    assert (list(one.properties), one.min_properties) == (["a"], None)


def test_merged_lets_the_second_win() -> None:
    assert merged(StringNode(max_length=1, pattern="a"), StringNode(max_length=2)).max_length == 2
    assert merged(StringNode(max_length=1, pattern="a"), StringNode(max_length=2)).pattern == "a"
    assert merged(NumberNode(integer=True), NumberNode(maximum=1)).integer


def test_children() -> None:
    parts = [Node(NodeKind.NULL) for _ in range(7)]
    array = ArrayNode(every=parts[0], first=(parts[1],), rest=parts[2], contains=parts[3], unevaluated=parts[4])
    assert sorted(map(id, array.children())) == sorted(map(id, parts[:5]))
    thing = ObjectNode(
        properties={"a": parts[0]}, patterns={"b": parts[1]}, rest=parts[2], names=parts[3], unevaluated=parts[4]
    )
    thing.needs_schema = {"c": parts[5]}
    assert sorted(map(id, thing.children())) == sorted(map(id, parts[:6]))
    assert list(ReferenceNode(target=parts[0]).children()) == []
