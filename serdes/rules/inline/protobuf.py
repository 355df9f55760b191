"""Rules inside Protobuf schemas: which there are, and which values of a message they are for.

Must not know of rules' languages. Rules of a message type are for each message of it, those of a field for its value:
all of a repeated field or map at once. Fields that are not set are not looked at, if they can be unset. Rules see
messages as the registered schema names their fields; that is matched by number. Extensions are looked at, and what is
packed in an `Any` if the schema has its type.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.message import DecodeError, EncodeError
from google.protobuf.message_factory import GetMessageClass

from serdes.errors import SerializationError
from serdes.formats.protobuf.codec import ProtobufSchema
from serdes.rules.inline.model import (
    Site,
    Sites,
    ValidationRule,
    ValidationRuleError,
    ValidationRuleExecutor,
    never,
    violations_of,
)
from serdes.rules.model import RuleError
from serdes.rules.walks.protobuf import ANY, imported, is_map, is_repeated
from serdes.rules.walks.protobuf_meta import rules_of


def sites_of(parsed: ProtobufSchema) -> Sites | None:
    """The sites of a schema's rules; None if it has none.

    Raises:
        RuleThatNeverRunsError: a rule stands where nothing runs it.
    """
    known: dict[str, _Rules] = {}

    def sites(message: Any) -> Iterator[Site]:
        name = message.DESCRIPTOR.full_name
        if name not in known:
            known[name] = _Rules(parsed.named(name).DESCRIPTOR)
        return known[name].sites(message)

    found = [_rules_in_file(one) for one in _files(parsed.file)]  # all are looked at: each may be refused
    return sites if any(found) else None


def validate_message(
    executor: ValidationRuleExecutor | None, descriptor: Any, message: Any, fail_fast: bool = False
) -> list[ValidationRuleError]:
    """All rules of a message type that a message breaks.

    Args:
        executor: evaluates them; None for no rules.
        descriptor: of the registered type.
        message: the message.
        fail_fast: stop at the first one.

    Raises:
        SerializationError: what the message is written as can't be read as the registered type.
    """
    if executor is None or descriptor is None or message is None:
        return []
    return violations_of(executor, _Rules(descriptor).sites(message), fail_fast)


def _files(file: Any) -> list[Any]:
    """A file and all it imports."""
    names = imported(file)
    return [file.pool.FindFileByName(name) for name in names]


def _rules_in(owner: Any) -> list[ValidationRule]:
    """The rules of anything that has options; empty texts are none."""
    return [ValidationRule(*(text or None for text in texts)) for texts in rules_of(owner)]


def _rules_in_file(file: Any) -> bool:
    """Whether messages or fields of a file have rules.

    Raises:
        RuleThatNeverRunsError: a rule without an expression, or one of something that has no values of its own.
    """
    _refuse_any(file, f"file {file.name}")
    enums = list(file.enum_types_by_name.values())
    messages = list(file.message_types_by_name.values())
    found = [_checked(field) for field in file.extensions_by_name.values()]
    while messages:
        message = messages.pop()
        messages += message.nested_types
        enums += message.enum_types
        found += [_checked(message), *map(_checked, message.fields), *map(_checked, message.extensions)]
    for kind in enums:
        _refuse_any(kind, f"enum {kind.full_name}")
        for value in kind.values:
            _refuse_any(value, f"{value.name} of enum {kind.full_name}")
    return any(found)


def _checked(owner: Any) -> bool:
    rules = _rules_in(owner)
    if not all((rule.expr or "").strip() for rule in rules):
        raise never(owner.full_name, "it has no `expr`")
    return bool(rules)


def _refuse_any(owner: Any, place: str) -> None:
    if _rules_in(owner):
        raise never(place, "only messages and fields can have rules")


class _Rules:
    """The rules of one message type."""

    def __init__(self, registered: Any) -> None:
        self._registered = registered
        self._pool = registered.file.pool
        self._files = imported(registered.file)
        self._known: dict[int, list[ValidationRule]] = {}
        self._kept: list[Any] = []  # so that ids stay theirs

    def sites(self, message: Any) -> Iterator[Site]:
        """All that rules are for, in a message, outer messages first.

        Raises:
            SerializationError: what the message is written as can't be read as the registered type.
        """
        return self._within(self._registered, message, self._seen(self._registered, message), "")

    def _seen(self, registered: Any, message: Any) -> Any:
        """A message as its registered type."""
        if message.DESCRIPTOR is registered:
            return message
        try:
            return GetMessageClass(registered).FromString(message.SerializePartialToString())
        except (DecodeError, EncodeError, UnicodeDecodeError) as error:
            raise SerializationError(
                f"the message can't be read as the registered type {registered.full_name}: its rules can't be run"
            ) from error

    def _rules(self, owner: Any) -> list[ValidationRule]:
        found = self._known.get(id(owner))
        if found is None:
            self._kept.append(owner)
            found = self._known[id(owner)] = _rules_in(owner)
        return found

    def _within(self, registered: Any, message: Any, seen: Any, path: str) -> Iterator[Site]:
        """Sites of a message.

        Args:
            registered: its type in the schema.
            message: as it was given; says which fields are set.
            seen: the same as its registered type.
            path: where it is.
        """
        if rules := self._rules(registered):
            yield Site(rules, registered, seen, path)
        if registered.full_name == ANY:
            yield from self._packed(seen, path)
        for field in sorted(registered.fields, key=_number):  # registries print those of a oneof last
            own = message.DESCRIPTOR.fields_by_number.get(field.number)
            if own is None:  # the class given is older than the schema: unset, or kept as an unknown field
                if not _has_value(seen, field):
                    continue
            elif own.has_presence and not message.HasField(own.name):
                continue
            given = getattr(seen, field.name) if own is None else getattr(message, own.name)
            yield from self._field(field, given, getattr(seen, field.name), f"{path}.{field.name}".lstrip("."))
        for known, value in seen.ListFields():
            if known.is_extension:
                yield from self._field(known, value, value, f"{path}.[{known.full_name}]".lstrip("."))

    def _field(self, field: Any, given: Any, value: Any, path: str) -> Iterator[Site]:
        if rules := self._rules(field):
            yield Site(rules, field, value, path)
        if field.message_type is None:
            return
        if is_map(field):
            kind = field.message_type.fields_by_name["value"].message_type
            for key in value if kind is not None else ():
                yield from self._within(kind, _same(given, key, value[key]), value[key], f'{path}["{key}"]')
        elif is_repeated(field):
            for index, item in enumerate(value):
                yield from self._within(field.message_type, _same(given, index, item), item, f"{path}[{index}]")
        else:
            yield from self._within(field.message_type, given if _is_message(given) else value, value, path)

    def _packed(self, packed: Any, path: str) -> Iterator[Site]:
        name = packed.type_url.rpartition("/")[2]
        try:
            kind = self._pool.FindMessageTypeByName(name)
        except KeyError:
            return
        if kind.file.name not in self._files:
            return  # nobody can have given it rules
        try:
            inner = GetMessageClass(kind).FromString(packed.value)
        except DecodeError as error:
            raise RuleError(f"what is packed in an Any is no {name}") from error
        yield from self._within(kind, inner, inner, path)


def _same(given: Any, key: Any, otherwise: Any) -> Any:
    """The message that was given where another one stands for it."""
    try:
        found = given[key]
    except (KeyError, IndexError, TypeError):
        return otherwise
    return found if _is_message(found) else otherwise


def _number(field: Any) -> int:
    return int(field.number)


def _is_message(value: Any) -> bool:
    return hasattr(value, "DESCRIPTOR")


def _has_value(message: Any, field: Any) -> bool:
    return any(found.number == field.number for found, _ in message.ListFields())
