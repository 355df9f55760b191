from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from registry.compat.difference import Roles
from registry.compat.json.kinds import LENIENT, WORDS, JsonKind, sentence
from registry.compat.json.rules import Ask, Found, Part, arrays, negations, objects, values
from registry.schemas.json.model import ArrayNode, Node, NodeKind, NotNode, NumberNode, ObjectNode, StringNode


def never(pattern: str, name: str) -> bool:
    return False


def run(rule: Any, answer: bool = True) -> list[Any]:
    """All a rule yields if it gets the same answer to every question."""
    found = []
    reply: bool | None = None
    while True:
        try:
            item = rule.send(reply)
        except StopIteration:
            return found
        found.append(item)
        reply = answer if isinstance(item, Ask) else None


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (2, 4, JsonKind.MULTIPLE_OF_EXPANDED),
        (4, 2, None),
        (4, 6, JsonKind.MULTIPLE_OF_CHANGED),
        (Decimal("0.1"), Decimal("0.3"), JsonKind.MULTIPLE_OF_EXPANDED),
        (Decimal("0.3"), Decimal("0.1"), None),
        (Decimal("20.2001"), Decimal("10.1"), JsonKind.MULTIPLE_OF_CHANGED),
        (None, 1, JsonKind.MULTIPLE_OF_ADDED),
        (1, None, None),
        (1, 1, None),
        (Decimal("1e-999"), 10**998, JsonKind.MULTIPLE_OF_EXPANDED),
    ],
)
def test_multiples(old: Any, new: Any, kind: JsonKind | None) -> None:
    found = list(values(NumberNode(multiple_of=old), NumberNode(multiple_of=new)))
    assert [item.kind for item in found] == ([kind] if kind else [])


def test_limits_of_huge_numbers() -> None:
    old, new = NumberNode(maximum=Decimal("1e900"), minimum=-(10**900)), NumberNode(maximum=10**300, minimum=-1)
    assert [item.kind for item in values(old, new)] == [JsonKind.MAXIMUM_DECREASED, JsonKind.MINIMUM_INCREASED]
    assert [item.kind for item in values(new, old)] == []


def test_limits_are_compared_as_doubles() -> None:
    assert not list(values(NumberNode(maximum=2**63 - 1), NumberNode(maximum=2**63 - 2)))
    found = values(NumberNode(minimum=2**53), NumberNode(minimum=2**53 + 2))
    assert [item.kind for item in found] == [JsonKind.MINIMUM_INCREASED]


def test_a_lowered_exclusive_maximum_is_measured_by_the_maximum_beside_it() -> None:
    old = NumberNode(exclusive_maximum=10)
    kinds = [
        [item.kind for item in values(old, NumberNode(exclusive_maximum=8, maximum=maximum))]
        for maximum in (None, 9, 10)
    ]
    lowered, added = JsonKind.EXCLUSIVE_MAXIMUM_DECREASED, JsonKind.MAXIMUM_ADDED
    assert kinds == [[lowered], [added, lowered], [added]]


def test_counts_are_compared_without_decimals() -> None:
    old, new = ArrayNode(min_contains=Decimal("1.2")), ArrayNode(min_contains=Decimal("1.9"))
    assert not run(arrays(old, new, never))
    assert [item.kind for item in run(arrays(old, ArrayNode(min_contains=2), never))] == [
        JsonKind.MIN_CONTAINS_INCREASED
    ]
    assert list(values(new, old)) == []


def test_negations_ask_the_other_way_round() -> None:
    one, other = NotNode(inner=Node(NodeKind.NULL)), NotNode(inner=Node(NodeKind.BOOLEAN))
    assert run(negations(one, other)) == [Ask(other.inner, one.inner)]
    assert run(negations(one, other), False)[1] == Found(JsonKind.NOT_TYPE_EXTENDED, ("not",))


def test_parts_of_objects() -> None:
    old, new = StringNode(), StringNode()
    found = run(objects(ObjectNode(properties={"a": old}), ObjectNode(properties={"a": new}), never))
    assert found == [Part(old, new, ("properties", "a"))]


def test_uncovered_parts_show_their_own_differences() -> None:
    covering, item = StringNode(), NumberNode()
    writer, reader = ObjectNode(rest=covering), ObjectNode(rest=covering, properties={"a": item})
    found = run(objects(writer, reader, never), False)
    assert found[:2] == [Ask(covering, item), Part(covering, item, ("properties", "a"))]
    assert found[2].kind is JsonKind.PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
    assert [item for item in run(objects(writer, reader, never)) if isinstance(item, Found)] == []


def test_patterns_come_before_the_rest() -> None:
    pattern, rest, item = Node(NodeKind.NULL), Node(NodeKind.BOOLEAN), Node(NodeKind.NULL)
    writer = ObjectNode(properties={"xa": item})
    reader = ObjectNode(patterns={"^y": rest, "^x": pattern}, rest=rest)
    asked = run(objects(writer, reader, lambda expression, name: name.startswith(expression[1:])))
    assert Ask(item, pattern) in asked
    assert Ask(item, rest) not in asked


def test_steps_of_items() -> None:
    old, new = ArrayNode(first=(StringNode(),)), ArrayNode(first=(StringNode(), StringNode()))
    found = run(arrays(old, new, never))
    assert [item.steps for item in found] == [("items", "0"), ("items", "1")]
    assert found[1].kind is JsonKind.ITEM_ADDED_TO_OPEN_CONTENT_MODEL


def test_unevaluated_items_cover_a_tuple() -> None:
    inner = NumberNode()
    reader = ArrayNode(unevaluated=inner)
    writer = ArrayNode(first=(StringNode(),), unevaluated=inner)
    assert Ask(writer.first[0], inner) in run(arrays(writer, reader, never))


# ---- kinds


def test_every_kind_has_words() -> None:
    assert set(WORDS) == set(JsonKind)
    assert set(JsonKind) > LENIENT


@pytest.mark.parametrize("kind", JsonKind)
def test_sentences_are_complete(kind: JsonKind) -> None:
    details = {"name": "'NAME'", "old": "OLD", "new": "NEW"}
    for candidate_reads in (True, False):
        text = sentence(kind, "#/x", Roles("READER", "WRITER", candidate_reads), details)
        assert text.startswith("#/x of READER: ")
        assert "READER can't read data of WRITER; to be compatible, " in text
        assert not {"{", "}"} & set(text)
        assert "  " not in text
        assert not text.endswith((".", " "))
    assert sentence(kind, "#/x", Roles(candidate_reads=True), details) != sentence(
        kind, "#/x", Roles(candidate_reads=False), details
    )


def test_braces_in_values_stay() -> None:
    text = sentence(JsonKind.PATTERN_CHANGED, "#/", Roles(), {"old": "a{2}", "new": "{old}"})
    assert "the pattern is {old}, in the writer's schema it is a{2}" in text
