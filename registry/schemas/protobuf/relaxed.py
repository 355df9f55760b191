"""Texts that Confluent's registry takes and protoc refuses, written so that protoc takes them and bytes stay the same.

Must not change what values look like in bytes. Source: Confluent's registry (`toDynamicSchema` skips imports it can't
find and options it doesn't know; descriptors that were registered come back with their map entries written out).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from registry.schemas.protobuf.model import Extend, Extensions, Field, File, Message, Option, Type, option_value
from registry.schemas.protobuf.reader import read
from registry.schemas.protobuf.sources import built_in
from registry.schemas.protobuf.text import text_of
from registry.schemas.protobuf.types import Types


def relaxed(text: str, texts: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """A text and those it may import, without the constructs that only protoc refuses.

    Raises:
        InvalidSchemaError: one of them is not Protobuf.
    """
    files = {path: read(content, path) for path, content in texts.items()}
    own = read(text)
    types = Types(own, [(path, None, file) for path, file in files.items()])

    def there(path: str) -> bool:
        return path in files or built_in(path) is not None

    return text_of(_Relaxed(types, there).file(own)), {
        path: text_of(_Relaxed(types, there).file(file)) for path, file in files.items()
    }


class _Relaxed:
    """Rebuilds a file; what needs no change is kept as it is."""

    def __init__(self, types: Types, there: Callable[[str], bool]) -> None:
        self.types, self.there = types, there
        self.package = ""

    def file(self, file: File) -> File:
        self.package = file.package or ""
        return dataclasses.replace(
            file,
            imports=list(filter(self.there, file.imports)),
            public_imports=list(filter(self.there, file.public_imports)),
            weak_imports=list(filter(self.there, file.weak_imports)),
            types=[self.type(item, (item.name,)) for item in file.types],
            services=[
                dataclasses.replace(
                    service,
                    options=self.options(service.options, ()),
                    rpcs=[dataclasses.replace(rpc, options=self.options(rpc.options, ())) for rpc in service.rpcs],
                )
                for service in file.services
            ],
            extends=[self.extend(item, ()) for item in file.extends],
            options=self.options(file.options, ()),
        )

    def type(self, item: Type, scope: tuple[str, ...]) -> Type:
        options = self.options(item.options, scope)
        if not isinstance(item, Message):
            constants = [dataclasses.replace(one, options=self.options(one.options, scope)) for one in item.constants]
            return dataclasses.replace(item, options=options, constants=constants)
        return dataclasses.replace(
            item,
            fields=[self.field(one, scope) for one in item.fields],
            one_ofs=[
                dataclasses.replace(
                    one,
                    fields=[self.field(inner, scope) for inner in one.fields],
                    options=self.options(one.options, scope),
                )
                for one in item.one_ofs
            ],
            nested=[self.type(inner, (*scope, inner.name)) for inner in item.nested if not _is_map_entry(inner)],
            options=options,
            extensions=[Extensions(one.values, self.options(one.options, scope)) for one in item.extensions],
            extends=[self.extend(one, scope) for one in item.extends],
        )

    def field(self, field: Field, scope: tuple[str, ...]) -> Field:
        """A field; written as a map if its type is a map entry."""
        options = self.options(field.options, scope)
        name = self.types.resolve(field.type, scope, self.package)
        info = None if name is None else self.types.find(name)
        if info is None or info.map_entry is None:
            return dataclasses.replace(field, options=options)
        kind = f"map<{info.map_entry[0]}, {info.map_entry[1]}>"
        return dataclasses.replace(field, label=None, type=kind, options=options)

    def extend(self, extend: Extend, scope: tuple[str, ...]) -> Extend:
        return Extend(extend.name, [self.field(item, scope) for item in extend.fields])

    def options(self, options: Sequence[Option], scope: tuple[str, ...]) -> list[Option]:
        """Options without the unknown custom ones."""
        return [
            option
            for option in options
            if not option.parenthesized or self.types.resolve_extension(option.name, scope, self.package) is not None
        ]


def _is_map_entry(item: Type) -> bool:
    return isinstance(item, Message) and str(option_value(item.options, "map_entry")).lower() == "true"
