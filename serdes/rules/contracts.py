"""The rules of schemas as hooks of a serializer's plans: which rules there are is found out once per plan.

Must not know of threads or event loops, nor how a registry is reached: inquiries yield calls. Source: the order in
which confluent_kafka's serializers run rules: domain rules, then the encoding, then encoding rules; backwards when
reading, with migration rules between decoding and domain rules.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from registry import RegisteredSchema, Rule, RuleMode, Schema, SchemaRegistryError
from serdes.asks import Inquiry, ask
from serdes.context import MessageField, SerializationContext
from serdes.errors import SerializationError
from serdes.formats.protocol import ReadHooks, SchemaFormat, WriteHooks

if TYPE_CHECKING:
    from serdes.rules.engine import RuleEngine
    from serdes.rules.registry import RuleOverride, RuleRegistry

QUICK: Final = frozenset({"CEL", "CEL_FIELD", "JSONATA"})
"""Types of rules that only compute; anything else may wait for a service."""
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
    """

    def __init__(
        self,
        client: Any,
        form: SchemaFormat,
        migrates: bool = False,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
    ) -> None:
        self._client = client
        self._form = form
        self._migrates = migrates
        self._rule_conf = rule_conf
        self._rule_registry = rule_registry
        self._made: RuleEngine | None = None
        self._closed = False
        self._lock = threading.Lock()

    @property
    def _engine(self) -> RuleEngine:
        """Made when the first schema with rules is met."""
        with self._lock:
            if self._closed:
                raise SerializationError("the schema has rules, but the serializer is closed")
            if self._made is None:
                from serdes.rules.engine import RuleEngine

                conf = self._client.config() if hasattr(self._client, "config") else {}
                self._made = RuleEngine(self._rule_registry, conf, self._rule_conf)
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
        if schema.rule_set is None:
            return None
        from serdes.rules import fields
        from serdes.rules.engine import Phase, has_rules

        domain, encoding = (has_rules(schema, phase, RuleMode.WRITE) for phase in (Phase.DOMAIN, Phase.ENCODING))
        if not domain and not encoding:
            return None
        engine, walk = self._engine, fields.of(self._form, parsed)

        def on_value(value: Any, ctx: SerializationContext | None) -> Any:
            plain = walk.plain(value)
            return engine.run(
                Phase.DOMAIN,
                RuleMode.WRITE,
                _given(ctx),
                subject or "",
                None,
                schema,
                plain,
                walk.tags,
                walk.transformer,
            )

        def on_payload(payload: bytes, ctx: SerializationContext | None) -> bytes:
            ruled = engine.run(Phase.ENCODING, RuleMode.WRITE, _given(ctx), subject or "", None, schema, payload)
            return _bytes(ruled)

        return WriteHooks(on_value if domain else None, on_payload if encoding else None, self._may_wait(schema))

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
        if not steps and target.rule_set is None and (writer is None or writer.rule_set is None):
            return None
        from serdes.rules import fields
        from serdes.rules.engine import Phase, has_rules

        domain = has_rules(target, Phase.DOMAIN, RuleMode.READ)
        encoding = writer is not None and has_rules(writer, Phase.ENCODING, RuleMode.READ)
        if not domain and not encoding and not steps:
            return None
        engine, walk, name = self._engine, fields.of(self._form, parsed[1] or parsed[0]), subject or ""
        check = self._form.check(parsed[1] or parsed[0])

        def checked(value: Any, last: bool = True) -> Any:
            if last and check is not None:
                check(value)
            return value

        def on_payload(payload: bytes, ctx: SerializationContext | None, frame: bytes) -> bytes:
            return _bytes(
                engine.run(Phase.ENCODING, RuleMode.READ, _given(ctx), name, None, writer, payload, original=frame)
            )

        def migrate(value: Any, ctx: SerializationContext | None, frame: bytes) -> Any:
            plain = walk.as_json(value)
            for mode, old, new in steps:
                plain = engine.run(Phase.MIGRATION, mode, _given(ctx), name, old, new, plain, original=frame)
            return checked(walk.from_json(plain, value), not domain)

        def on_value(value: Any, ctx: SerializationContext | None, frame: bytes) -> Any:
            made = engine.run(
                Phase.DOMAIN, RuleMode.READ, _given(ctx), name, None, target, value, walk.tags, walk.transformer, frame
            )
            return checked(made)

        waits = any(self._may_wait(schema) for schema in (target, writer) if schema is not None)
        return ReadHooks(
            on_payload if encoding else None, migrate if steps else None, on_value if domain else None, waits
        )


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
    """The steps from the writer's version to the reader's that have rules, in the order they are taken."""
    first, last = (yield from _version(subject, writer)), (yield from _version(subject, reader))
    if first is None or last is None or first == last:
        return []
    upwards = first < last
    mode = RuleMode.UPGRADE if upwards else RuleMode.DOWNGRADE
    low, high = sorted((first, last))
    versions: dict[int, Schema] = {first: writer, last: reader}
    for number in range(low + 1, high):
        try:
            registered = yield from _numbered(subject, number)
        except SchemaRegistryError as error:
            if not error.not_found:
                raise
            continue  # deleted for good: the step goes from its neighbour
        versions[number] = registered.schema
    from serdes.rules.engine import Phase, has_rules

    ordered = sorted(versions)
    steps: list[Step] = []
    for below, above in itertools.pairwise(ordered):
        if has_rules(versions[above], Phase.MIGRATION, mode):
            old, new = (below, above) if upwards else (above, below)
            steps.append((mode, versions[old], versions[new]))
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
