"""Comparing combinations (`allOf`, `anyOf`, `oneOf`): with each other, and with schemas that are none.

Must not know how a comparison is run. Source: `CombinedSchemaDiff` of Confluent's registry: every branch of the side
with fewer needs one of its own on the other side, which is a maximum matching in a bipartite graph.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeAlias

from registry.compat.json.kinds import JsonKind
from registry.compat.json.rules import Ask, Found, Rule
from registry.schemas.json.model import CombinedNode, Criterion, Node

Search: TypeAlias = Generator[Ask, bool | None, int | None]


def with_single(original: Node, update: Node) -> Generator[Ask, bool | None, bool]:
    """Compares a combination with a schema that is no combination: does one of its branches fit?"""
    pairs: list[Ask] = []
    if isinstance(update, CombinedNode) and (len(update.branches) == 1 or update.criterion is not Criterion.ALL):
        pairs = [Ask(original, branch) for branch in update.branches]
    elif isinstance(original, CombinedNode) and (len(original.branches) == 1 or original.criterion is Criterion.ALL):
        pairs = [Ask(branch, update) for branch in original.branches]
    for pair in pairs:
        if (yield pair):
            return True
    return False


def combinations(original: CombinedNode, update: CombinedNode) -> Rule:
    """Two combinations."""
    if _criteria_differ(original, update):
        details = {"old": original.criterion.value, "new": update.criterion.value}
        yield Found(JsonKind.COMBINED_TYPE_CHANGED, (), details)
        return
    branches, others = _distinct(original.branches), _distinct(update.branches)
    details = {"old": str(len(branches)), "new": str(len(others))}
    if len(branches) < len(others):
        if update.criterion is Criterion.ALL:
            yield Found(JsonKind.PRODUCT_TYPE_EXTENDED, (), details)
    elif len(branches) > len(others) and original.criterion is not Criterion.ALL:
        yield Found(JsonKind.SUM_TYPE_NARROWED, (), details)
    unmatched = yield from _unmatched(branches, others)
    if unmatched is not None:
        step = (original.criterion if len(branches) <= len(others) else update.criterion).value
        yield Found(JsonKind.COMBINED_TYPE_SUBSCHEMAS_CHANGED, (), {"name": f"{step}/{unmatched}"})


def _criteria_differ(original: CombinedNode, update: CombinedNode) -> bool:
    """Whether the keywords are so different that branches need not be looked at."""
    if original.criterion is update.criterion or update.criterion is Criterion.ANY:
        return False
    if len(original.branches) == 1 and (len(update.branches) == 1 or update.criterion is Criterion.ONE):
        return False
    return not (len(update.branches) == 1 and original.criterion is Criterion.ALL)


def _distinct(branches: Sequence[Node]) -> list[Node]:
    return list({branch.key: branch for branch in reversed(branches)}.values())[::-1]


def _unmatched(branches: list[Node], others: list[Node]) -> Search:
    """The position of a branch of the shorter list that is left over by every pairing; None if there is none.

    Branches are asked about only when a pairing needs it, each pair once.
    """
    swapped = len(branches) > len(others)
    short, long = (others, branches) if swapped else (branches, others)
    everything = (1 << len(long)) - 1
    known = [everything] * len(short)  # pairs not asked about yet, as bits
    fits = [0] * len(short)
    partner: dict[int, int] = {}  # position in the long list → in the short one

    for start in range(len(short)):
        came_from: dict[int, int] = {}
        unseen = everything
        queue = [start]
        free: int | None = None
        while queue and free is None:
            at = queue.pop(0)
            while free is None:
                candidates = fits[at] & unseen
                if not candidates:
                    candidates = known[at] & unseen
                    if not candidates:
                        break
                    near = 1 << min(at, len(long) - 1)
                    bit = near if candidates & near else candidates & -candidates
                    known[at] ^= bit
                    other = bit.bit_length() - 1
                    pair = (long[other], short[at]) if swapped else (short[at], long[other])
                    if not (yield Ask(*pair)):
                        continue
                    fits[at] |= bit
                else:
                    bit = candidates & -candidates
                    other = bit.bit_length() - 1
                unseen ^= bit
                came_from[other] = at
                if other in partner:
                    queue.append(partner[other])
                else:
                    free = other
        if free is None:
            return start
        while True:
            at = came_from[free]
            previous = next((other for other, owner in partner.items() if owner == at), None)
            partner[free] = at
            if at == start:
                break
            assert previous is not None
            free = previous
    return None
