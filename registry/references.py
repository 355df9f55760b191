"""All schemas a schema is made of, in the order in which they can be parsed.

Must not know where schemas come from: the walk is a generator that yields references and is sent schemas, so one
text serves local resolvers, the embedded store and network clients. Source: "schema references" of Confluent's docs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

from registry.errors import InvalidSchemaError
from registry.models import Schema, SchemaReference

__all__ = ["MAX_REFERENCES", "Resolver", "closure", "resolve_all"]

MAX_REFERENCES = 1000
"""More distinct schemas than this in one closure are refused."""

Resolver = Callable[[SchemaReference], Schema]


def closure(schema: Schema) -> Generator[SchemaReference, Schema, list[tuple[SchemaReference, Schema]]]:
    """The referenced schemas of a schema, each once, every one after those it uses itself; not the schema itself.

    Yields:
        a reference; to be sent the schema it stands for.

    Raises:
        InvalidSchemaError: references form a cycle, or there are more than `MAX_REFERENCES`.
    """
    done: dict[tuple[str, int], tuple[SchemaReference, Schema]] = {}
    open_keys: list[tuple[str, int]] = []
    stack = [iter(schema.references)]
    pending: list[tuple[SchemaReference, Schema]] = []
    while stack:
        reference = next(stack[-1], None)
        if reference is None:
            stack.pop()
            if open_keys:
                done[open_keys.pop()] = pending.pop()
            continue
        key = (reference.subject, reference.version)
        if key in done:
            continue
        if key in open_keys:
            raise InvalidSchemaError.local(f"schema references form a cycle through {key[0]!r} version {key[1]}")
        if len(done) + len(open_keys) >= MAX_REFERENCES:
            raise InvalidSchemaError.local(f"more than {MAX_REFERENCES} referenced schemas")
        found = yield reference
        open_keys.append(key)
        pending.append((reference, found))
        stack.append(iter(found.references))
    return list(done.values())


def resolve_all(schema: Schema, resolve: Resolver | None) -> list[tuple[SchemaReference, Schema]]:
    """Runs `closure` with a function.

    Raises:
        InvalidSchemaError: as `closure`, or there are references and no `resolve`.
    """
    walk = closure(schema)
    try:
        reference = next(walk)
        while True:
            if resolve is None:
                raise InvalidSchemaError.local(f"schema uses reference {reference.name!r}, but nothing resolves it")
            reference = walk.send(resolve(reference))
    except StopIteration as stop:
        found: list[tuple[SchemaReference, Schema]] = stop.value
        return found
