"""Compiles one (message class, version) to a Python function that decodes it.

Knows the facts in `Field` and the wire primitives; nothing of headers, sockets or what a message means.
Spec: https://kafka.apache.org/protocol#protocol_types, KIP-482.
"""

from __future__ import annotations

from kafka_core.protocol import primitives
from kafka_core.protocol.emit import FIXED_FORMATS, FORMAT_SIZES, Lines, Part
from kafka_core.protocol.schema import ApiMessage, Field, Struct, defaults

HELPERS = {
    "Malformed": primitives.Malformed,
    "read_unknown_tags": primitives.read_unknown_tags,
    "read_uuid": primitives.read_uuid,
    "read_uvarint": primitives.read_uvarint,
    "short_of": primitives.short_of,
    "too_many": primitives.too_many,
    "unpack_from": primitives.unpack_array,
}
OLD_LENGTHS = {"string": "h"}  # everything else has an int32 length


class DecodeCompiler:
    """Writes `decode(view, p, end) -> (message, p)`.

    Every nested struct is read inline, so there is no call and no recursion per struct. Runs of fixed-size fields,
    with the length of the variable-size field behind them, are read by one `unpack_from`.
    """

    def __init__(self, message: type[ApiMessage], version: int) -> None:
        self.message = message
        self.version = version
        self.flexible = message.is_flexible(version)
        self.lines = Lines(f"<decode {message.__name__} v{version}>", dict(HELPERS))
        self.run: list[tuple[str, Part]] = []  # (target variable, part) not yet written

    def compile(self) -> Lines:
        """The lines, with the function compiled into `lines.namespace["decode"]`."""
        self.lines.add("def decode(view, p, end):")
        self.lines.depth = 1
        expression = self.struct(self.message, "")
        self.lines.add(f"return {expression}, p")
        self.lines.compile("decode")
        return self.lines

    def struct(self, cls: type[Struct], prefix: str) -> str:
        """Emits the reading of all fields; returns the constructor call."""
        values = {name: self.default(value) for name, value in defaults(cls).items()}
        tagged = []
        for item in cls.FIELDS:
            if item.exists_in(self.version):
                default, values[item.name] = values[item.name], self.lines.name("v")
                if item.tag is None:
                    self.value(item, values[item.name], prefix + item.name)
                else:
                    tagged.append((item, default))
        self.flush()
        if self.flexible:
            values["unknown_tagged"] = self.lines.name("u")
            self.tags(tagged, values, prefix)
        return f"{self.class_name(cls)}({', '.join(values.values())})"

    def class_name(self, cls: type[Struct]) -> str:
        self.lines.namespace[cls.__name__] = cls
        return cls.__name__

    def default(self, value: object) -> str:
        """Source of a fresh default value."""
        if value == [] and isinstance(value, list):
            return "[]"
        if isinstance(value, Struct):
            return f"{self.class_name(type(value))}()"
        if isinstance(value, bool | int | float | str | bytes) or value is None:
            return repr(value)
        return self.lines.constant("D", value)

    # -- fixed-size runs

    def fixed(self, target: str, part: Part) -> None:
        self.run.append((target, part))

    def flush(self) -> None:
        """Emits the pending run as one read."""
        if not self.run:
            return
        unpack, size = self.lines.packer("unpack", "".join(part.letter for _, part in self.run))
        targets = ", ".join(target for target, _ in self.run)
        comma = "," if len(self.run) == 1 else ""
        self.lines.add(f"{targets}{comma} = {unpack}(view, p); p += {size}", *(part for _, part in self.run))
        for target, part in self.run:
            if part.letter == "16s":
                self.lines.add(f"{target} = read_uuid({target})", part)
        self.run = []

    # -- values

    def value(self, item: Field, target: str, path: str) -> None:
        """Emits the reading of one field into the variable `target`."""
        if item.kind in FIXED_FORMATS:
            self.fixed(target, Part(path, FIXED_FORMATS[item.kind]))
        elif item.kind == "struct":
            self.struct_value(item, target, path)
        else:
            self.sized_value(item, target, path)

    def struct_value(self, item: Field, target: str, path: str) -> None:
        assert item.struct is not None
        if not item.nullable_in(self.version):
            self.lines.add(f"{target} = {self.struct(item.struct, path + '.')}")
            return
        flag = self.lines.name("n")
        self.fixed(flag, Part(path, "b"))
        self.flush()
        self.lines.add(f"if {flag} < 0: {target} = None")
        self.lines.add("else:")
        self.lines.depth += 1
        self.lines.add(f"{target} = {self.struct(item.struct, path + '.')}")
        self.lines.depth -= 1

    def sized_value(self, item: Field, target: str, path: str) -> None:
        """Strings, bytes, records and arrays: a length, perhaps null, then the contents."""
        part = Part(path)
        length = self.length(item, path)
        null = "None" if item.nullable_in(self.version) else ""
        if null:
            self.lines.add(f"if {length} < 0: {target} = None")
            self.lines.add("else:")
            self.lines.depth += 1
        else:
            self.lines.add(f"if {length} < 0: raise Malformed('null in a field that may not be null')", part)
        if item.kind.startswith("[]"):
            self.array(item, target, length, path)
        else:
            self.blob(item, target, length, part)
        if null:
            self.lines.depth -= 1

    def length(self, item: Field, path: str) -> str:
        """Emits the reading of a length or count; -1 means null."""
        name = self.lines.name("n")
        if not (self.flexible and item.flexible):
            self.fixed(name, Part(path, OLD_LENGTHS.get(item.kind, "i")))
            self.flush()
            return name
        self.flush()
        self.uvarint(name, Part(path))
        self.lines.add(f"{name} -= 1")
        return name

    def uvarint(self, target: str, part: Part) -> None:
        """Emits an inline read for the common one-byte form, a call for longer ones."""
        self.lines.add(f"{target} = view[p]", part)
        self.lines.add(f"if {target} < 128: p += 1")
        self.lines.add(f"else: {target}, p = read_uvarint(view, p, end)", part)

    def blob(self, item: Field, target: str, length: str, part: Part) -> None:
        """Emits strings, bytes and records: bounds first, then one slice."""
        stop = self.lines.name("q")
        if item.kind == "string" and self.flexible and item.flexible:
            text = f"'a string of {{}} bytes is longer than {primitives.MAX_STRING_BYTES}'.format({length})"
            self.lines.add(f"if {length} > {primitives.MAX_STRING_BYTES}: raise Malformed({text})", part)
        self.lines.add(f"{stop} = p + {length}")
        self.lines.add(f"if {stop} > end: raise short_of({length}, end - p)", part)
        source = {"string": "str(view[p:{q}], 'utf-8')", "bytes": "bytes(view[p:{q}])", "records": "view[p:{q}]"}
        self.lines.add(f"{target} = {source[item.kind].format(q=stop)}; p = {stop}", part)

    # -- arrays

    def array(self, item: Field, target: str, count: str, path: str) -> None:
        kind = item.kind[2:]
        self.bound(count, self.smallest(item, kind), Part(path))
        if kind in FIXED_FORMATS and kind != "uuid":
            letter = FIXED_FORMATS[kind]
            self.lines.add(f"{target} = list(unpack_from({letter!r}, {count}, view, p))", Part(path))
            self.lines.add(f"p += {count} * {FORMAT_SIZES[letter]}")
            return
        index, element = self.lines.name("i"), self.lines.name("v")
        self.lines.add(f"{target} = []")
        self.lines.add(f"for {index} in range({count}):")
        self.lines.depth += 1
        inner = f"{path}[{{{index}}}]"
        if kind == "struct":
            assert item.struct is not None
            self.lines.add(f"{target}.append({self.struct(item.struct, inner + '.')})")
        else:
            self.value(Field(item.name, kind, item.versions, flexible=item.flexible), element, inner)
            self.flush()
            self.lines.add(f"{target}.append({element})")
        self.lines.depth -= 1

    def bound(self, count: str, element_size_bytes: int, part: Part) -> None:
        """Emits the check that the elements can fit into the bytes left, before anything is allocated for them."""
        self.lines.add(f"if {count} * {element_size_bytes} > end - p: raise too_many({count}, end - p)", part)

    def smallest(self, item: Field, kind: str) -> int:
        """Least number of bytes one value of the type takes; at least 1, which bounds every count."""
        if kind in FIXED_FORMATS:
            return FORMAT_SIZES[FIXED_FORMATS[kind]]
        if kind != "struct":
            return 1 if self.flexible else FORMAT_SIZES[OLD_LENGTHS.get(kind, "i")]
        assert item.struct is not None
        size = 1 if self.flexible else 0
        for inner in item.struct.FIELDS:
            if inner.exists_in(self.version) and inner.tag is None:
                size += 1 if inner.kind == "struct" and inner.nullable else self.smallest(inner, inner.kind)
        if size == 0:
            raise TypeError(f"{item.struct.__name__} has no bytes in version {self.version}; its count has no bound")
        return size

    # -- tagged fields

    def tags(self, tagged: list[tuple[Field, str]], values: dict[str, str], prefix: str) -> None:
        """Emits the reading of the tagged section behind a struct (KIP-482); a later repetition of a tag wins."""
        unknown, part = values["unknown_tagged"], Part(prefix + "tags")
        count = self.lines.name("n")
        self.lines.add(f"{count} = view[p]", part)
        if not tagged:
            self.lines.add(f"if {count} == 0: p += 1; {unknown} = []")
            self.lines.add(f"else: {unknown}, p = read_unknown_tags(view, p, end)", part)
            return
        for item, default in tagged:
            self.lines.add(f"{values[item.name]} = {default}")
        self.lines.add(f"{unknown} = []")
        self.lines.add(f"if {count} == 0: p += 1")
        self.lines.add("else:")
        self.lines.depth += 1
        self.lines.add(f"{count}, p = read_uvarint(view, p, end)", part)
        self.bound(count, 2, part)
        self.lines.add(f"for _ in range({count}):")
        self.lines.depth += 1
        self.one_tag([item for item, _ in tagged], values, prefix)
        self.lines.depth -= 2

    def one_tag(self, tagged: list[Field], values: dict[str, str], prefix: str) -> None:
        tag, size, stop = self.lines.name("t"), self.lines.name("n"), self.lines.name("q")
        part = Part(prefix + "tags")
        self.lines.add(f"{tag}, p = read_uvarint(view, p, end)", part)
        self.lines.add(f"{size}, p = read_uvarint(view, p, end)", part)
        self.lines.add(f"{stop} = p + {size}")
        self.lines.add(f"if {stop} > end: raise short_of({size}, end - p)", part)
        word = "if"
        for item in tagged:
            self.lines.add(f"{word} {tag} == {item.tag}:")
            self.lines.depth += 1
            self.value(item, values[item.name], prefix + item.name)
            self.flush()
            text = f"'tagged field of {{}} bytes ends {{}} bytes off'.format({size}, p - {stop})"
            self.lines.add(f"if p != {stop}: raise Malformed({text})", Part(prefix + item.name))
            self.lines.depth -= 1
            word = "elif"
        self.lines.add(f"else: {values['unknown_tagged']}.append(({tag}, bytes(view[p:{stop}]))); p = {stop}", part)
