"""The parts of Avro definitions: names and aliases, texts, lists, properties.

Must not know of types or of how names are looked up. Source: Avro specification 1.12, "Names"; what it leaves open is
as Java's `Schema.Parser` has it.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from registry.errors import InvalidSchemaError
from registry.limits import MAX_AVRO_NAME

RESERVED: Final = frozenset(
    ("type", "name", "namespace", "doc", "aliases", "fields", "symbols", "size", "items", "values")
)
ENUM_RESERVED: Final = RESERVED | {"default"}
FIELD_RESERVED: Final = frozenset(("name", "type", "doc", "default", "order", "aliases"))

Naming: TypeAlias = tuple[str, list[str], str | None, dict[str, Any]]
"""Full name, full aliases, doc and other properties of a named type."""


def naming_of(node: dict[str, Any], enclosing: str, reserved: frozenset[str]) -> Naming:
    """The names and other parts of a named type.

    Args:
        node: the definition.
        enclosing: the namespace around it.
        reserved: attributes that are no properties.

    Raises:
        InvalidSchemaError: no name, or an illegal one.
    """
    name = node.get("name")
    if not isinstance(name, str) or not name:
        raise InvalidSchemaError.local(f"no name in {short(node)}")
    space = node.get("namespace")
    full = _qualified(name, space if isinstance(space, str) else enclosing)
    if len(full) > MAX_AVRO_NAME:
        raise InvalidSchemaError.local(f"a name is longer than {MAX_AVRO_NAME} characters: {short(full)}")
    namespace, _, last = full.rpartition(".")
    if not is_name(last):
        raise InvalidSchemaError.local(f"illegal name: {short(full)}")
    aliases = strings(node["aliases"], f"aliases of {full}") if "aliases" in node else []
    full_aliases = list(dict.fromkeys(_qualified_alias(alias, namespace) for alias in aliases))
    for alias in full_aliases:
        if not is_name(alias.rpartition(".")[2]):
            raise InvalidSchemaError.local(f"illegal alias of {full}: {short(alias)}")
    return full, full_aliases, text_of(node, "doc"), props(node, reserved)


def _qualified(name: str, namespace: str) -> str:
    """The full name; one with a dot is full already (a leading dot says: no namespace)."""
    if "." in name:
        return name.removeprefix(".") if name.count(".") == 1 else name
    return f"{namespace}.{name}" if namespace else name


def _qualified_alias(alias: str, namespace: str) -> str:
    """The full alias; in a namespace, Java keeps a leading dot, so that such an alias is nobody's name."""
    return alias if namespace and alias.startswith(".") else _qualified(alias, namespace)


def is_name(text: str) -> bool:
    """As Java has it: letters, digits and underscores of any script, in Unicode's first plane."""
    if text.isascii():
        return text.isidentifier()
    letters = text.replace("_", "a")
    return letters[0].isalpha() and all(c.isalpha() or c.isdecimal() for c in letters) and max(letters) <= "\uffff"


def needed(node: Mapping[str, Any], name: str) -> Any:
    """An attribute that has to be there.

    Raises:
        InvalidSchemaError: it is not.
    """
    if name not in node:
        raise InvalidSchemaError.local(f"no {name} in {short(node)}")
    return node[name]


def text_of(node: Mapping[str, Any], name: str) -> str | None:
    """A text attribute; None if it is missing or something else."""
    value = node.get(name)
    return value if isinstance(value, str) else None


def strings(value: Any, what: str) -> list[str]:
    """A list of strings.

    Raises:
        InvalidSchemaError: something else.
    """
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidSchemaError.local(f"{what} are not a list of strings: {short(value)}")
    return list(value)


def props(node: Mapping[str, Any], reserved: frozenset[str] = RESERVED) -> dict[str, Any]:
    """The attributes that the specification does not know."""
    if node.keys() <= reserved:
        return {}
    return {name: value for name, value in node.items() if name not in reserved}


BRIEF = reprlib.Repr()
BRIEF.maxlevel = 2
BRIEF.maxstring = BRIEF.maxlong = 60


def short(value: Any) -> str:
    """A value for a message."""
    text = BRIEF.repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
