from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from registry.compat.json.combined import combinations, with_single
from registry.compat.json.kinds import JsonKind
from registry.compat.json.rules import Ask
from registry.schemas.json.model import CombinedNode, Criterion, Node, NodeKind

GRAPHS = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(st.booleans(), min_size=width, max_size=width), min_size=1, max_size=5)
)


def branches(count: int, first_key: int) -> tuple[Node, ...]:
    return tuple(Node(NodeKind.NULL, key=first_key + at) for at in range(count))


def run(rule: Any, fits: Any) -> tuple[list[JsonKind], list[tuple[int, int]]]:
    """The kinds found, and the pairs asked about, by their keys."""
    found, asked = [], []
    answer: bool | None = None
    while True:
        try:
            item = rule.send(answer)
        except StopIteration:
            return found, asked
        answer = None
        if isinstance(item, Ask):
            asked.append((item.original.key, item.update.key))
            answer = fits(item.original.key, item.update.key)
        else:
            found.append(item.kind)


def largest(graph: list[list[bool]]) -> int:
    """The size of a maximum matching, by trying."""
    width = len(graph[0])
    longer, shorter = max(len(graph), width), min(len(graph), width)
    pairs = graph if len(graph) <= width else [[row[at] for row in graph] for at in range(width)]
    return max(
        sum(pairs[at][partner] for at, partner in enumerate(choice))
        for choice in itertools.permutations(range(longer), shorter)
    )


@given(GRAPHS)
def test_every_branch_needs_one_of_its_own(graph: list[list[bool]]) -> None:
    height, width = len(graph), len(graph[0])
    writer = CombinedNode(criterion=Criterion.ANY, branches=branches(height, 0))
    reader = CombinedNode(criterion=Criterion.ANY, branches=branches(width, 100))
    found, asked = run(combinations(writer, reader), lambda one, other: graph[one][other - 100])
    assert (JsonKind.COMBINED_TYPE_SUBSCHEMAS_CHANGED in found) is (largest(graph) < min(height, width))
    assert (JsonKind.SUM_TYPE_NARROWED in found) is (height > width)
    assert len(asked) == len(set(asked)) <= height * width


def test_equal_lists_need_few_questions() -> None:
    writer = CombinedNode(criterion=Criterion.ONE, branches=branches(500, 0))
    reader = CombinedNode(criterion=Criterion.ONE, branches=branches(500, 1000))
    found, asked = run(combinations(writer, reader), lambda one, other: other - one == 1000)
    assert (found, len(asked)) == ([], 500)


def test_branches_with_one_key_count_once() -> None:
    twice = CombinedNode(criterion=Criterion.ONE, branches=branches(1, 0) + branches(2, 0))
    once = CombinedNode(criterion=Criterion.ONE, branches=branches(2, 0))
    assert run(combinations(twice, once), lambda one, other: one == other)[0] == []


def test_keywords() -> None:
    def found(one: Criterion, count: int, other: Criterion, number: int) -> list[JsonKind]:
        writer = CombinedNode(criterion=one, branches=branches(count, 0))
        reader = CombinedNode(criterion=other, branches=branches(number, 0))
        return run(combinations(writer, reader), lambda *_: True)[0]

    every, some, one = Criterion.ALL, Criterion.ANY, Criterion.ONE
    changed = [JsonKind.COMBINED_TYPE_CHANGED]
    assert found(every, 2, some, 2) == found(one, 2, some, 2) == found(some, 1, one, 2) == found(every, 2, one, 1) == []
    assert found(some, 1, every, 1) == []
    assert found(some, 2, one, 2) == found(some, 2, every, 2) == found(one, 2, every, 1) == changed
    assert found(every, 1, every, 2) == [JsonKind.PRODUCT_TYPE_EXTENDED]
    assert found(every, 2, every, 1) == found(some, 1, one, 2) == []


def test_with_a_schema_that_is_no_combination() -> None:
    def answer(original: Node, update: Node, fitting: int) -> bool:
        rule = with_single(original, update)
        reply: bool | None = None
        while True:
            try:
                item = rule.send(reply)
            except StopIteration as stop:
                return bool(stop.value)
            reply = fitting in (item.original.key, item.update.key)

    single = Node(NodeKind.NULL, key=50)
    for criterion in (Criterion.ANY, Criterion.ONE):
        assert answer(single, CombinedNode(criterion=criterion, branches=branches(3, 0)), 2)
        assert not answer(single, CombinedNode(criterion=criterion, branches=branches(3, 0)), 9)
        assert not answer(CombinedNode(criterion=criterion, branches=branches(3, 0)), single, 2)
    assert not answer(single, CombinedNode(criterion=Criterion.ALL, branches=branches(3, 0)), 2)
    assert answer(CombinedNode(criterion=Criterion.ALL, branches=branches(3, 0)), single, 2)
    for criterion in Criterion:
        assert answer(single, CombinedNode(criterion=criterion, branches=branches(1, 0)), 0)
        assert answer(CombinedNode(criterion=criterion, branches=branches(1, 0)), single, 0)
