"""Detecting renames: the file of a comparison's old side that a new file was renamed from.

Must not know where the sides come from. A file that is only on the new side is paired with one that is only on the old
side: the same text, else the same name in the schema, else similar text. Each old file is used once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kserdes.cli.schema.source.linking import Collection, Document
from kserdes.cli.schema.source.subjects import own_name
from kserdes.cli.shell.unusable import Unusable

SIMILAR = 0.6
SIMILAR_OF_OTHER_NAME = 0.8  # schemas of one style have many words in common
WORD = re.compile(r"[A-Za-z_][\w.-]*")
KEYWORDS_TEXT = """type name namespace fields doc default record enum symbols fixed size array items map values
null boolean int long float double bytes string logicalType properties required title description object number integer
false true additionalProperties syntax proto3 package import option message repeated optional bool int32 int64"""
KEYWORDS = frozenset(KEYWORDS_TEXT.split())
MAX_COMPARED = 40_000  # pairs of files whose texts are compared


def renamed(new: Collection, added: Sequence[str], old: Collection, removed: Sequence[str]) -> dict[str, str]:
    """New path → old path.

    Args:
        new: the new side.
        added: paths that only the new side has.
        old: the old side.
        removed: paths that only the old side has.
    """
    left = dict.fromkeys(removed)
    found: dict[str, str] = {}
    for key in (_text, own_name):
        _pair_by(key, new, [path for path in added if path not in found], old, left, found)
    _pair_similar(new, [path for path in added if path not in found], old, left, found)
    return found


def _text(document: Document) -> str | None:
    return document.text


def _document(side: Collection, path: str) -> Document | None:
    try:
        return side.document(path)
    except Unusable:
        return None


def _pair_by(
    key: Callable[[Document], str | None],
    new: Collection,
    added: Sequence[str],
    old: Collection,
    left: dict[str, None],
    found: dict[str, str],
) -> None:
    """Pairs files whose keys are equal, where exactly one old file has the key."""
    known: dict[tuple[str, str], list[str]] = {}
    for path in left:
        document = _document(old, path)
        value = None if document is None else key(document)
        if document is not None and value is not None:
            known.setdefault((document.schema_type, value), []).append(path)
    for path in added:
        document = _document(new, path)
        value = None if document is None else key(document)
        if document is None or value is None:
            continue
        sources = known.get((document.schema_type, value), [])
        if len(sources) == 1:
            found[path] = sources.pop()
            del left[found[path]]


def _pair_similar(
    new: Collection, added: Sequence[str], old: Collection, left: dict[str, None], found: dict[str, str]
) -> None:
    """Pairs what is left by the likeness of texts, best first."""
    if not left or len(added) * len(left) > MAX_COMPARED:
        return
    sources = [(path, made) for path in left if (made := _sketch(old, path)) is not None]
    scores = []
    for path in added:
        sketch = _sketch(new, path)
        if sketch is not None:
            for source, other in sources:
                score = _likeness(sketch, other)
                if score >= (SIMILAR if None in (sketch.name, other.name) else SIMILAR_OF_OTHER_NAME):
                    scores.append((-score, path, source))
    for _, path, source in sorted(scores):
        if path not in found and source in left:
            found[path] = source
            del left[source]


@dataclass(frozen=True, slots=True)
class _Sketch:
    """The basis of likeness: the count of each word of a text, without the keywords of schemas."""

    schema_type: str
    name: str | None
    words: Counter[str]


def _sketch(side: Collection, path: str) -> _Sketch | None:
    document = _document(side, path)
    if document is None:
        return None
    return _Sketch(
        document.schema_type,
        own_name(document),
        Counter(word for word in WORD.findall(document.text) if word not in KEYWORDS),
    )


def _likeness(one: _Sketch, other: _Sketch) -> float:
    """The share of words that two texts have in common; takes time in proportion to their length."""
    if one.schema_type != other.schema_type:
        return 0.0
    return 2 * (one.words & other.words).total() / max(one.words.total() + other.words.total(), 1)
