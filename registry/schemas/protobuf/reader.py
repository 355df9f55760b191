"""`.proto` texts to the elements of `model`, as tolerant as the parser of Confluent's registry.

Must not resolve names, nor refuse what only protoc refuses. Source: the Protobuf language specification; square/wire's
`ProtoParser`, `SyntaxReader` and `OptionReader` for what is let pass.
"""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn

from registry.schemas.protobuf.model import (
    MAX_NUMBER,
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
    Primitive,
    Range,
    Reserved,
    Rpc,
    Service,
)
from registry.schemas.protobuf.scanner import Scanner
from registry.schemas.protobuf.sources import refuse_extremes

LABELS: Final = ("optional", "required", "repeated")
# keyword in a message → the list it goes to, the method that reads it
PARTS: Final = {
    "option": ("options", "option_statement"),
    "reserved": ("reserved", "reserved"),
    "extensions": ("extensions", "extensions"),
    "message": ("nested", "message"),
    "enum": ("nested", "enum"),
    "oneof": ("one_ofs", "one_of"),
    "extend": ("extends", "extend"),
}
PLAIN: Final = (OptionKind.BOOLEAN, OptionKind.ENUM, OptionKind.NUMBER)
DECLARATIONS: Final = ("option", "reserved", "message", "enum", "extend", "oneof", "extensions", "export", "local")
NO_TYPES: Final = frozenset({*DECLARATIONS, *LABELS, "map", "group"})
# The usual parts of large files, read in one go; parts with options, comments or escapes are not.
PLAIN_MESSAGE = re.compile(r"\s*message[ \t]+([A-Za-z_]\w*)\s*\{", re.ASCII)
PLAIN_FIELD = re.compile(
    r"\s*(?:(?:(optional|required|repeated)[ \t]+)?([A-Za-z_.][\w.]*)[ \t]+"
    r"([A-Za-z_]\w*)[ \t]*=[ \t]*([1-9]\d{0,8})[ \t]*;|(?P<end>\}))",
    re.ASCII,
)
PLAIN_CONSTANT = re.compile(r"\s*([A-Za-z_]\w*)[ \t]*=[ \t]*(0|-?[1-9]\d{0,8})[ \t]*;", re.ASCII)


def read(text: str, which: str = "", as_protoc: bool = False) -> File:
    """The declarations of a text.

    Args:
        text: the text.
        which: how messages call it; empty if that is clear.
        as_protoc: whether numbers are read that protoc takes and Confluent's registry does not.

    Raises:
        InvalidSchemaError: it is not Protobuf; the text has the line and column.
    """
    refuse_extremes(text, which)
    return _Parser(Scanner(text, f"{which}: " if which else "", as_protoc)).file()


