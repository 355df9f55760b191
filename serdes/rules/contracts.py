"""The rules of schemas as hooks of a serializer's plans: which rules there are is found out once per plan.

Rules inside schemas (`serdes.rules.inline`) run before or after domain rules, as the serializer's properties say;
reading checks the value that the caller gets or that domain rules get, by the schema it is of; where a reader's own
schema has no rules, by those of the writer's, as it was written.

Must not know of threads or event loops, nor how a registry is reached: inquiries yield calls. Source: the order in
which confluent_kafka's serializers run rules: domain rules, then the encoding, then encoding rules; backwards when
reading, with migration rules between decoding and domain rules.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from registry import RegisteredSchema, Rule, RuleMode, Schema, SchemaRegistryError
from serdes.asks import Inquiry, ask
from serdes.context import MessageField, SerializationContext
from serdes.errors import SerializationError
from serdes.formats.protocol import ReadHooks, SchemaFormat, WriteHooks
from serdes.options import Validation

if TYPE_CHECKING:
    from serdes.rules.engine import RuleEngine
    from serdes.rules.inline.validating import Validating
    from serdes.rules.registry import RuleOverride, RuleRegistry

QUICK: Final = frozenset({"CEL", "CEL_FIELD", "JSONATA"})
"""Types of rules that only compute; anything else may wait for a service."""
Check = Callable[[Any], None]
Step = tuple[RuleMode, Schema, Schema]
"""A migration: which way, from which schema, to which."""


class RuleContracts:
    """Makes hooks of rules; see `serdes.formats.protocol.Contracts`. Threads may share it.

    Args:
        client: the serializer's registry client; its configuration is given to executors.
        form: the serializer's format.
        migrates: whether values are read with the newest version, so that migration rules run.
        rule_conf: settings for executors and actions.
        rule_registry: executors and actions that were added; None for the global ones.
        validation: how rules inside schemas are run; None if they are not.

    Raises:
        ValueError: the executor of rules inside schemas is none, or what the default one needs is not installed.
    """

    def __init__(
        self,
        client: Any,
        form: SchemaFormat,
        migrates: bool = False,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
        validation: Validation | None = None,
    ) -> None:
        self._client = client
        self._form = form
        self._migrates = migrates
        self._rule_conf = rule_conf
        self._rule_registry = rule_registry
        self._made: RuleEngine | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._validating: Validating | None = None
        if validation is not None:
            from serdes.rules.inline.validating import Validating

            self._validating = Validating(validation, rule_conf)

    @property
    def validates(self) -> bool:
        """Whether rules inside schemas run."""
        return self._validating is not None

    def _check(self, subject: str | None, parsed: Any) -> tuple[Check | None, Check | None]:
        """The checks of a value by the rules inside its schema: before domain rules, and after them."""
        validating = self._validating
        check = None if validating is None else validating.check(self._form.schema_type, parsed, subject)
        return (None, check) if validating is not None and validating.after else (check, None)

    @property
    def _checks_wait(self) -> bool:
        return self._validating is not None and self._validating.waits

    @property
    def _engine(self) -> RuleEngine:
        """Made when the first schema with rules is met."""
        with self._lock:
            if self._closed:
                raise SerializationError("the schema has rules, but the serializer is closed")
            if self._made is None:
                from serdes.rules.engine import RuleEngine

                conf = self._client.config() if hasattr(self._client, "config") else {}
                own_conf = self._client.same_registry() if hasattr(self._client, "same_registry") else conf
                self._made = RuleEngine(self._rule_registry, conf, self._rule_conf, own_conf)
            return self._made

    def close(self) -> None:
        """Closes executors and actions that were made or given for this serializer; rules can't run afterwards."""
        with self._lock:
            self._closed = True
            engine, self._made = self._made, None
        if engine is not None:
            engine.close()

    def _may_wait(self, schema: Schema) -> bool:
        """Whether a schema's rules may do more than compute: then the asyncio shell runs them in a thread."""
        from serdes.rules.engine import Phase
        from serdes.rules.registry import RuleRegistry

        added = self._rule_registry or RuleRegistry.get_global_instance()
        rules = [rule for phase in Phase for rule in phase.rules(schema.rule_set)]
        types = {(rule.type or "").upper() for rule in rules}
        if types - QUICK or any(added.get_executor(name) is not None for name in types):
            return True
        says: list[Rule | RuleOverride] = [*rules, *added.get_overrides()]
        actions = {name for one in says for name in (*_named(one.on_success), *_named(one.on_failure))}
        return bool(actions - {"ERROR", "NONE"})

    # --- writing

    def writing(self, subject: str | None, schema: Schema, parsed: Any) -> Inquiry[WriteHooks | None]:
        """The hooks for values that are written with a schema; None if it has no rules for that."""
        yield from ()
        before, after = self._check(subject, parsed)
        checked = before is not None or after is not None
        if schema.rule_set is None and not checked:
            return None
        from serdes.rules.engine import Phase, has_rules
        from serdes.rules.walks import fields

        domain, encoding = (has_rules(schema, phase, RuleMode.WRITE) for phase in (Phase.DOMAIN, Phase.ENCODING))
        if not domain and not encoding and not checked:
            return None
        run = self._engine.run if domain or encoding else None
        walk, name = fields.of(self._form, parsed), subject or ""

        def on_value(value: Any, ctx: SerializationContext | None) -> Any:
            value = walk.plain(value)
            if before is not None:
                before(value)
            if domain and run is not None:
                place = (_given(ctx), name, None, schema)
                value = run(Phase.DOMAIN, RuleMode.WRITE, *place, value, walk.tags, walk.transformer)
            if after is not None:
                after(value)
            return value

        def on_payload(payload: bytes, ctx: SerializationContext | None) -> bytes:
            assert run is not None  # there are encoding rules
            return _bytes(run(Phase.ENCODING, RuleMode.WRITE, _given(ctx), name, None, schema, payload))

        waits = (checked and self._checks_wait) or (run is not None and self._may_wait(schema))
        return WriteHooks(on_value if domain or checked else None, on_payload if encoding else None, waits)

    # --- reading

    def reading(
        self, subject: str | None, writer: Schema | None, reader: Schema | None, parsed: tuple[Any, Any]
    ) -> Inquiry[ReadHooks | None]:
        """The hooks for values written with one schema and read with another; None if neither has rules for that."""
        target = reader or writer
        if target is None:
            return None
        steps: list[Step] = []
        if self._migrates and writer is not None and reader is not None and subject is not None and writer != reader:
            steps = yield from _migrations(subject, writer, reader)
        before, after = self._check(subject, parsed[1] or parsed[0])
        inline = before is not None or after is not None
        written: Check | None = None
        if not inline and not self._migrates and writer is not None and parsed[1] is not None:
            # a reader's own schema without rules (a model's, say) is no way around those of the writer's
            first, last = self._check(subject, parsed[0])
            written = first or last
        looks = inline or written is not None
        if not steps and not looks and target.rule_set is None and (writer is None or writer.rule_set is None):
            return None
        from serdes.rules.engine import Phase, has_rules
        from serdes.rules.walks import fields

        online = self._client is not None  # without a registry no rules run but those inside the schema
        domain = online and has_rules(target, Phase.DOMAIN, RuleMode.READ)
        encoding = online and writer is not None and has_rules(writer, Phase.ENCODING, RuleMode.READ)
        if not domain and not encoding and not steps and not looks:
            return None
        run = self._engine.run if domain or encoding or steps else None
        walk, name = fields.of(self._form, parsed[1] or parsed[0]), subject or ""
        check = self._form.check(parsed[1] or parsed[0])

        def checked(value: Any, last: bool = True) -> Any:
            if last and check is not None:
                check(value)
            return value

        def on_payload(payload: bytes, ctx: SerializationContext | None, frame: bytes) -> bytes:
            assert run is not None  # there are encoding rules
            return _bytes(run(Phase.ENCODING, RuleMode.READ, _given(ctx), name, None, writer, payload, original=frame))

        def migrate(value: Any, ctx: SerializationContext | None, frame: bytes) -> Any:
            assert run is not None  # there are steps
            plain = walk.as_json(value)
            for mode, old, new in steps:
                plain = run(Phase.MIGRATION, mode, _given(ctx), name, old, new, plain, original=frame)
            return checked(walk.from_json(plain, value), not domain and not inline)

        def on_value(value: Any, ctx: SerializationContext | None, frame: bytes) -> Any:
            if before is not None:
                before(value)
            if domain and run is not None:
                place = (_given(ctx), name, None, target)
                value = run(Phase.DOMAIN, RuleMode.READ, *place, value, walk.tags, walk.transformer, frame)
            checked(value)
            if after is not None:
                after(value)
            return value

        waits = run is not None and any(self._may_wait(schema) for schema in (target, writer) if schema is not None)
        waits = waits or (looks and self._checks_wait)
        ends = on_value if domain or inline else None
        return ReadHooks(on_payload if encoding else None, migrate if steps else None, ends, waits, written)


