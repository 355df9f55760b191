"""The texts of JSON Schemas: what a registry stores, and what `normalize` makes of it.

Must not know what a schema means. Source: `canonicalString` and `normalize` of Confluent's `JsonSchema`: the document
as Jackson writes it, compact, numbers with their digits; normalized with the members of all objects in order.
"""

from __future__ import annotations

from typing import Any

from registry.schemas.documents import dumps


def json_text(document: Any, normalize: bool) -> str:
    """The text of a document read with `loads(…, exact=True)`.

    Args:
        document: the schema; for a Boolean schema `True` or `False`.
        normalize: order the members of objects, as Java orders strings.
    """
    return dumps(_ordered(document) if normalize else document)


def _ordered(value: Any) -> Any:
    """A copy with the members of all objects in order; Python's stack is not used."""
    result: list[Any] = [value]
    todo: list[tuple[Any, Any]] = [(result, 0)]
    while todo:
        holder, at = todo.pop()
        item = holder[at]
        if isinstance(item, dict):
            copy: Any = {name: item[name] for name in sorted(item, key=_utf16)}
            todo += [(copy, name) for name in copy]
        elif isinstance(item, list):
            copy = list(item)
            todo += [(copy, index) for index in range(len(copy))]
        else:
            continue
        holder[at] = copy
    return result[0]


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")
