"""Schemas of draft-04, -06 and -07: how one schema object becomes a node.

Must not know of comparisons. Source: the loader of everit's json-schema as Confluent's registry calls it: keywords
are taken group by group (enum, combinations, not, const, type, then by what types the rest is for), each group is a
node, and several nodes are a made-up `allOf`. Beside a `$ref` nothing else counts.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import Any, Final

from registry.schemas.documents import dumps
from registry.schemas.json.model import (
    NODES,
    ArrayNode,
    CombinedNode,
    ConstNode,
    Criterion,
    EnumNode,
    Node,
    NodeKind,
    NotNode,
    NumberNode,
    ObjectNode,
    StringNode,
)
from registry.schemas.json.patterns import check_pattern
from registry.schemas.json.reader import Place, Reading, SchemaReader, text_of
from registry.schemas.json.refs import Draft, draft_of

Some = Generator[tuple[Any, Place], Node, list[Node]]

OBJECT_KEYWORDS: Final = frozenset(
    ("properties", "required", "minProperties", "maxProperties", "dependencies", "patternProperties")
) | {"additionalProperties"}
ARRAY_KEYWORDS: Final = frozenset(("items", "additionalItems", "minItems", "maxItems", "uniqueItems"))
NUMBER_KEYWORDS: Final = frozenset(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"))
STRING_KEYWORDS: Final = frozenset(("minLength", "maxLength", "pattern", "format"))
NEWER_OBJECT_KEYWORDS: Final = OBJECT_KEYWORDS | {"propertyNames"}
NEWER_ARRAY_KEYWORDS: Final = ARRAY_KEYWORDS | {"contains"}
CRITERIA: Final = {criterion.value: criterion for criterion in Criterion}
CONDITIONAL_KEYWORDS: Final = "if", "then", "else"
OLDEST_FORMATS: Final = frozenset(("date-time", "email", "hostname", "ipv4", "ipv6", "uri"))
NEWER_FORMATS: Final = OLDEST_FORMATS | {"uri-reference", "uri-template", "json-pointer"}
FORMATS: Final = {
    Draft.DRAFT_4: OLDEST_FORMATS,
    Draft.DRAFT_6: NEWER_FORMATS,
    Draft.DRAFT_7: NEWER_FORMATS | {"date", "time", "relative-json-pointer", "regex"},
}
"""Formats the registry knows; it forgets the others."""
SIMPLE_TYPES: Final = {"boolean": NodeKind.BOOLEAN, "null": NodeKind.NULL}


class ClassicReader(SchemaReader):
    """Reads documents of the drafts before 2019-09."""

    def read(self, schema: Mapping[str, Any], place: Place) -> Reading:
        """Reads one schema object."""
        if "$schema" in schema and not (said := draft_of(schema)).modern:
            place = Place(place.scope, said, place.parent, place.step)
        rest = dict(schema)  # keywords not taken yet
        if "$ref" in schema:
            found: list[Node] = [self.reference(rest.pop("$ref"), place)]
        else:
            found = yield from self._groups(rest, place)
        if len(found) > 1:
            found = [CombinedNode(branches=tuple(found))]
        node = found[0] if found else Node(NodeKind.EMPTY)
        self._common(node, schema, rest, place)
        return self.done(node, rest)

    def _common(self, node: Node, schema: Mapping[str, Any], rest: Mapping[str, Any], place: Place) -> None:
        """Reads the keywords that every schema can have, whatever its kind."""
        for keyword in (place.draft.id_keyword, "title", "description"):
            if keyword in rest:
                self.text(schema, keyword, place)
        if place.draft is Draft.DRAFT_7:
            for keyword in ("readOnly", "writeOnly"):
                if keyword in rest:
                    self.flag(schema, keyword, place)
        node.has_default = "default" in rest and node.kind is not NodeKind.REFERENCE
        node.is_bytes = rest.get("connect.type") == "bytes"
        if isinstance(node, ArrayNode):
            # the registry looks for these two where the loader keeps what it does not know
            node.min_contains = _number(rest.get("minContains"))
            node.max_contains = _number(rest.get("maxContains"))

    def _groups(self, rest: dict[str, Any], place: Place) -> Some:
        found: list[Node] = []
        if "enum" in rest:
            values = self.array(rest, "enum", place)
            found.append(EnumNode(values=frozenset(map(dumps_sorted, values))))
            del rest["enum"]
        for keyword, criterion in CRITERIA.items():
            if keyword in rest:
                branches = yield from self.in_order(self.array(rest, keyword, place), place / keyword)
                found.append(self.done(CombinedNode(criterion=criterion, branches=branches), {}))
                del rest[keyword]
        if "not" in rest:
            found.append(NotNode(inner=(yield rest.pop("not"), place / "not")))
        if "const" in rest and place.draft is not Draft.DRAFT_4:
            found.append(ConstNode(value=dumps_sorted(rest.pop("const"))))
        if "type" in rest:
            found.append((yield from self._types(rest, place)))
        if rest:
            found += yield from self._sniffed(rest, place)
        return found

    def _types(self, rest: dict[str, Any], place: Place) -> Reading:
        said = rest.pop("type")
        taken: set[str] = set()
        if isinstance(said, str):
            node = yield from self._of_type(said, rest, place, taken)
        elif isinstance(said, list):
            branches: list[Node] = []
            for name in said:
                branch = yield from self._of_type(name, rest, place, taken)
                branches.append(branch)
            node = self.done(CombinedNode(criterion=Criterion.ANY, branches=tuple(branches)), {})
        else:
            raise self.invalid(place / "type", f"expected a string or an array, not {text_of(said)}")
        _drop(rest, taken)
        return node

    def _of_type(self, name: Any, rest: Mapping[str, Any], place: Place, taken: set[str]) -> Reading:
        node = yield from self._typed_node(name, rest, place, taken)
        node.typed = node.kind in NODES
        return node

    def _typed_node(self, name: Any, rest: Mapping[str, Any], place: Place, taken: set[str]) -> Reading:
        if name in ("integer", "number"):
            taken.update(NUMBER_KEYWORDS)
            return self._number_node(rest, place, name == "integer")
        if name == "string":
            taken.update(STRING_KEYWORDS)
            return self._string_node(rest, place)
        if name == "array":
            taken |= _of_arrays(place)
            return (yield from self._array_node(rest, place))
        if name == "object":
            taken |= _of_objects(place)
            return (yield from self._object_node(rest, place))
        if isinstance(name, str) and name in SIMPLE_TYPES:
            return Node(SIMPLE_TYPES[name])
        raise self.invalid(place / "type", f"there is no type {text_of(name)}")

    def _sniffed(self, rest: dict[str, Any], place: Place) -> Some:
        """Nodes of what is left, by the types its keywords are for."""
        found: list[Node] = []
        if not _of_arrays(place).isdisjoint(rest):
            found.append((yield from self._array_node(rest, place)))
            _drop(rest, _of_arrays(place))
        if not _of_objects(place).isdisjoint(rest):
            found.append((yield from self._object_node(rest, place)))
            _drop(rest, _of_objects(place))
        if not NUMBER_KEYWORDS.isdisjoint(rest):
            found.append(self._number_node(rest, place, False))
            _drop(rest, NUMBER_KEYWORDS)
        if not STRING_KEYWORDS.isdisjoint(rest):
            found.append(self._string_node(rest, place))
            _drop(rest, STRING_KEYWORDS)
        if place.draft is Draft.DRAFT_7 and any(keyword in rest for keyword in CONDITIONAL_KEYWORDS):
            for keyword in CONDITIONAL_KEYWORDS:
                if keyword in rest:
                    yield rest[keyword], place / keyword
            said: dict[str, Any] = {keyword: rest.pop(keyword) for keyword in CONDITIONAL_KEYWORDS if keyword in rest}
            found.append(Node(NodeKind.CONDITIONAL, extras=said))
        return found

    # --- types

    def _string_node(self, rest: Mapping[str, Any], place: Place) -> StringNode:
        pattern = self.text(rest, "pattern", place) if "pattern" in rest else None
        if pattern is not None:
            check_pattern(pattern, str(place / "pattern"))
        if "format" in rest:
            self.text(rest, "format", place)
        return StringNode(
            min_length=self.count(rest, "minLength", place),
            max_length=self.count(rest, "maxLength", place),
            pattern=pattern,
            format=rest["format"] if rest.get("format") in FORMATS[place.draft] else None,
        )

    def _number_node(self, rest: Mapping[str, Any], place: Place, integer: bool) -> NumberNode:
        node = NumberNode(
            integer=integer,
            minimum=self.number(rest, "minimum", place),
            maximum=self.number(rest, "maximum", place),
            multiple_of=self.number(rest, "multipleOf", place),
        )
        if node.multiple_of == 0:
            raise self.invalid(place / "multipleOf", "a multiple of 0 is no number but 0")
        if place.draft is Draft.DRAFT_4:
            # true and false there; the registry does not compare them
            exclusive = [keyword for keyword in ("exclusiveMinimum", "exclusiveMaximum") if keyword in rest]
            node.extras = {keyword: True for keyword in exclusive if self.flag(rest, keyword, place)}
        else:
            node.exclusive_minimum = self.number(rest, "exclusiveMinimum", place)
            node.exclusive_maximum = self.number(rest, "exclusiveMaximum", place)
        return node

    def _array_node(self, rest: Mapping[str, Any], place: Place) -> Reading:
        node = ArrayNode(
            min_items=self.count(rest, "minItems", place),
            max_items=self.count(rest, "maxItems", place),
            unique="uniqueItems" in rest and self.flag(rest, "uniqueItems", place),
        )
        more = rest.get("additionalItems", True)
        if isinstance(more, bool):
            node.more = more
        else:
            node.rest = yield more, place / "additionalItems"
        items = rest.get("items")
        if isinstance(items, list):
            node.first = yield from self.in_order(items, place / "items")
        elif "items" in rest:
            self._no_flag(items, place / "items")
            node.every = yield items, place / "items"
            node.more = True  # items after the first ones can't be meant
        if "contains" in rest and place.draft is not Draft.DRAFT_4:
            node.contains = yield rest["contains"], place / "contains"
        return node

    def _object_node(self, rest: Mapping[str, Any], place: Place) -> Reading:
        node = ObjectNode(
            required=self.strings(rest, "required", place),
            min_properties=self.count(rest, "minProperties", place),
            max_properties=self.count(rest, "maxProperties", place),
        )
        if "properties" in rest:
            schemas = self.members(rest, "properties", place)
            id_keyword = place.draft.id_keyword
            if id_keyword in schemas and not isinstance(schemas[id_keyword], dict):
                schemas = {name: schema for name, schema in schemas.items() if name != id_keyword}
            node.properties = yield from self.by_name(schemas, place / "properties")
        if "patternProperties" in rest:
            schemas = self.members(rest, "patternProperties", place)
            for pattern in schemas:
                check_pattern(pattern, str(place / "patternProperties" / pattern))
            node.patterns = yield from self.by_name(schemas, place / "patternProperties")
        more = rest.get("additionalProperties", True)
        if isinstance(more, bool):
            node.more = more
        else:
            node.rest = yield more, place / "additionalProperties"
        if "propertyNames" in rest and place.draft is not Draft.DRAFT_4:
            node.names = yield rest["propertyNames"], place / "propertyNames"
        if "dependencies" in rest:
            yield from self._dependencies(node, self.members(rest, "dependencies", place), place / "dependencies")
        return node

    def _no_flag(self, schema: Any, place: Place) -> None:
        """Draft-04 has no schemas true and false; the registry minds only in some places."""
        if isinstance(schema, bool) and place.draft is Draft.DRAFT_4:
            raise self.invalid(place, f"expected an object or an array, not {text_of(schema)}")

    def _dependencies(self, node: ObjectNode, said: dict[str, Any], place: Place) -> Generator[tuple[Any, Place], Node]:
        needs: dict[str, tuple[str, ...]] = {}
        schemas: dict[str, Node] = {}
        for name, value in said.items():
            if not isinstance(value, list):
                self._no_flag(value, place / name)
                schemas[name] = yield value, place / name
            elif value:
                needs[name] = self.strings(said, name, place)
        node.needs, node.needs_schema = needs, schemas


def dumps_sorted(value: Any) -> str:
    """A value as text; the same for objects whose members are in another order."""
    return dumps(_sorted(value)) if isinstance(value, (dict, list)) else dumps(value)


def _sorted(value: Any) -> Any:
    """A copy with all members in order, without recursion."""
    result: list[Any] = [value]
    todo: list[tuple[Any, Any, Any]] = [(result, 0, value)]
    while todo:
        holder, at, item = todo.pop()
        if isinstance(item, dict):
            copy: Any = dict.fromkeys(sorted(item))
            todo += [(copy, name, item[name]) for name in copy]
        elif isinstance(item, list):
            copy = list(item)
            todo += [(copy, index, inner) for index, inner in enumerate(item)]
        else:
            copy = item
        holder[at] = copy
    return result[0]


def _of_arrays(place: Place) -> frozenset[str]:
    return ARRAY_KEYWORDS if place.draft is Draft.DRAFT_4 else NEWER_ARRAY_KEYWORDS


def _of_objects(place: Place) -> frozenset[str]:
    return OBJECT_KEYWORDS if place.draft is Draft.DRAFT_4 else NEWER_OBJECT_KEYWORDS


def _drop(rest: dict[str, Any], keywords: Iterable[str]) -> None:
    for keyword in keywords:
        rest.pop(keyword, None)


def _number(value: Any) -> Any:
    return None if isinstance(value, (bool, str, list, dict)) else value
