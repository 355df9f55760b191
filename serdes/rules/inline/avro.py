"""Rules inside Avro schemas: which there are, and which values of a record they are for.

Must not know of rules' languages. Values are seen as the encoder sees them and as a reader will: objects as records,
missing fields with their default, without the names of branches that tuples carry. Rules of a record or of any other
type are for each value of it, those of a field for its value; null is not looked at.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from registry.schemas.avro.model import ArrayType, AvroType, Field, MapType, NamedType, RecordType, UnionType
from registry.schemas.documents import without_comments
from serdes.formats.avro.codec import AvroSchema, decoder, load_texts
from serdes.formats.avro.union import Chooser
from serdes.formats.avro.writing import default_bytes
from serdes.kernels.misfit import Misfit, entries_of, items_of, record_of
from serdes.rules.inline.model import (
    VALIDATION_RULES_PROP,
    Site,
    Sites,
    ValidationRule,
    ValidationRuleError,
    ValidationRuleExecutor,
    never,
    parse_validation_rules,
    rules_of,
    violations_of,
)
from serdes.rules.model import RuleError

PRIVATE: Final = ("__fastavro_parsed__", "__named_schemas__")


def sites_of(parsed: AvroSchema) -> Sites | None:
    """The sites of a schema's rules; None if it has none.

    Raises:
        RuleThatNeverRunsError: a rule stands where nothing runs it.
    """
    for text in (parsed.text, *parsed.referenced):
        for document in _documents(text):
            _refuse_lost(document, "$")
    made = _Rules(parsed.model, strict=True)
    return made.sites if made.any else None


def validate_message(
    executor: ValidationRuleExecutor | None, schema: Any, message: Any, fail_fast: bool = False
) -> list[ValidationRuleError]:
    """All rules of a schema that a value breaks.

    Args:
        executor: evaluates them; None for no rules.
        schema: the schema as a value (`json.loads`, or what fastavro makes of it).
        message: the value.
        fail_fast: stop at the first one.

    Raises:
        SerializationError: the schema is not valid.
    """
    if executor is None or schema is None or message is None:
        return []
    model = load_texts(json.dumps(_each_name_once(schema, set()))).model
    return violations_of(executor, _Rules(model, strict=False).sites(message), fail_fast)


def _documents(text: str) -> Iterator[Any]:
    """The schema as a value; nothing for a bare name."""
    for given in (text, without_comments(text)):
        try:
            yield json.loads(given)
        except ValueError:
            continue
        return


def _each_name_once(node: Any, seen: set[str]) -> Any:
    """A schema in which each named type is written out once: fastavro's expanded ones repeat them."""
    if isinstance(node, list):
        return [_each_name_once(item, seen) for item in node]
    if not isinstance(node, dict):
        return node
    if "name" in node and "type" in node and node["type"] in ("record", "error", "enum", "fixed"):
        if node["name"] in seen:
            return node["name"]
        seen.add(node["name"])
    inner = ("type", "items", "values")
    made = {
        key: _each_name_once(item, seen) if key in inner else item for key, item in node.items() if key not in PRIVATE
    }
    if isinstance(node.get("fields"), list):
        made["fields"] = [{**field, "type": _each_name_once(field["type"], seen)} for field in node["fields"]]
    return made


def _refuse_lost(node: Any, place: str) -> None:
    """Refuses rules on a schema that is nothing but another one's wrapping: parsers unwrap it."""
    if isinstance(node, list):
        for index, item in enumerate(node):
            _refuse_lost(item, f"{place}[{index}]")
    if not isinstance(node, dict):
        return
    inner = node.get("type")
    if isinstance(inner, (dict, list)):
        if VALIDATION_RULES_PROP in node:
            raise never(place, "it is beside a `type` that is a schema itself: put it on the field, or into that one")
        _refuse_lost(inner, f"{place}.type")
    for field in node.get("fields") or () if inner in ("record", "error") else ():
        if isinstance(field, dict):
            _refuse_lost(field.get("type"), f"{place}.{field.get('name')}")
    for key in ("items", "values"):
        _refuse_lost(node.get(key), f"{place}.{key}")


