"""Declarations as the `.proto` text that Confluent's registry stores, and as the normalized one it compares.

Must not read texts. Normalized: imports, options, fields, reserved numbers and enum values in order, types by their
full name, no `syntax` of proto2; the order of types stays, since messages are numbered by it. Source: Confluent's
registry (`ProtobufSchemaUtils.toString`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from registry.errors import InvalidSchemaError
from registry.schemas.protobuf.model import (
    MAX_NUMBER,
    SCALARS,
    Constant,
    Enum,
    Extend,
    Extensions,
    Field,
    File,
    Group,
    Message,
    OneOf,
    Option,
    OptionKind,
    Range,
    Reserved,
    Rpc,
    Service,
    Type,
    map_types,
)
from registry.schemas.protobuf.options import Names, indented, normalized, option_list, option_text
from registry.schemas.protobuf.types import Types

NUMBERS = SCALARS - {"bool", "string", "bytes"}


def text_of(file: File, types: Types | None = None) -> str:
    """The text of a file.

    Args:
        file: what it declares.
        types: what its names mean; given if the text is to be normalized.

    Raises:
        InvalidSchemaError: normalizing, and a name means nothing.
    """
    return _Printer(types, ()).file(file)


class _Printer:
    """Writes what is declared inside one scope."""

    def __init__(self, types: Types | None, scope: tuple[str, ...]) -> None:
        self.types, self.scope = types, scope
        self.names: Names | None = None
        if types is not None:
            self.names = Names(lambda name: types.resolve_extension(name, scope), types.extension)

    def inside(self, name: str) -> _Printer:
        return _Printer(self.types, (*self.scope, name))

    def resolved(self, name: str) -> str:
        """A type's name, in full if normalizing."""
        if self.types is None:
            return name
        found = self.types.resolve(name, self.scope)
        if found is None:
            raise InvalidSchemaError.local(f'type "{name}" is not defined')
        return f".{found}"

    def options(self, options: Sequence[Option]) -> Sequence[Option]:
        return options if self.names is None else normalized(options, self.names)

    def statements(self, options: Sequence[Option]) -> str:
        return "".join(f"option {option_text(option, self.names)};\n" for option in self.options(options))

    def ordered(self, fields: Iterable[Field]) -> list[Field]:
        return list(fields) if self.types is None else sorted(fields, key=lambda item: item.number)

    # --- the file

    def file(self, file: File) -> str:
        sections = [
            self.imports(file),
            self.statements(file.options),
            self.all_types(file.types),
            "".join(self.extend(item) for item in self.grouped(file.extends)),
            "".join(self.service(item) for item in file.services),
        ]
        return self.head(file) + "".join(f"\n{section}" for section in sections if section)

    def head(self, file: File) -> str:
        text = ""
        if file.syntax not in (None, "proto2", "proto3"):
            text = f'edition = "{file.syntax}";\n'
        elif file.syntax is not None and (self.types is None or file.syntax == "proto3"):
            text = f'syntax = "{file.syntax}";\n'
        return text if file.package is None else f"{text}package {file.package};\n"

    def imports(self, file: File) -> str:
        text = ""
        for keyword, paths in (("", file.imports), ("public ", file.public_imports), ("weak ", file.weak_imports)):
            shown = paths if self.types is None else sorted(set(paths))
            text += "".join(f'import {keyword}"{path}";\n' for path in shown)
        return text

    # --- types

    def all_types(self, types: list[Type]) -> str:
        messages = [item for item in types if isinstance(item, Message) and not self.is_map_entry(item)]
        enums = [item for item in types if isinstance(item, Enum)]
        return "".join(self.inside(item.name).message(item) for item in messages) + "".join(
            self.inside(item.name).enum(item) for item in enums
        )

    def is_map_entry(self, message: Message) -> bool:
        """Whether normalizing drops a message, because map fields stand for it."""
        if self.types is None:
            return False
        found = self.types.resolve(message.name, self.scope)
        info = None if found is None else self.types.find(found)
        return info is not None and info.map_entry is not None

    def message(self, message: Message) -> str:
        sections = [
            "".join(map(self.reserved, self.split(message.reserved))),
            self.statements(message.options),
            "".join(map(self.field, self.ordered(message.fields))),
            "".join(map(self.one_of, self.one_ofs(message.one_ofs))),
            "".join(map(self.group, self.groups(message.groups))),
            "".join(map(self.extensions, self.split_extensions(message.extensions))),
            "".join(self.extend(item) for item in self.grouped(message.extends)),
            self.all_types(message.nested),
        ]
        return _block(f"message {message.name}", sections)

    def enum(self, enum: Enum) -> str:
        constants = enum.constants
        if self.types is not None:
            constants = sorted(constants, key=lambda item: (item.number, item.name))
        reserved = "".join(map(self.reserved, self.split(enum.reserved)))
        return _block(
            f"enum {enum.name}",
            [reserved + self.statements(enum.options) + "".join(map(self.constant, constants))],
        )

    def constant(self, constant: Constant) -> str:
        options = self.options(constant.options)
        shown = f" {option_list(options, self.names)}" if options else ""
        return f"{constant.name} = {constant.number}{shown};\n"

    # --- fields

    def field(self, field: Field) -> str:
        label, kind = field.label, field.type
        if self.types is not None:
            label, kind = self.full_type(field)
        given = list(field.options)
        if field.default is not None:
            given.append(Option("default", _default_kind(kind), field.default))
        if field.json_name is not None:
            given.append(Option("json_name", OptionKind.STRING, field.json_name))
        options = self.options(given)
        shown = f" {option_list(options, self.names)}" if options else ""
        return f"{f'{label} ' if label else ''}{kind} {field.name} = {field.number}{shown};\n"

    def full_type(self, field: Field) -> tuple[str | None, str]:
        """Label and type of a field, normalized: maps have no label, and are written as maps."""
        assert self.types is not None
        if field.type in SCALARS:
            return field.label, field.type
        entry = map_types(field.type)
        if entry is None:
            name = self.resolved(field.type)
            info = self.types.find(name)
            if info is None or info.map_entry is None:
                return field.label, name
            entry = info.map_entry
        found = self.types.resolve(entry[1], self.scope)
        return None, f"map<{entry[0]}, {entry[1] if found is None else f'.{found}'}>"

    def one_ofs(self, one_ofs: list[OneOf]) -> list[OneOf]:
        if self.types is None:
            return one_ofs
        filled = [
            OneOf(item.name, self.ordered(item.fields), item.groups, item.options) for item in one_ofs if item.fields
        ]
        return sorted(filled, key=lambda item: item.fields[0].number)

    def one_of(self, one_of: OneOf) -> str:
        sections = [
            self.statements(one_of.options),
            "".join(map(self.field, one_of.fields)),
            "".join(map(self.group, self.groups(one_of.groups))),
        ]
        return _block(f"oneof {one_of.name}", sections)

    def groups(self, groups: list[Group]) -> list[Group]:
        return groups if self.types is None else sorted(groups, key=lambda item: item.number)

    def group(self, group: Group) -> str:
        head = f"{f'{group.label} ' if group.label else ''}group {group.name} = {group.number}"
        return _block(head, ["".join(map(self.field, self.ordered(group.fields)))])

    def grouped(self, extends: list[Extend]) -> list[Extend]:
        """Extensions; normalizing, all of one message together."""
        if self.types is None:
            return extends
        by_name: dict[str, list[Field]] = {}
        for extend in extends:
            if extend.fields:
                by_name.setdefault(self.resolved(extend.name), []).extend(extend.fields)
        return [Extend(name, fields) for name, fields in by_name.items()]

    def extend(self, extend: Extend) -> str:
        return _block(f"extend {extend.name}", ["".join(map(self.field, self.ordered(extend.fields)))])

    # --- numbers

    def split(self, reserved: list[Reserved]) -> list[Reserved]:
        """Reserved statements; normalizing, one for each value, in order."""
        if self.types is None:
            return reserved
        values = [value for item in reserved for value in item.values]
        return [Reserved([value]) for value in sorted(values, key=_position)]

    def reserved(self, reserved: Reserved) -> str:
        return f"reserved {', '.join(self.number(value) for value in reserved.values)};\n"

    def split_extensions(self, extensions: list[Extensions]) -> list[Extensions]:
        if self.types is None:
            return extensions
        single = [Extensions([value], item.options) for item in extensions for value in item.values]
        return sorted(single, key=lambda item: _position(item.values[0])[0])

    def extensions(self, extensions: Extensions) -> str:
        options = self.options(extensions.options)
        shown = f" {option_list(options, self.names)}" if options else ""
        return f"extensions {', '.join(self.number(value) for value in extensions.values)}{shown};\n"

    def number(self, value: int | str | Range) -> str:
        if isinstance(value, str):
            return f'"{value}"'
        if isinstance(value, int):
            return str(value)
        if self.types is not None and value.first == value.last:
            return str(value.first)
        return f"{value.first} to {'max' if value.last >= MAX_NUMBER else value.last}"

    # --- services

    def service(self, service: Service) -> str:
        sections = [self.statements(service.options), "".join(map(self.rpc, service.rpcs))]
        return _block(f"service {service.name}", sections)

    def rpc(self, rpc: Rpc) -> str:
        request, response = self.resolved(rpc.request), self.resolved(rpc.response)
        text = f"rpc {rpc.name} ({'stream ' if rpc.request_streams else ''}{request})"
        text += f" returns ({'stream ' if rpc.response_streams else ''}{response})"
        options = self.statements(rpc.options)
        return f"{text} {{\n{indented(options)}}};\n" if options else f"{text};\n"


def _block(head: str, sections: list[str]) -> str:
    """Declarations in braces; an empty line between sections."""
    filled = [section for section in sections if section]
    if not filled:
        return f"{head} {{}}\n"
    return f"{head} {{\n" + "\n".join(map(indented, filled)) + "}\n"


def _position(value: int | str | Range) -> tuple[int, str]:
    """The sort key of reserved values: numbers first, then names."""
    if isinstance(value, Range):
        return value.first, f"{value.first}..{value.last}"
    return (value, str(value)) if isinstance(value, int) else (2**31 - 1, value)


def _default_kind(kind: str) -> OptionKind:
    """The kind that a default is written as. Bytes are quoted here; Confluent's registry leaves the quotes out."""
    simple = kind.rpartition(".")[2]
    if simple == "bool":
        return OptionKind.BOOLEAN
    if simple in ("string", "bytes"):
        return OptionKind.STRING
    return OptionKind.NUMBER if simple in NUMBERS else OptionKind.ENUM
