"""Runs the comparison of two JSON Schemas: which pairs of schemas are compared, what is found, how often it is asked.

Must not know what the rules are. Source: `SchemaDiff` and `Context` of Confluent's registry, whose comparisons of
recursive schemas start from "compatible" and are repeated until nothing changes. Python's stack is not used.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

from registry.compat.difference import Difference, Roles
from registry.compat.json.combined import combinations, with_single
from registry.compat.json.kinds import LENIENT, JsonKind, sentence
from registry.compat.json.rules import Ask, Found, Part, Rule, arrays, negations, objects, values
from registry.errors import InvalidSchemaError
from registry.limits import MAX_JSON_STEPS
from registry.schemas.json.model import (
    ANYTHING,
    ArrayNode,
    CombinedNode,
    ConstNode,
    Node,
    NodeKind,
    NotNode,
    NumberNode,
    ObjectNode,
    ReferenceNode,
)
from registry.schemas.json.patterns import Patterns

MAX_PATH: Final = 200
"""Paths with more steps are cut in the middle."""

FIRST_PROPERTIES: Final = 8
"""So many properties of an object are looked at before its rule is begun."""

STEPS_OF_A_RULE: Final = 4
"""The cost in steps of a pair that has schemas inside."""

Pair: TypeAlias = tuple[Node, Node]


@dataclass(frozen=True, slots=True)
class Path:
    """A place in the schemas; written out only where something is found."""

    parent: Path | None = None
    steps: tuple[str, ...] = ()

    def __str__(self) -> str:
        found: list[str] = []
        at: Path | None = self
        while at is not None:
            found += reversed(at.steps)
            at = at.parent
        found.reverse()
        if len(found) > MAX_PATH:
            found[MAX_PATH // 2 : -MAX_PATH // 2] = ["…"]
        return "#/" + "/".join(step.replace("~", "~0").replace("/", "~1") for step in found)


@dataclass(slots=True)
class _Running:
    """A rule that is being run for its verdict.

    Attributes:
        key: the pair it is for.
        needs: whether the pair it waits for must be compatible for its own to be.
    """

    rule: Rule
    key: tuple[int, int]
    needs: bool = False


class Comparison:
    """One comparison: everything that was found out about pairs is kept.

    Args:
        roles: how messages call the two schemas.
        policy: `STRICT` or `LENIENT`.
    """

    def __init__(self, roles: Roles, policy: str) -> None:
        self._roles = roles
        self._allowed: frozenset[JsonKind] = LENIENT if policy == "LENIENT" else frozenset()
        self._verdicts: dict[tuple[int, int], bool] = {}
        self._occurs = Patterns().occurs
        self._steps = 0

    def run(self, original: Node, update: Node) -> list[Difference]:
        """All incompatibilities; those inside a pair that is met often only where it is met first.

        Raises:
            InvalidSchemaError: it would take more than `MAX_JSON_STEPS` steps.
        """
        found: list[Difference] = []
        seen: set[tuple[int, int]] = set()
        stack: list[tuple[Rule, Path]] = []

        def enter(original: Node, update: Node, path: Path) -> None:
            original, update = _referred(original), _referred(update)
            key = id(original), id(update)
            if key not in seen and not self._are_compatible(original, update):
                seen.add(key)
                stack.append((self._rule(original, update), path))

        enter(original, update, Path())
        answer: bool | None = None
        while stack:
            rule, path = stack[-1]
            try:
                item = rule.send(answer)
            except StopIteration:
                stack.pop()
                answer = None
                continue
            answer = None
            if isinstance(item, Ask):
                answer = self.compatible(item.original, item.update)
            elif isinstance(item, Part):
                enter(item.original, item.update, Path(path, item.steps))
            elif item.kind not in self._allowed:
                found.append(self._difference(item, Path(path, item.steps)))
        return list(dict.fromkeys(found))

    def compatible(self, original: Node, update: Node) -> bool:
        """Whether two schemas are compatible; either of which may be a reference."""
        return self._are_compatible(_referred(original), _referred(update))

    def _are_compatible(self, original: Node, update: Node) -> bool:
        """The verdict on two schemas.

        A pair that is met again while it is being compared counts as compatible. Where it turns out that it is not,
        all that was taken for compatible meanwhile is compared again; what is incompatible stays so.
        """
        known = self._verdicts.get((id(original), id(update)))
        if known is not None:
            return known
        while True:
            assumed: set[tuple[int, int]] = set()
            meanwhile: dict[tuple[int, int], bool] = {}
            verdict = self._decide((original, update), assumed, meanwhile)
            if not verdict or not any(self._verdicts.get(pair) is False for pair in assumed):
                if verdict:
                    self._verdicts.update(meanwhile)
                return verdict

    def _decide(self, pair: Pair, assumed: set[tuple[int, int]], meanwhile: dict[tuple[int, int], bool]) -> bool:
        """One pass. `meanwhile` gets what is compatible if what was `assumed` is."""
        stack: list[_Running] = []
        under_way: set[tuple[int, int]] = set()
        answer = self._begin(pair)
        while True:
            if not isinstance(answer, bool):
                running = _Running(answer, (id(pair[0]), id(pair[1])))
                stack.append(running)
                under_way.add(running.key)
                asked = self._advance(running, None)
            elif not stack:
                self._verdicts[id(pair[0]), id(pair[1])] = answer
                return answer
            else:
                asked = self._advance(stack[-1], answer)
            if isinstance(asked, bool):
                running = stack.pop()
                under_way.discard(running.key)
                (meanwhile if asked else self._verdicts)[running.key] = asked
                if not stack:
                    return asked
                answer = asked
                continue
            pair = _referred(asked[0]), _referred(asked[1])
            key = id(pair[0]), id(pair[1])
            if key in under_way:
                assumed.add(key)
                answer = True
            else:
                known = self._verdicts.get(key, meanwhile.get(key))
                answer = self._begin(pair) if known is None else known

    def _advance(self, running: _Running, answer: bool | None) -> bool | Pair:
        """Runs a rule to its verdict, or to the next pair it needs."""
        if running.needs and answer is False:
            return False
        while True:
            self._spend(1)
            try:
                item = running.rule.send(None if running.needs else answer)
            except StopIteration:
                return True
            running.needs = isinstance(item, Part)
            if not isinstance(item, Found):
                return item.original, item.update
            if item.kind not in self._allowed:
                return False
            answer = None

    def _begin(self, pair: Pair) -> bool | Rule:
        """The verdict on a pair if it needs no other pairs, else its rule."""
        original, update = pair
        if original.kind is update.kind:
            if original.only_values:
                return all(item.kind in self._allowed for item in values(original, update))
            if isinstance(original, ObjectNode):
                if _values_differ(original, update):
                    return False
                self._spend(len(original.properties) // 8)
            elif not isinstance(original, (ArrayNode, CombinedNode, NotNode)):
                return True
        elif not (isinstance(original, CombinedNode) or isinstance(update, CombinedNode)):
            return _fits_anyway(original, update)
        self._spend(STEPS_OF_A_RULE)
        return self._rule(original, update)

    def _rule(self, original: Node, update: Node) -> Rule:
        """The rule for a pair of any kinds."""
        one_is_combined = (original.kind is NodeKind.COMBINED) is not (update.kind is NodeKind.COMBINED)
        if one_is_combined and (yield from with_single(original, update)):
            return
        if original.kind is not update.kind:
            if not _fits_anyway(original, update):
                details = {"old": _name(original), "new": _name(update)}
                yield Found(JsonKind.TYPE_CHANGED, (), details)
        elif isinstance(original, ObjectNode) and isinstance(update, ObjectNode):
            yield from objects(original, update, self._occurs)
        elif isinstance(original, ArrayNode) and isinstance(update, ArrayNode):
            yield from arrays(original, update, self._occurs)
        elif isinstance(original, CombinedNode) and isinstance(update, CombinedNode):
            yield from combinations(original, update)
        elif isinstance(original, NotNode) and isinstance(update, NotNode):
            yield from negations(original, update)
        else:
            yield from values(original, update)

    def _spend(self, steps: int) -> None:
        self._steps += steps
        if self._steps > MAX_JSON_STEPS:
            raise InvalidSchemaError.local(f"comparing the schemas takes more than {MAX_JSON_STEPS} steps")

    def _difference(self, found: Found, path: Path) -> Difference:
        where = str(path)
        details = {name: _short(value) for name, value in found.details.items()}
        return Difference(found.kind.value, where, sentence(found.kind, where, self._roles, details))


def _referred(node: Node) -> Node:
    """The target of a reference, one step; the registry leaves references to references as they are."""
    return node.referred if isinstance(node, ReferenceNode) else node


def _values_differ(original: ObjectNode, update: Node) -> bool:
    """Whether a property keeps two objects apart by its value alone: found at once, without the pairs inside."""
    if isinstance(update, ObjectNode):
        for name, old in islice(original.properties.items(), FIRST_PROPERTIES):
            new = update.properties.get(name)
            if isinstance(old, ConstNode) and isinstance(new, ConstNode) and old.value != new.value:
                return True
    return False


def _fits_anyway(original: Node, update: Node) -> bool:
    """Whether schemas of two kinds are compatible all the same."""
    return original.kind is NodeKind.FALSE or update.kind in ANYTHING or (original.is_bytes and update.is_bytes)


def _name(node: Node) -> str:
    if isinstance(node, CombinedNode):
        inner = (
            branch.criterion if isinstance(branch, CombinedNode) else _referred(branch).kind for branch in node.branches
        )
        return f"{node.criterion.value} of {', '.join(dict.fromkeys(item.value for item in inner)) or 'nothing'}"
    if isinstance(node, NumberNode) and node.integer:
        return "integer"
    return node.kind.value


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 200 else text[:200] + "…"
