"""The types a schema can name: its own, those of its references, the built-in ones; how names find them.

Must not compare. Source: Confluent's registry (`Context`): a name is looked for from the innermost scope outwards, in
all referenced files, imported or not; of several types with one full name the last counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

from registry.schemas.protobuf.model import SCALARS, Enum, Extend, Field, File, Message, Type, option_value
from registry.schemas.protobuf.reader import read
from registry.schemas.protobuf.sources import BUILT_IN_NAMES, built_in

Place = tuple[str, int]
"""Subject and version a type comes from."""

LOCAL: Final[Place] = ("", -1)
"""The place of a schema's own types."""

BUILT_IN_SCOPES: Final = ("google.", "confluent.")


@dataclass(frozen=True, slots=True)
class TypeInfo:
    """A type and where it is declared.

    Attributes:
        local_name: its name within the package.
        place: None of types in built-in files and in references of references.
        map_entry: key and value type, if it is the message behind a map field of a descriptor.
    """

    type: Type
    package: str
    local_name: str
    place: Place | None
    map_entry: tuple[str, str] | None = None

    @property
    def scope(self) -> tuple[str, ...]:
        """The names around what the type declares, without the package."""
        return tuple(self.local_name.split("."))


class Types:
    """All types of a schema.

    Args:
        own: the schema's own file.
        others: referenced files: path, place (None if not referenced by the schema itself), declarations.
    """

    def __init__(self, own: File, others: Iterable[tuple[str, Place | None, File]]) -> None:
        self.package = own.package or ""
        self._types: dict[str, TypeInfo] = {}
        self._files: list[File] = []
        self._replaced: set[str] = set()
        for path, place, file in others:
            self._replaced.add(path)
            self._add(file, place)
        self._add(own, LOCAL)
        self.shadows = any(name.rpartition(".")[2] in SCALARS for name in self._types)
        """Whether a type is called like a scalar, so that a scalar's name may mean it."""

    def _add(self, file: File, place: Place | None) -> None:
        self._types.update(_declared(file, place))
        self._files.append(file)

    @cached_property
    def _extensions(self) -> dict[str, Field]:
        return {name: item for file in self._files for name, item in _extensions(file)}

    def find(self, full_name: str) -> TypeInfo | None:
        """The type of a full name."""
        name = full_name.removeprefix(".")
        found = self._types.get(name)
        if found is None and name.startswith(BUILT_IN_SCOPES):
            path, found = _built_in_types().get(name, ("", None))
            if path in self._replaced:
                return None
        return found

    def extension(self, full_name: str) -> Field | None:
        """The field an option of this full name is."""
        name = full_name.removeprefix(".")
        found = self._extensions.get(name)
        if found is None and name.startswith(BUILT_IN_SCOPES):
            found = _built_in_extensions().get(name)
        return found

    def resolve(self, name: str, scope: tuple[str, ...], package: str | None = None) -> str | None:
        """The full name of the type that `name` means inside `scope`; None if there is none.

        Args:
            name: as it is written.
            scope: names of the messages around, outermost first.
            package: of the file it is written in; the schema's own if None.
        """
        for candidate in _candidates(name, scope, self.package if package is None else package):
            if self.find(candidate) is not None:
                return candidate
        return None

    def meant(self, name: str, scope: tuple[str, ...], package: str) -> TypeInfo | None:
        """The type that `name` means inside `scope` of a file of this package."""
        for candidate in _candidates(name, scope, package):
            if (found := self.find(candidate)) is not None:
                return found
        return None

    def resolve_extension(self, name: str, scope: tuple[str, ...], package: str | None = None) -> str | None:
        """The full name of the extension that an option's name means inside `scope`; None if there is none."""
        for candidate in _candidates(name, scope, self.package if package is None else package):
            if self.extension(candidate) is not None:
                return candidate
        return None


def _candidates(name: str, scope: tuple[str, ...], package: str) -> Iterator[str]:
    """Full names in the order in which they are tried. The package counts as one step, as in the registry."""
    if name.startswith("."):
        yield name[1:]
        return
    prefix = [package, *scope] if package else list(scope)
    while prefix:
        yield f"{'.'.join(prefix)}.{name}"
        prefix.pop()
    yield name


def _declared(file: File, place: Place | None) -> Iterator[tuple[str, TypeInfo]]:
    package = file.package or ""
    prefix = f"{package}." if package else ""
    waiting: list[tuple[str, Type]] = [(item.name, item) for item in reversed(file.types)]
    while waiting:
        name, item = waiting.pop()
        entry = _map_entry(item) if isinstance(item, Message) else None
        yield prefix + name, TypeInfo(item, package, name, place, entry)
        if isinstance(item, Message) and item.nested:
            waiting += ((f"{name}.{inner.name}", inner) for inner in reversed(item.nested))


def _map_entry(message: Message) -> tuple[str, str] | None:
    if not message.options or str(option_value(message.options, "map_entry")).lower() != "true":
        return None
    kinds = {field.name: field.type for field in message.fields}
    return (kinds["key"], kinds["value"]) if {"key", "value"} <= kinds.keys() else None


def _extensions(file: File) -> Iterator[tuple[str, Field]]:
    """Extension fields by full name."""
    prefix = f"{file.package}." if file.package else ""
    waiting: list[tuple[str, list[Extend], list[Message | Enum]]] = [(prefix, file.extends, file.types)]
    while waiting:
        prefix, extends, types = waiting.pop()
        for extend in extends:
            for item in extend.fields:
                yield prefix + item.name, item
        waiting += ((f"{prefix}{item.name}.", item.extends, item.nested) for item in types if isinstance(item, Message))


@cache
def _built_in_files() -> tuple[tuple[str, File], ...]:
    return tuple((path, read(built_in(path) or "", path)) for path in BUILT_IN_NAMES)


@cache
def _built_in_types() -> dict[str, tuple[str, TypeInfo | None]]:
    return {name: (path, info) for path, file in _built_in_files() for name, info in _declared(file, None)}


@cache
def _built_in_extensions() -> dict[str, Field]:
    return {name: item for _, file in _built_in_files() for name, item in _extensions(file)}