class _Parser:
    """A recursive descent; `refuse_extremes` has bounded the depth."""

    def __init__(self, scanner: Scanner) -> None:
        self.scan = scanner
        self.result = File()
        self.names: set[str] = set()

    def file(self) -> File:
        first = True
        while True:
            while (found := self.scan.match(PLAIN_MESSAGE)) is not None:
                self.scan.skip_to(found.end())
                self.result.types.append(self.in_braces(Message(self.once(found[1]))))
                first = False
            if self.scan.at_end():
                return self.result
            self.top_level(first)
            first = False

    def top_level(self, first: bool) -> None:
        scan, result = self.scan, self.result
        if scan.take(";"):
            scan.skip_semicolons()
            return
        word = scan.word()
        if word in ("syntax", "edition"):
            if not first:
                scan.fail(f"'{word}' must be the first declaration")
            self.syntax(word)
        elif word == "package":
            result.package = scan.name()  # of several the last counts
            scan.need(";")
        elif word == "import":
            self.importing()
        elif word == "option":
            result.options.append(self.option_statement())
        elif word == "message":
            result.types.append(self.message())
            self.once(result.types[-1].name)
        elif word == "enum":
            result.types.append(self.enum())
            self.once(result.types[-1].name)
        elif word == "service":
            result.services.append(self.service())
            self.once(f"service {result.services[-1].name}")
        elif word == "extend":
            result.extends.append(self.extend())
        elif word in ("export", "local") and self.edition:
            self.top_level(False)
        else:
            scan.fail(f"unexpected '{word}'")

    def once(self, name: str) -> str:
        """A name that must not have been declared before in the file; of nested types nobody asks that here."""
        if name in self.names:
            self.scan.fail(f"'{name}' is declared twice")
        self.names.add(name)
        return name

    @property
    def edition(self) -> bool:
        return self.result.syntax not in (None, "proto2", "proto3")

    def syntax(self, word: str) -> None:
        self.scan.need("=")
        value = self.scan.string()
        if value not in ("proto2", "proto3") if word == "syntax" else not value.isdigit():
            self.scan.fail(f"unknown {word} '{value}'")
        self.result.syntax = value
        self.scan.need(";")

    def importing(self) -> None:
        target = self.result.imports
        if not self.scan.at_string():
            kinds = {"public": self.result.public_imports, "weak": self.result.weak_imports, "option": target}
            word = self.scan.word()
            if word not in kinds:
                self.scan.fail("expected a path in quotes")
            target = kinds[word]
        target.append(self.scan.string())
        self.scan.need(";")

    # --- types

    def message(self) -> Message:
        result = Message(self.scan.name())
        self.scan.need("{")
        return self.in_braces(result)

    def in_braces(self, result: Message) -> Message:
        scan, fields = self.scan, result.fields
        proto3 = self.result.syntax not in (None, "proto2")
        while True:
            while (found := scan.match(PLAIN_FIELD)) is not None:
                label, kind, name, number, end = found.groups()
                if end:
                    scan.skip_to(found.end())
                    return result
                if kind in NO_TYPES or (label is None and not proto3) or label == "required":
                    break
                scan.skip_to(found.end())
                fields.append(Field(label, kind, name, int(number)))
            if scan.take("}"):
                return result
            self.in_message(result)

    def in_message(self, result: Message) -> None:
        scan = self.scan
        if scan.take(";"):
            scan.skip_semicolons()
            return
        word = scan.word()
        if word in PARTS:
            target, reader = PARTS[word]
            getattr(result, target).append(getattr(self, reader)())
        elif word in ("export", "local") and self.edition:
            self.in_message(result)
        else:
            self.field_or_group(word, result.fields, result.groups)

    def enum(self) -> Enum:
        scan, result = self.scan, Enum(self.scan.name())
        scan.need("{")
        while True:
            while (found := scan.match(PLAIN_CONSTANT)) is not None:
                scan.skip_to(found.end())
                result.constants.append(Constant(found[1], int(found[2])))
            if scan.take("}"):
                return result
            if scan.take(";"):
                continue
            word = scan.word()
            if word == "option" and not scan.at("="):
                result.options.append(self.option_statement())
            elif word == "reserved" and not scan.at("="):
                result.reserved.append(self.reserved())
            else:
                self.named(word)
                scan.need("=")
                number = scan.integer()
                result.constants.append(Constant(word, number, self.bracketed_options() or ()))
                scan.need(";")

    def one_of(self) -> OneOf:
        scan, result = self.scan, OneOf(self.scan.name())
        scan.need("{")
        while not scan.take("}"):
            if scan.take(";"):
                continue
            word = scan.word()
            if word == "option":
                result.options.append(self.option_statement())
            elif word == "group" and not scan.at("="):
                result.groups.append(self.group(None))
            else:
                result.fields.append(self.field(None, self.data_type(word)))
        return result

    def field_or_group(self, word: str, fields: list[Field], groups: list[Group]) -> None:
        scan, label = self.scan, None
        if word in LABELS:
            if word == "required" and self.result.syntax == "proto3":
                scan.fail("'required' is forbidden in proto3")
            label, word = word, scan.word()
        elif self.result.syntax in (None, "proto2") and not (word == "map" and scan.at("<")):
            scan.fail(f"expected 'optional', 'required' or 'repeated', found '{word}'")
        if word == "group":
            groups.append(self.group(label))
            return
        kind = self.data_type(word)
        if label is not None and kind.startswith("map<"):
            scan.fail("a map has no label")
        fields.append(self.field(label, kind))

    def field(self, label: str | None, kind: str) -> Field:
        result = Field(label, kind, self.named(self.scan.name()), 0)
        self.scan.need("=")
        result.number = self.scan.integer()
        others = []
        for option in self.bracketed_options():
            if option.name == "default" and not option.parenthesized:
                result.default = str(option.value)
            elif option.name == "json_name" and not option.parenthesized:
                result.json_name = str(option.value)
            else:
                others.append(option)
        result.options = others or ()
        self.scan.need(";")
        return result

    def named(self, name: str) -> str:
        if name[0].isdigit():
            self.scan.fail(f"'{name[:100]}' starts with a digit")
        return name

    def group(self, label: str | None) -> Group:
        scan, result = self.scan, Group(label, self.scan.word(), 0)
        scan.need("=")
        result.number = scan.integer()
        self.bracketed_options()
        scan.need("{")
        inner: list[Group] = []
        while not scan.take("}"):
            if not scan.take(";"):
                self.field_or_group(scan.word(), result.fields, inner)
        if inner:
            scan.fail("a group in a group")
        return result

    def data_type(self, word: str) -> str:
        if word != "map" or not self.scan.take("<"):
            return word
        key = self.data_type(self.scan.word())
        self.scan.need(",")
        value = self.data_type(self.scan.word())
        self.scan.need(">")
        return f"map<{key}, {value}>"

    # --- other declarations

    def extend(self) -> Extend:
        result = Extend(self.scan.name())
        self.scan.need("{")
        groups: list[Group] = []
        while not self.scan.take("}"):
            if not self.scan.take(";"):
                self.field_or_group(self.scan.word(), result.fields, groups)
        return result

    def reserved(self) -> Reserved:
        values: list[int | str | Range] = []
        while True:
            if self.scan.at_string():
                values.append(self.scan.string())
            elif self.edition and self.scan.at_letter():
                values.append(self.scan.word())
            else:
                values.append(self.numbers())
            if self.scan.take(";"):
                return Reserved(values)
            self.scan.need(",")

    def extensions(self) -> Extensions:
        values = [self.numbers()]
        while self.scan.take(","):
            values.append(self.numbers())
        result = Extensions(values, self.bracketed_options())
        self.scan.need(";")
        return result

    def numbers(self) -> int | Range:
        first = self.scan.integer()
        if not self.scan.at_letter():
            return first
        if self.scan.word() != "to":
            self.scan.fail("expected ',', ';' or 'to'")
        return Range(first, MAX_NUMBER if self.scan.take("max") else self.scan.integer())

    def service(self) -> Service:
        scan, result = self.scan, Service(self.scan.name())
        scan.need("{")
        while not scan.take("}"):
            if scan.take(";"):
                continue
            word = scan.word()
            if word == "option":
                result.options.append(self.option_statement())
            elif word == "rpc":
                result.rpcs.append(self.rpc())
            else:
                scan.fail(f"unexpected '{word}' in a service")
        return result

    def rpc(self) -> Rpc:
        scan, name = self.scan, self.scan.name()
        request_streams, request = self.rpc_type()
        if scan.word() != "returns":
            scan.fail("expected 'returns'")
        response_streams, response = self.rpc_type()
        result = Rpc(name, request, response, request_streams, response_streams)
        if not scan.take("{"):
            scan.need(";")
            return result
        while not scan.take("}"):
            if scan.take(";"):
                continue
            if (word := scan.word()) != "option":
                scan.fail(f"unexpected '{word}' in an rpc")
            result.options.append(self.option_statement())
        return result

    def rpc_type(self) -> tuple[bool, str]:
        self.scan.need("(")
        word = self.scan.word()
        streams = word == "stream" and not self.scan.at(")")
        kind = self.scan.word() if streams else word
        self.scan.need(")")
        return streams, kind

    # --- options

    def option_statement(self) -> Option:
        option = self.option("=")
        self.scan.need(";")
        return option

    def bracketed_options(self) -> list[Option]:
        if not self.scan.take("["):
            return []
        options = [self.option("=")]
        while not self.scan.take("]"):
            self.scan.need(",")
            options.append(self.option("="))
        return options

    def option(self, separator: str) -> Option:
        scan = self.scan
        bracketed, parenthesized = scan.at("["), scan.at("(")
        name = f"[{scan.name()}]" if bracketed else scan.name()
        parts: list[str] = []
        while scan.take("."):
            parts += scan.name().strip(".").split(".")
        if separator == "=" and name.endswith(".") and scan.at("("):  # features.(pb.java).x
            parts, name = [*name.split(".")[1:-1], *self.more_parts()], name.partition(".")[0]
        if not (separator == ":" and scan.at("{")):
            scan.need(separator)
        kind, value = self.value()
        for part in reversed(parts):
            kind, value = OptionKind.OPTION, Option(part, kind, value)
        return Option(name, kind, value, parenthesized)

    def more_parts(self) -> list[str]:
        parts = [f"({self.scan.name()})"]
        while self.scan.take("."):
            parts += [f"({self.scan.name()})"] if self.scan.at("(") else self.scan.name().split(".")
        return parts

    def value(self) -> tuple[OptionKind, Any]:
        scan = self.scan
        if scan.at("{"):
            return OptionKind.MAP, self.map()
        if scan.at("["):
            return OptionKind.LIST, self.list()
        if scan.at_string():
            return OptionKind.STRING, scan.string()
        word = scan.word()
        if word[0].isdigit() or word[0] == "-":
            return OptionKind.NUMBER, word
        return (OptionKind.BOOLEAN if word in ("true", "false") else OptionKind.ENUM), word

    def map(self) -> dict[str, Any]:
        """A map; a key that comes again makes a list."""
        result: dict[str, Any] = {}
        again: set[str] = set()
        self.scan.need("{")
        while not self.scan.take("}"):
            option = self.option(":")
            if option.kind is OptionKind.OPTION:
                if not isinstance(nested := result.get(option.name), dict):
                    nested = result[option.name] = {}
                nested[option.value.name] = _in_value(option.value.kind, option.value.value)
            else:
                self.add(result, again, option.name, _in_value(option.kind, option.value))
            _ = self.scan.take(",") or self.scan.take(";")
        return result

    @staticmethod
    def add(result: dict[str, Any], again: set[str], name: str, value: Any) -> None:
        if name not in result:
            result[name] = value
            return
        if name not in again:
            again.add(name)
            previous = result[name]
            result[name] = list(previous) if isinstance(previous, list) else [previous]
        result[name] += value if isinstance(value, list) else [value]

    def list(self) -> list[Any]:
        result: list[Any] = []
        self.scan.need("[")
        while not self.scan.take("]"):
            result.append(_in_value(*self.value()))
            if not self.scan.take(",") and not self.scan.at("]"):
                self.expected_in_list()
        return result

    def expected_in_list(self) -> NoReturn:
        self.scan.fail("expected ',' or ']'")


def _in_value(kind: OptionKind, value: Any) -> Any:
    """The form of a value inside a map or list: strings, maps and lists themselves, plain kinds as `Primitive`."""
    return Primitive(kind, value) if kind in PLAIN else value
