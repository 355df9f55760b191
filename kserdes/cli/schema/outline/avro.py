"""Names of an Avro schema: the named types it defines, and those it uses but does not define.

Must not judge schemas: what is not Avro gives no names. Walks without recursion. Source: Avro specification 1.12,
"Names".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from registry.schemas.avro.types import NAMED_TYPES, PRIMITIVES

COMPLEX = (*NAMED_TYPES, "array", "map")


@dataclass(slots=True)
class AvroNames:
    """The names of one schema.

    Attributes:
        top: full name of the type the schema is, None for unions, arrays and the like.
        defined: full names of all named types in it.
        used: names used, each with the names it may stand for, likeliest first.
    """

    top: str | None = None
    defined: set[str] = field(default_factory=set)
    used: dict[tuple[str, ...], None] = field(default_factory=dict)

    @property
    def missing(self) -> list[tuple[str, ...]]:
        """The names used that are defined elsewhere."""
        return [names for names in self.used if not self.defined.intersection(names)]


def full_name(node: dict[str, Any], enclosing: str) -> str | None:
    """The full name of a named type within a namespace."""
    name, space = node.get("name"), node.get("namespace")
    if not isinstance(name, str) or not name:
        return None
    if "." in name:
        return name
    namespace = space if isinstance(space, str) else enclosing
    return f"{namespace}.{name}" if namespace else name


def avro_names(document: Any) -> AvroNames:
    """The names of a parsed schema document."""
    found = AvroNames()
    if isinstance(document, dict) and document.get("type") in NAMED_TYPES:
        found.top = full_name(document, "")
    stack: list[tuple[Any, str]] = [(document, "")]
    while stack:
        node, space = stack.pop()
        if isinstance(node, str):
            if node not in PRIMITIVES:
                found.used[(node,) if "." in node or not space else (f"{space}.{node}", node)] = None
        elif isinstance(node, list):
            stack += ((item, space) for item in reversed(node))
        elif isinstance(node, dict):
            kind = node.get("type")
            if isinstance(kind, str) and kind in NAMED_TYPES:
                name = full_name(node, space)
                if name is not None:
                    found.defined.add(name)
                    space = name.rpartition(".")[0]
                fields = node.get("fields")
                if isinstance(fields, list):
                    stack += ((item.get("type"), space) for item in reversed(fields) if isinstance(item, dict))
            elif kind in ("array", "map"):
                stack.append((node.get("items" if kind == "array" else "values"), space))
            else:
                stack.append((kind, space))
    return found
