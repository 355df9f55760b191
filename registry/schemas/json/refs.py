"""Resolving references of a JSON Schema: inside the document, into its `SchemaReference`s, to a meta-schema.

Must not know what a schema means. Nothing is ever fetched. Source: RFC 3986 and JSON Schema core through the library
`referencing`; the names of references are taken as Confluent's registry does, relative to the schema's own id.
"""

from __future__ import annotations

import enum
import importlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import urljoin

import referencing
import referencing.jsonschema
from referencing.exceptions import NoSuchResource, PointerToNowhere, Unresolvable

from registry.errors import InvalidSchemaError

Scope: TypeAlias = "referencing._core.Resolver[Any]"
"""The place references are relative to."""

Some = TypeVar("Some")


class Draft(enum.Enum):
    """The dialects the registry tells apart, with their `$schema` (without scheme, and `#` at its end)."""

    DRAFT_4 = "json-schema.org/draft-04/schema"
    DRAFT_6 = "json-schema.org/draft-06/schema"
    DRAFT_7 = "json-schema.org/draft-07/schema"
    DRAFT_2019_09 = "json-schema.org/draft/2019-09/schema"
    DRAFT_2020_12 = "json-schema.org/draft/2020-12/schema"

    @property
    def modern(self) -> bool:
        """Whether the registry reads it with its second parser."""
        return self in (Draft.DRAFT_2019_09, Draft.DRAFT_2020_12)

    @property
    def id_keyword(self) -> str:
        """The keyword that names a schema."""
        return "id" if self is Draft.DRAFT_4 else "$id"

    @property
    def specification(self) -> referencing.Specification[Any]:
        """The rules of ids and anchors."""
        return SPECIFICATIONS[self]


SPECIFICATIONS: Mapping[Draft, referencing.Specification[Any]] = {
    Draft.DRAFT_4: referencing.jsonschema.DRAFT4,
    Draft.DRAFT_6: referencing.jsonschema.DRAFT6,
    Draft.DRAFT_7: referencing.jsonschema.DRAFT7,
    Draft.DRAFT_2019_09: referencing.jsonschema.DRAFT201909,
    Draft.DRAFT_2020_12: referencing.jsonschema.DRAFT202012,
}


BY_NAME: Final = {draft.value: draft for draft in Draft} | {"json-schema.org/schema": Draft.DRAFT_4}

NOT_IN_URIS: Final = re.compile(r'[\s<>"{}|\\^`]|%(?![0-9A-Fa-f]{2})')
"""Characters that Java's `URI` refuses."""

# the library has no types
META_SCHEMAS: referencing.Registry[Any] = importlib.import_module("jsonschema_specifications").REGISTRY


def draft_of(document: Any) -> Draft:
    """The dialect by `$schema`; draft-07 where there is none, or one that is not known.

    `json-schema.org/schema`, which was "the newest" once, is draft-04 to the registry.
    """
    said = document.get("$schema") if isinstance(document, dict) else None
    if isinstance(said, str) and said.startswith(("http://", "https://")):
        return BY_NAME.get(said.partition("//")[2].removesuffix("#"), Draft.DRAFT_7)
    return Draft.DRAFT_7


class References:
    """The documents a schema may refer to.

    Args:
        document: the schema itself.
        draft: its dialect.
        others: name of a `SchemaReference` (a URI, or a path as it stands in `$ref`) → its document.
    """

    def __init__(self, document: Any, draft: Draft, others: Mapping[str, Any]) -> None:
        said = document.get(draft.id_keyword) if isinstance(document, dict) else None
        base = said if isinstance(said, str) and not said.startswith("#") else ""
        if NOT_IN_URIS.search(base):
            raise InvalidSchemaError.local(f"{draft.id_keyword} {base[:200]!r} is not a valid URI")
        specification = draft.specification
        resources = [(_joined(base, name), specification.create_resource(other)) for name, other in others.items()]
        root = specification.create_resource(document)
        registry = META_SCHEMAS.with_resources([*resources, (base, root)])
        self._names = {_plain(name): _joined(base, name) for name in others}
        self._found: dict[tuple[int, str], tuple[Scope, Any, Scope]] = {}
        self._nowhere_is_root = not base and not draft.modern
        self._document = document
        self.root: Scope = registry.resolver(base)

    def inside(self, scope: Scope, schema: Any, draft: Draft) -> Scope:
        """The scope of a schema object: its own if it has an id, else that of what is around it."""
        if isinstance(schema, dict) and isinstance(schema.get(draft.id_keyword), str):
            resource = draft.specification.create_resource(schema)
            return self._safely(schema[draft.id_keyword], lambda: scope.in_subresource(resource))
        return scope

    def lookup(self, scope: Scope, ref: str) -> tuple[Any, Scope]:
        """The target of a `$ref`, and the scope it is in.

        Raises:
            InvalidSchemaError: it refers to nothing that is known.
        """
        known = self._found.get((id(scope), ref))
        if known is None:
            known = self._found[id(scope), ref] = (scope, *self._look(scope, ref))
        return known[1], known[2]

    def _look(self, scope: Scope, ref: str) -> tuple[Any, Scope]:
        name, mark, fragment = ref.partition("#")
        try:
            found = self._safely(ref, lambda: scope.lookup(ref))
        except InvalidSchemaError:
            if self._nowhere_is_root and ref.startswith("#") and "/" not in ref:
                # an anchor the older drafts do not know: the registry reads it as a pointer without steps
                return self._document, self.root
            if _plain(name) not in self._names:
                raise
            # the reference's name as it stands, though the document around has another base
            found = self._safely(ref, lambda: self.root.lookup(self._names[_plain(name)] + mark + fragment))
        return found.contents, found.resolver

    def _safely(self, ref: str, look: Callable[[], Some]) -> Some:
        try:
            return look()
        except PointerToNowhere as error:
            raise InvalidSchemaError.local(f"$ref {ref!r} leads nowhere: there is no such place") from error
        except (Unresolvable, NoSuchResource) as error:
            raise InvalidSchemaError.local(_nowhere(ref)) from error
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise InvalidSchemaError.local(f"{ref!r} can't be resolved: {type(error).__name__}: {error}") from error


def _joined(base: str, name: str) -> str:
    try:
        return urljoin(base, name)
    except ValueError as error:
        raise InvalidSchemaError.local(f"reference {name!r} is not a valid URI: {error}") from error


def _plain(name: str) -> str:
    """A path without `./` before it."""
    return name.removeprefix("./")


def _nowhere(ref: str) -> str:
    if ref.startswith("#"):
        return f"$ref {ref!r} leads nowhere: the schema has no such place"
    name = ref.partition("#")[0]
    return (
        f"$ref {ref!r} is not among the schema's references, and nothing is fetched from files or networks: "
        f"register that schema and add a reference with the name {name!r}"
    )
