"""Hypothesis strategies for protocol messages, built from the field facts of the generated classes.

`messages(cls, version)` draws messages that this version can carry in full: fields it lacks stay at their default.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kafka_core.protocol import DATA_MESSAGES, REQUESTS, RESPONSES, ApiMessage
from kafka_core.protocol.schema import Field, Struct

INTEGER_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
MAX_ELEMENTS = 2
_built: dict[tuple[type[Struct], int, bool], st.SearchStrategy[Any]] = {}


def all_classes() -> list[type[ApiMessage]]:
    """Every message class there is."""
    return [*REQUESTS.values(), *RESPONSES.values(), *DATA_MESSAGES.values()]


def all_versions() -> list[tuple[type[ApiMessage], int]]:
    """Every message class with each of its versions."""
    return [(cls, version) for cls in all_classes() for version in versions(cls)]


def versions(cls: type[ApiMessage]) -> range:
    return range(cls.VALID_VERSIONS[0], cls.VALID_VERSIONS[1] + 1)


def messages(cls: type[ApiMessage], version: int) -> st.SearchStrategy[Any]:
    """Messages of one class that one version can carry."""
    return structs(cls, version, cls.is_flexible(version))


def structs(struct: type[Struct], version: int, flexible: bool) -> st.SearchStrategy[Any]:
    """Structs as a message of that version has them; built once."""
    key = (struct, version, flexible)
    if key not in _built:
        fields = {item.name: values(item, version, flexible) for item in struct.FIELDS if item.exists_in(version)}
        if flexible:
            fields["unknown_tagged"] = unknown_tags(struct, version)
        _built[key] = st.builds(struct, **fields)
    return _built[key]


def unknown_tags(struct: type[Struct], version: int) -> st.SearchStrategy[list[tuple[int, bytes]]]:
    """Mostly none; else some with ascending numbers that the version does not know."""
    known = {item.tag for item in struct.FIELDS if item.tag is not None and item.exists_in(version)}
    tags = st.integers(0, 2**32 - 1).filter(lambda tag: tag not in known)
    some = st.dictionaries(tags, st.binary(max_size=8), min_size=1, max_size=3).map(lambda found: sorted(found.items()))
    return st.one_of(st.builds(list), st.builds(list), some)


def values(item: Field, version: int, flexible: bool) -> st.SearchStrategy[Any]:
    """Values of one field; None too where the version allows it."""
    found = value_of(item, item.kind, version, flexible)
    return st.none() | found if item.nullable_in(version) else found


def value_of(item: Field, kind: str, version: int, flexible: bool) -> st.SearchStrategy[Any]:
    if kind.startswith("[]"):
        return st.lists(value_of(item, kind[2:], version, flexible), max_size=MAX_ELEMENTS)
    if kind == "struct":
        assert item.struct is not None
        return structs(item.struct, version, flexible)
    if kind in INTEGER_BITS:
        bits = INTEGER_BITS[kind]
        return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return SIMPLE[kind]


SIMPLE: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "uint16": st.integers(0, 2**16 - 1),
    "uint32": st.integers(0, 2**32 - 1),
    "float64": st.floats(allow_nan=False),
    "uuid": st.uuids(),
    "string": st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.just("long " * 30),
    "bytes": st.binary(max_size=8) | st.just(b"long " * 30),
    "records": st.binary(max_size=8) | st.just(b"records " * 20),
}