def _named(actions: str | None) -> list[str]:
    """The actions of a rule, which may be two."""
    return [name.strip() for name in (actions or "").split(",") if name.strip()]


def _given(ctx: SerializationContext | None) -> SerializationContext:
    """A context for rules, also where the caller gave none."""
    return SerializationContext("", MessageField.NONE) if ctx is None else ctx


def _bytes(payload: Any) -> bytes:
    if not isinstance(payload, (bytes, bytearray, memoryview)):
        raise SerializationError(f"an encoding rule gave {type(payload).__name__}, bytes are needed")
    return bytes(payload)


def _migrations(subject: str, writer: Schema, reader: Schema) -> Inquiry[list[Step]]:
    """The steps from the writer's version to the reader's that have rules, in the order they are taken.

    Raises:
        SerializationError: a version between them is not there any more: its rules are lost, and those of the version
            after it are for its values.
    """
    first, last = (yield from _version(subject, writer)), (yield from _version(subject, reader))
    if first is None or last is None or first == last:
        return []
    upwards = first < last
    mode = RuleMode.UPGRADE if upwards else RuleMode.DOWNGRADE
    low, high = sorted((first, last))
    versions: dict[int, Schema] = {first: writer, last: reader}
    lost: list[int] = []
    for number in range(low + 1, high):
        try:
            registered = yield from _numbered(subject, number)
        except SchemaRegistryError as error:
            if not error.not_found:
                raise
            lost.append(number)
        else:
            versions[number] = registered.schema
    from serdes.rules.engine import Phase, has_rules

    ordered = sorted(versions)
    steps: list[Step] = []
    for below, above in itertools.pairwise(ordered):
        if has_rules(versions[above], Phase.MIGRATION, mode):
            old, new = (below, above) if upwards else (above, below)
            steps.append((mode, versions[old], versions[new]))
    if steps and lost:
        gone = f"{'version' if len(lost) == 1 else 'versions'} {', '.join(map(str, lost))}"
        raise SerializationError(
            f"values of version {first} of {subject!r} can't be migrated to version {last}: {gone} between them, with "
            f"{'its' if len(lost) == 1 else 'their'} rules, can't be found any more"
        )
    return steps if upwards else steps[::-1]


def _numbered(subject: str, version: int) -> Inquiry[RegisteredSchema]:
    return ask(lambda source: source.get_version(subject, version, True))


def _version(subject: str, schema: Schema) -> Inquiry[int | None]:
    """The version of a schema; None if the subject does not have it."""
    try:
        registered = yield from ask(lambda source: source.lookup_schema(subject, schema, False, None, True))
    except SchemaRegistryError as error:
        if not error.not_found:
            raise
        return None
    return registered.version
