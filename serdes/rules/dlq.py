"""The action `DLQ`: a message whose rule failed goes to a dead-letter topic, and is refused.

Must not know of rule languages. Source: confluent_kafka's `DlqAction`: its configuration keys and headers.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import logging
import struct
import threading
import uuid
from collections.abc import Mapping
from typing import Any, Final

from registry import Rule, RuleKind, RuleMode
from serdes.errors import SerializationError
from serdes.rules.engine import RULE_NAME_HEADER
from serdes.rules.model import FieldContext, FieldRuleExecutor, FieldTransform, FieldType, RuleAction, RuleContext

TOPIC: Final = "dlq.topic"
AUTO_FLUSH: Final = "dlq.auto.flush"
REDACT: Final = "dlq.redact.rule.types"
PRODUCER: Final = "producer"
ENCRYPTING: Final = "ENCRYPT,ENCRYPT_PAYLOAD"
REDACTED: Final = "<REDACTED>"
DLQ_HEADER_PREFIX: Final = "__rule."
DLQ_RULE_NAME_HEADER: Final = RULE_NAME_HEADER
DLQ_RULE_MODE_HEADER: Final = "__rule.mode"
DLQ_RULE_SUBJECT_HEADER: Final = "__rule.subject"
DLQ_RULE_TOPIC_HEADER: Final = "__rule.topic"
DLQ_RULE_EXCEPTION_HEADER: Final = "__rule.exception"
FLUSH_S: Final = 30.0
log = logging.getLogger("serdes")


class FieldRedactionExecutor(FieldRuleExecutor):
    """Replaces tagged text and bytes by `<REDACTED>`: rule type `REDACT`."""

    TYPE = "REDACT"
    REDACTED_STRING = REDACTED
    REDACTED_BYTES = REDACTED.encode()

    def type(self) -> str:
        """`REDACT`."""
        return "REDACT"

    def new_transform(self, ctx: RuleContext) -> FieldTransform:
        """Redacts a field."""
        return _redact

    @classmethod
    def register(cls) -> FieldRedactionExecutor:
        """Adds one to the global registry."""
        from serdes.rules.registry import RuleRegistry

        made = cls()
        RuleRegistry.register_rule_executor(made)
        return made


def _redact(ctx: RuleContext, entered: FieldContext, value: Any) -> Any:
    if value is None or entered.field_type not in (FieldType.STRING, FieldType.BYTES):
        return value
    return REDACTED if entered.field_type is FieldType.STRING else REDACTED.encode()


class DlqAction(RuleAction):
    """Sends the message as it was before any rule to a dead-letter topic, then refuses it.

    When writing, values are JSON in which fields that would have been encrypted are redacted; when reading, the bytes
    are those of the broker, the delivery is waited for, and the error says that it is done (`set_aside`). Headers
    `__rule.name`, `__rule.mode`, `__rule.subject`, `__rule.topic` and `__rule.exception` say what happened; the rule is
    left out when such a message is read again.

    Args:
        conf: `dlq.topic` (a rule's parameter of that name comes second), `dlq.auto.flush` (wait for each delivery when
            writing, too), `dlq.redact.rule.types` (whose tags are redacted; default `ENCRYPT,ENCRYPT_PAYLOAD`),
            `producer` (one that is there already; it is not closed); everything else configures an own
            `kafka_core.Producer`. A serializer's `rule_conf` may hold the same keys.
    """

    TYPE = "DLQ"
    DLQ_TOPIC = TOPIC
    DLQ_AUTO_FLUSH = AUTO_FLUSH
    DLQ_REDACT_RULE_TYPES = REDACT
    DLQ_REDACT_RULE_TYPES_DEFAULT = ENCRYPTING
    PRODUCER = PRODUCER
    HEADER_PREFIX = DLQ_HEADER_PREFIX
    RULE_NAME = DLQ_RULE_NAME_HEADER
    RULE_MODE = DLQ_RULE_MODE_HEADER
    RULE_SUBJECT = DLQ_RULE_SUBJECT_HEADER
    RULE_TOPIC = DLQ_RULE_TOPIC_HEADER
    RULE_EXCEPTION = DLQ_RULE_EXCEPTION_HEADER

    def __init__(self, conf: Mapping[str, Any] | None = None) -> None:
        self._conf: dict[str, Any] = dict(conf or {})
        self._lock = threading.Lock()
        self._own_producer: Any = None

    def type(self) -> str:
        """`DLQ`."""
        return "DLQ"

    def configure(self, client_conf: Mapping[str, Any], rule_conf: Mapping[str, Any]) -> None:
        """Takes `dlq.*`, `producer` and `bootstrap.servers` of a serializer's rule configuration."""
        with self._lock:
            for key, value in rule_conf.items():
                if key in (PRODUCER, "bootstrap.servers") or key.startswith("dlq."):
                    self._conf[key] = value

    def run(self, ctx: RuleContext, message: Any, ex: Exception | None) -> None:
        """Sends, then refuses.

        Raises:
            SerializationError: always. If the message can't be handed to the producer the text says that, too.
        """
        text = f"rule {ctx.rule.name!r} failed ({ctx.rule_mode.value})"
        topic = self._conf.get(TOPIC) or ctx.get_parameter(TOPIC)
        if not topic:
            raise SerializationError(f"{text}, and there is no topic for dead letters: set dlq.topic") from ex
        waits = ctx.rule_mode is not RuleMode.WRITE or str(self._conf.get(AUTO_FLUSH)).lower() == "true"
        delivery = _Delivery()
        try:
            key, value = self._bytes(ctx, ctx.original_key), self._bytes(ctx, ctx.original_value)
            producer = self._producer()
            producer.produce(topic, value, key, headers=_headers(ctx, ex), on_delivery=delivery.report)
            producer.poll(0)
            left = producer.flush(FLUSH_S) if waits else 0
        except Exception as error:
            raise SerializationError(f"{text}: {ex}; it could not be sent to {topic!r} either: {error}") from ex
        waiting = f" ({left} dead letters are not delivered yet)" if left else ""
        refused = SerializationError(f"{text}: {ex}; the message went to {topic!r}{waiting}")
        refused.set_aside = topic if delivery.done else None
        raise refused from ex

    def close(self) -> None:
        """Delivers the remaining letters, if the producer is this action's own."""
        with self._lock:
            producer, self._own_producer = self._own_producer, None
        if producer is not None:
            producer.close(FLUSH_S)

    @classmethod
    def register(cls, conf: Mapping[str, Any] | None = None) -> DlqAction:
        """Adds one to the global registry."""
        from serdes.rules.registry import RuleRegistry

        made = cls(conf)
        RuleRegistry.register_rule_action(made)
        return made

    def _producer(self) -> Any:
        given = self._conf.get(PRODUCER)
        if given is not None:
            return given
        with self._lock:
            if self._own_producer is None:
                from serdes.clients import SerializingProducer  # without serializers: bytes

                own = {key: value for key, value in self._conf.items() if not key.startswith("dlq.")}
                self._own_producer = _Raw(SerializingProducer({"message.timeout.ms": 0, **own}))
            return self._own_producer

    def _bytes(self, ctx: RuleContext, value: Any) -> bytes | None:
        """A key or value as it can stand in a message."""
        if value is None or isinstance(value, bytes):
            return value
        if isinstance(value, (bytearray, memoryview)):
            return bytes(value)
        if isinstance(value, (str, uuid.UUID)):
            return str(value).encode()
        if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
            return struct.pack(">q", value)
        if isinstance(value, float):
            return struct.pack(">d", value)
        return self._json(self._redacted(ctx, value))

    def _redacted(self, ctx: RuleContext, value: Any) -> Any:
        types = [part.strip() for part in str(self._conf.get(REDACT) or ENCRYPTING).split(",")]
        secret = [rule for rule in ctx.rules if rule.type in types]
        if not secret or ctx.field_transformer is None:
            return value
        every = not all(rule.tags for rule in secret)  # a rule without tags hides all fields
        tags = [] if every else sorted({tag for rule in secret for tag in rule.tags or ()})
        rule = Rule(name="redact", kind=RuleKind.TRANSFORM, mode=ctx.rule_mode, type="REDACT", tags=tags)
        redacting = dataclasses.replace(ctx, rule=rule, index=0, rules=[rule], _fields=[])
        return FieldRedactionExecutor().transform(redacting, copy.deepcopy(value))

    @staticmethod
    def _json(value: Any) -> bytes:
        if hasattr(value, "DESCRIPTOR"):
            from google.protobuf import json_format

            return json_format.MessageToJson(value).encode()
        return json.dumps(value, default=_as_json).encode()


