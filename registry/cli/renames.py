"""Which file of a comparison's old side a new file was renamed from.

Must not know where the sides come from. A file that is only on the new side is paired with one that is only on the old
side: the same text, else the same name in the schema, else similar text. Each old file is used once.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from registry.cli.findings import Unusable
from registry.cli.linking import Collection, Document
from registry.cli.subjects import own_name

__all__ = ["SIMILAR", "renamed"]

SIMILAR = 0.6
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
    scores = []
    for path in added:
        document = _document(new, path)
        if document is None:
            continue
        matcher = difflib.SequenceMatcher(autojunk=False)
        matcher.set_seq2(document.text.split())
        for source in left:
            other = _document(old, source)
            if other is not None and other.schema_type == document.schema_type:
                matcher.set_seq1(other.text.split())
                if matcher.real_quick_ratio() >= SIMILAR and matcher.quick_ratio() >= SIMILAR:
                    score = matcher.ratio()
                    if score >= SIMILAR:
                        scores.append((-score, path, source))
    for _, path, source in sorted(scores):
        if path not in found and source in left:
            found[path] = source
            del left[source]
