"""Compiles one (message class, version) to a Python function that encodes it.

Knows the facts in `Field` and the wire primitives; nothing of headers, sockets or what a message means.
Spec: https://kafka.apache.org/protocol#protocol_types, KIP-482.
"""

from __future__ import annotations

from uuid import UUID

from kafka_core.protocol import primitives
from kafka_core.protocol.emit import FIXED_FORMATS, Lines, Part
from kafka_core.protocol.schema import ApiMessage, Field, Struct, defaults

HELPERS = {
    "Malformed": primitives.Malformed,
    "Unsupported": primitives.Unsupported,
    "bytes_like": primitives.bytes_like,
    "check_array": primitives.check_array,
    "check_bool": primitives.check_bool,
    "pack_array": primitives.pack_array,
    "records_chunks": primitives.records_chunks,
    "write_tags": primitives.write_tags,
    "write_uvarint": primitives.write_uvarint,
}
OLD_LENGTHS = {"string": "h"}  # everything else has an int32 length


class EncodeCompiler:
    """Writes `encode(message, chunks, out) -> out`.

    Bytes go to the bytearray `out`; a records field closes it (it moves to `chunks`, the records behind it) and a
    new one is opened, so records are never copied. Fixed-size neighbours and the length behind them are packed at once.
    """

    def __init__(self, message: type[ApiMessage], version: int) -> None:
        self.message = message
        self.version = version
        self.flexible = message.is_flexible(version)
        self.lines = Lines(f"<encode {message.__name__} v{version}>", dict(HELPERS))
        self.run: list[Part] = []
        self.out = "out"

    def compile(self) -> Lines:
        """The lines, with the function compiled into `lines.namespace["encode"]`."""
        self.lines.add("def encode(message, chunks, out):")
        self.lines.depth = 1
        self.struct(self.message, "message", "")
        self.lines.add("return out")
        self.lines.compile("encode")
        return self.lines

    def struct(self, cls: type[Struct], owner: str, prefix: str) -> None:
        """Emits the writing of all fields of the struct in the variable `owner`."""
        fresh, tagged = defaults(cls), []
        for item in cls.FIELDS:
            expression, path = f"{owner}.{item.name}", prefix + item.name
            if not item.exists_in(self.version):
                self.absent(item, expression, fresh[item.name], path)
            elif item.tag is None:
                self.value(item, expression, path)
            else:
                tagged.append(item)
        self.flush()
        if self.flexible:
            self.tags(tagged, owner, prefix, fresh)
        else:
            text = "'unknown tagged fields cannot be sent in this version'"
            self.lines.add(f"if {owner}.unknown_tagged: raise Unsupported({text})", Part(prefix + "unknown_tagged"))

    def absent(self, item: Field, expression: str, default: object, path: str) -> None:
        """Emits the check that a field which the version lacks is at its default (or may be ignored)."""
        if not item.ignorable:
            condition = self.differs(expression, default)
            text = "'is set, but this version of the message has no such field'"
            self.lines.add(f"if {condition}: raise Unsupported({text})", Part(path))

    def differs(self, expression: str, default: object) -> str:
        """Source of the condition "the value is not the default"."""
        if default is None:
            return f"{expression} is not None"
        if isinstance(default, list):
            return f"{expression} or {expression} is None"
        if isinstance(default, bool | int | float | str | bytes):
            return f"{expression} != {default!r}"
        name = self.lines.constant("D", default)
        if isinstance(default, UUID):
            return f"{expression} is not {name} and {expression} != {name}"
        return f"{expression} != {name}"

    # -- fixed-size runs

    def fixed(self, part: Part) -> None:
        self.run.append(part)

    def flush(self) -> None:
        """Emits the pending run as one pack."""
        if self.run:
            pack, _ = self.lines.packer("pack", "".join(part.letter for part in self.run))
            arguments = ", ".join(part.expression for part in self.run)
            self.lines.add(f"{self.out} += {pack}({arguments})", *self.run)
            self.run = []

    # -- values

    def value(self, item: Field, expression: str, path: str) -> None:
        """Emits the writing of one field."""
        if item.kind == "uuid":
            self.fixed(Part(path, "16s", f"{expression}.bytes"))
        elif item.kind in FIXED_FORMATS:
            if item.kind == "bool":
                self.lines.add(
                    f"if {expression} is not True and {expression} is not False: check_bool({expression})", Part(path)
                )
            self.fixed(Part(path, FIXED_FORMATS[item.kind], expression))
        elif item.kind == "struct":
            self.struct_value(item, expression, path)
        else:
            self.sized_value(item, expression, path)

    def struct_value(self, item: Field, expression: str, path: str) -> None:
        assert item.struct is not None
        name = self.lines.name("e")
        self.lines.add(f"{name} = {expression}")
        if not item.nullable_in(self.version):
            self.struct(item.struct, name, path + ".")
            return
        self.fixed(Part(path, "b", f"(-1 if {name} is None else 1)"))
        self.flush()
        self.lines.add(f"if {name} is not None:")
        self.lines.depth += 1
        self.struct(item.struct, name, path + ".")
        self.lines.depth -= 1

    def sized_value(self, item: Field, expression: str, path: str) -> None:
        """Strings, bytes, records and arrays: a length, then the contents."""
        part, body, length = Part(path, "", expression), self.lines.name("b"), self.lines.name("n")
        nullable = item.nullable_in(self.version)
        source, size = self.body_source(item, expression, body)
        if item.kind == "records":
            self.lines.add(f"{length}, {body} = records_chunks({expression})", part)
            if not nullable:
                self.lines.add(f"if {length} < 0: raise Malformed('null in a field that may not be null')", part)
        elif nullable:
            self.lines.add(f"{body} = {expression}")
            self.lines.add(f"if {body} is None: {length} = -1")
            self.lines.add(f"else: {body} = {self.body_source(item, body, body)[0]}; {length} = {size}", part)
        else:
            self.lines.add(f"{body} = {source}; {length} = {size}", part)
        self.length(item, length, part)
        self.body(item, body, length, path, nullable)

    def body_source(self, item: Field, expression: str, body: str) -> tuple[str, str]:
        """Source of the bytes (or checked list) of a value, and of its length."""
        if item.kind == "string":
            return f"{expression}.encode()", f"len({body})"
        if item.kind.startswith("[]"):
            return f"check_array({expression})", f"len({body})"
        return f"bytes_like({expression})", f"{body}.nbytes"

    def length(self, item: Field, length: str, part: Part) -> None:
        """Emits a length or count; -1 is null."""
        if not (self.flexible and item.flexible):
            letter = OLD_LENGTHS.get(item.kind, "i")
            self.fixed(Part(part.path, letter, length))
            self.flush()
            return
        self.flush()
        if item.kind == "string":
            text = f"'a string of {{}} bytes is longer than {primitives.MAX_STRING_BYTES}'.format({length})"
            self.lines.add(f"if {length} > {primitives.MAX_STRING_BYTES}: raise Malformed({text})", part)
        self.lines.add(f"if {length} < 127: {self.out}.append({length} + 1)", part)
        self.lines.add(f"else: write_uvarint({self.out}, {length} + 1)", part)

    def body(self, item: Field, body: str, length: str, path: str, nullable: bool) -> None:
        """Emits the contents behind a length."""
        if item.kind == "records":
            self.lines.add(f"if {length} > 0: chunks.append(out); chunks += {body}; out = bytearray()", Part(path))
        elif item.kind.startswith("[]"):
            self.lines.add(f"if {length} > 0:")
            self.lines.depth += 1
            self.array(item, body, length, path)
            self.lines.depth -= 1
        elif nullable:
            self.lines.add(f"if {body} is not None: {self.out} += {body}", Part(path))
        else:
            self.lines.add(f"{self.out} += {body}", Part(path))

    def array(self, item: Field, body: str, length: str, path: str) -> None:
        kind = item.kind[2:]
        if kind in FIXED_FORMATS and kind != "uuid":
            self.lines.add(f"{self.out} += pack_array({FIXED_FORMATS[kind]!r}, {length}, {body})", Part(path))
            return
        index, element = self.lines.name("i"), self.lines.name("e")
        self.lines.add(f"for {index}, {element} in enumerate({body}):")
        self.lines.depth += 1
        inner = f"{path}[{{{index}}}]"
        if kind == "struct":
            assert item.struct is not None
            self.struct(item.struct, element, inner + ".")
        else:
            self.value(Field(item.name, kind, item.versions, flexible=item.flexible), element, inner)
            self.flush()
        self.lines.depth -= 1

    # -- tagged fields

    def tags(self, tagged: list[Field], owner: str, prefix: str, fresh: dict[str, object]) -> None:
        """Emits the tagged section (KIP-482): known fields that differ from their default, unknown ones as kept."""
        part = Part(prefix + "unknown_tagged")
        known = "[]"
        if tagged:
            known = self.lines.name("t")
            self.lines.add(f"{known} = []")
            for item in tagged:
                self.one_tag(item, f"{owner}.{item.name}", fresh[item.name], known, prefix + item.name)
        own = self.lines.constant("T", frozenset(item.tag for item in tagged))
        present = f"{known} or {owner}.unknown_tagged" if tagged else f"{owner}.unknown_tagged"
        self.lines.add(f"if {present}: write_tags({self.out}, {known}, {owner}.unknown_tagged, {own})", part)
        self.lines.add(f"else: {self.out}.append(0)")

    def one_tag(self, item: Field, expression: str, default: object, known: str, path: str) -> None:
        outer, self.out = self.out, self.lines.name("o")
        self.lines.add(f"if {self.differs(expression, default)}:", Part(path))
        self.lines.depth += 1
        self.lines.add(f"{self.out} = bytearray()")
        self.value(item, expression, path)
        self.flush()
        self.lines.add(f"{known}.append(({item.tag}, {self.out}))")
        self.lines.depth -= 1
        self.out = outer