class _Rules:
    """The rules of one schema.

    Args:
        model: the schema.
        strict: refuse rules of a wrong form, and values that do not fit; else both are left out.
    """

    def __init__(self, model: AvroType, strict: bool) -> None:
        self._model = model
        self._strict = strict
        self._rules: dict[int, list[ValidationRule]] = {}
        self._hints: dict[int, Any] = {}
        self._defaults: dict[int, Any] = {}
        self._choosers: dict[int, Chooser] = {}
        types = list(_all_types(model))
        for avro in types:
            self._take(avro, avro.props, avro, avro.name if isinstance(avro, NamedType) else avro.kind.value)
            for field in _fields(avro):
                self._take(field, field.props, field.type, f"{getattr(avro, 'name', '')}.{field.name}")
        self._ruled = _reaching(types, self._rules)

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return bool(self._rules)

    def _take(self, owner: Any, props: Mapping[str, Any], avro: AvroType, place: str) -> None:
        if VALIDATION_RULES_PROP not in props:
            return
        given = props[VALIDATION_RULES_PROP]
        found = rules_of(given, place) if self._strict else parse_validation_rules(given)
        if found:
            self._rules[id(owner)] = found
            self._hints[id(owner)] = as_document(avro)

    def sites(self, value: Any) -> Iterable[Site]:
        """All that rules are for, in a value."""
        out: list[Site] = []
        self._view(self._model, value, "", False, out)
        return [site for site in out if site.value is not None]

    def _view(self, avro: AvroType, value: Any, path: str, inside: bool, out: list[Site]) -> Any:
        """A value as readers will see it; what rules are for goes to `out`, outer values first."""
        if value is None or not (inside or id(avro) in self._ruled):
            return value
        slot = self._slot(avro, path, out)
        inside = inside or slot is not None
        try:
            made = self._made(avro, value, path, inside, out)
        except Misfit as error:
            if self._strict:
                raise RuleError(f"{path or '<root>'}: {error.reason}") from None
            return value
        if slot is not None:
            slot.value = made
        return made

    def _slot(self, owner: AvroType | Field, path: str, out: list[Site]) -> Site | None:
        rules = self._rules.get(id(owner))
        if rules is None:
            return None
        out.append(Site(rules, self._hints[id(owner)], None, path))
        return out[-1]

    def _made(self, avro: AvroType, value: Any, path: str, inside: bool, out: list[Site]) -> Any:
        if isinstance(avro, UnionType):
            place, inner = self._chooser(avro)(value, {})
            return self._view(avro.branches[place], inner, path, inside, out)
        if isinstance(avro, ArrayType):
            items = enumerate(items_of(value, "array"))
            return [self._view(avro.items, item, f"{path}[{index}]", inside, out) for index, item in items]
        if isinstance(avro, MapType):
            entries = entries_of(value, "map").items()
            return {key: self._view(avro.values, item, f'{path}["{key}"]', inside, out) for key, item in entries}
        if not isinstance(avro, RecordType):
            return value
        given, made = record_of(value, f"record {avro.name}"), {}
        for field in avro.fields:
            if field.name in given:
                item = given[field.name]
            elif field.has_default:
                item = self._default(field)
            else:
                continue
            name = f"{path}.{field.name}" if path else field.name
            slot = self._slot(field, name, out)
            made[field.name] = self._view(field.type, item, name, inside or slot is not None, out)
            if slot is not None:
                slot.value = made[field.name]
        return made

    def _chooser(self, union: UnionType) -> Chooser:
        found = self._choosers.get(id(union))
        if found is None:
            found = self._choosers[id(union)] = Chooser(union)
        return found

    def _default(self, field: Field) -> Any:
        """A field's default, as readers see it."""
        if id(field) not in self._defaults:
            self._defaults[id(field)] = decoder(AvroSchema("", field.type))(default_bytes(field))
        return self._defaults[id(field)]


def as_document(avro: AvroType) -> Any:
    """The type as executors get it: its name, or the schema as a value as far as it has properties."""
    if isinstance(avro, UnionType):
        return [_short(branch) for branch in avro.branches]
    made: dict[str, Any] = {"type": avro.kind.value}
    if isinstance(avro, NamedType):
        made["name"] = avro.name
    if isinstance(avro, RecordType):
        made["fields"] = [{"name": field.name, "type": _short(field.type), **field.props} for field in avro.fields]
    elif isinstance(avro, ArrayType):
        made["items"] = _short(avro.items)
    elif isinstance(avro, MapType):
        made["values"] = _short(avro.values)
    made |= avro.props
    return made if len(made) > 1 else avro.kind.value


def _short(avro: AvroType) -> Any:
    """A type inside another one: named types by their name, which ends recursive ones."""
    return avro.name if isinstance(avro, NamedType) else as_document(avro)


def _fields(avro: AvroType) -> list[Field]:
    return avro.fields if isinstance(avro, RecordType) else []


def _inner(avro: AvroType) -> list[AvroType]:
    if isinstance(avro, UnionType):
        return avro.branches
    if isinstance(avro, ArrayType):
        return [avro.items]
    if isinstance(avro, MapType):
        return [avro.values]
    return [field.type for field in _fields(avro)]


def _all_types(model: AvroType) -> Iterator[AvroType]:
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        avro = waiting.pop()
        if id(avro) not in seen:
            seen.add(id(avro))
            yield avro
            waiting += _inner(avro)


def _reaching(types: list[AvroType], rules: Mapping[int, Any]) -> set[int]:
    """The types with rules on them, on their fields, or on anything inside them."""
    owners: dict[int, list[int]] = {}
    for avro in types:
        for inner in _inner(avro):
            owners.setdefault(id(inner), []).append(id(avro))
    found: set[int] = set()
    waiting = [id(avro) for avro in types if id(avro) in rules or any(id(field) in rules for field in _fields(avro))]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += owners.get(one, ())
    return found
