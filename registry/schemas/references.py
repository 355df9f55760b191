"""All schemas a schema is made of, in the order in which they can be parsed.

Must not know where schemas come from: the walk is a generator that yields references and is sent schemas, so one
text serves local resolvers, the embedded store and network clients. Source: "schema references" of Confluent's docs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator

from registry.errors import InvalidSchemaError
from registry.limits import MAX_REFERENCES
from registry.models import Schema, SchemaReference

Resolver = Callable[[SchemaReference], Schema]


def closure(schema: Schema) -> Generator[SchemaReference, Schema, list[tuple[SchemaReference, Schema]]]:
    """The referenced schemas of a schema, every one after those it uses itself; not the schema itself.

    Each name occurs once: as in the registry, the first reference of a name is the one that counts. What is referenced
    under several names occurs under each (JSON and Protobuf find schemas by these names), of Avro only once (whose
    names are in the schemas).

    Yields:
        a reference; to be sent the schema it stands for. The same place is asked for once.

    Raises:
        InvalidSchemaError: references form a cycle, or there are more than `MAX_REFERENCES`.
    """
    names: set[str] = set()
    places: dict[tuple[str, int], Schema] = {}
    done: list[tuple[SchemaReference, Schema]] = []
    under_way: list[tuple[SchemaReference, Schema]] = []
    open_places: set[tuple[str, int]] = set()
    stack = [iter(schema.references)]
    while stack:
        reference = next(stack[-1], None)
        if reference is None:
            stack.pop()
            if under_way:
                done.append(under_way.pop())
                open_places.remove((done[-1][0].subject, done[-1][0].version))
            continue
        place = (reference.subject, reference.version)
        if place in open_places:
            raise InvalidSchemaError.local(f"schema references form a cycle through {place[0]!r} version {place[1]}")
        if reference.name in names or (schema.schema_type == "AVRO" and place in places):
            continue
        if len(names) >= MAX_REFERENCES:
            raise InvalidSchemaError.local(f"more than {MAX_REFERENCES} referenced schemas")
        names.add(reference.name)
        if place not in places:
            places[place] = yield reference
        open_places.add(place)
        under_way.append((reference, places[place]))
        stack.append(iter(places[place].references))
    return done


def within(schema: Schema, subject: str | None) -> Schema:
    """A schema whose references say in which context their subjects are: that of its own subject, if they name none.

    Args:
        schema: as it is registered.
        subject: its subject; None, or one of the default context, leaves it as it is.
    """
    if subject is None or not subject.startswith(":.") or not schema.references:
        return schema
    prefix = f":{subject[1:].partition(':')[0]}:"
    references = tuple(
        item if item.subject.startswith(":.") else dataclasses.replace(item, subject=prefix + item.subject)
        for item in schema.references
    )
    return schema if references == schema.references else dataclasses.replace(schema, references=references)


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