class _Raw:
    """A producer of bytes with the arguments of `Producer.produce`."""

    def __init__(self, producer: Any) -> None:
        self._producer = producer
        self.poll, self.flush, self.close = producer.poll, producer.flush, producer.close

    def produce(self, topic: str, value: bytes | None, key: bytes | None, **rest: Any) -> None:
        self._producer.produce(topic, key=key, value=value, **rest)


def _as_json(value: Any) -> str:
    return bytes(value).decode("latin-1") if isinstance(value, (bytes, bytearray)) else str(value)


class _Delivery:
    """The result of a dead letter's delivery; `done` once the broker has it."""

    done = False

    def report(self, error: Any, message: Any) -> None:
        self.done = error is None
        if error is not None:
            log.error("a dead letter was not delivered to %s: %s", message.topic(), error)


def _headers(ctx: RuleContext, error: Exception | None) -> list[tuple[str, bytes | None]]:
    given = ctx.ser_ctx.headers or ()
    pairs = list(given.items() if isinstance(given, Mapping) else given)
    told = {
        DLQ_RULE_NAME_HEADER: ctx.rule.name,
        DLQ_RULE_MODE_HEADER: ctx.rule_mode.value,
        DLQ_RULE_SUBJECT_HEADER: ctx.subject,
        DLQ_RULE_TOPIC_HEADER: ctx.ser_ctx.topic,
        DLQ_RULE_EXCEPTION_HEADER: None if error is None else str(error),
    }
    pairs += [(name, text) for name, text in told.items() if text is not None]
    return [(name, value.encode() if isinstance(value, str) else value) for name, value in pairs]
