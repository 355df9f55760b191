"""serdes.rules.dlq: what a dead letter holds."""

from __future__ import annotations

import json
import struct
import uuid
from typing import Any

import pytest
from google.protobuf import wrappers_pb2

from registry import RuleKind, RuleMode
from registry.schemas.avro.model import parse
from serdes import MessageField, SerializationError
from serdes.rules import DlqAction, RuleContext, RuleRegistry
from serdes.rules.walks.avro import field_transformer, inline_tags
from tests.unit.serdes.rules.samples import context, ctx, rule, schema

PERSON = {"name": "Ada", "nick": None, "age": 36}


class Outbox:
    """A producer that keeps what it is given."""

    def __init__(self, left: int = 0, error: Exception | None = None) -> None:
        self.sent: list[tuple[Any, ...]] = []
        self.left, self.error = left, error
        self.flushed = 0

    def produce(self, topic: str, value: Any, key: Any, *, headers: Any, on_delivery: Any) -> None:
        if self.error is not None:
            raise self.error
        self.sent.append((topic, key, value, dict(headers)))

    def poll(self, timeout: float) -> int:
        return 0

    def flush(self, timeout: float) -> int:
        self.flushed += 1
        return self.left


def send(box: Outbox, ctx: RuleContext, error: Exception | None = None, **conf: Any) -> str:
    """Runs the action; returns what it says."""
    with pytest.raises(SerializationError) as caught:
        DlqAction({"dlq.topic": "dead", "producer": box, **conf}).run(ctx, None, error)
    assert caught.value.__cause__ is error
    return str(caught.value)


def test_the_message_goes_to_the_topic_with_headers_that_say_why() -> None:
    box = Outbox()
    where = ctx(headers=[("trace", "1"), ("empty", None)])
    text = send(box, context(ser_ctx=where, original_key="k", original_value=b"v"), ValueError("bad"))
    topic, key, value, headers = box.sent[0]
    assert (topic, key, value) == ("dead", b"k", b"v")
    assert headers == {
        "trace": b"1",
        "empty": None,
        "__rule.name": b"r",
        "__rule.mode": b"WRITE",
        "__rule.subject": b"people-value",
        "__rule.topic": b"people",
        "__rule.exception": b"bad",
    }
    assert "rule 'r' failed (WRITE): bad; the message went to 'dead'" in text
    assert box.flushed == 0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (b"x", b"x"),
        (bytearray(b"x"), b"x"),
        ("ž", "ž".encode()),
        (uuid.UUID(int=1), str(uuid.UUID(int=1)).encode()),
        (-2, struct.pack(">q", -2)),
        (1.5, struct.pack(">d", 1.5)),
        (True, b"true"),
        (2**63, str(2**63).encode()),
        ({"b": b"\xff"}, json.dumps({"b": "\xff"}).encode()),
        (wrappers_pb2.StringValue(value="x"), b'"x"'),
    ],
)
def test_any_value_becomes_bytes(value: Any, expected: bytes | None) -> None:
    box = Outbox()
    send(box, context(original_value=value))
    assert box.sent[0][2] == expected


@pytest.mark.parametrize(
    "cipher",
    [
        b"\xff\xfe\x80\x81",
        b'"quoted\\"',
        b"line\r\nline\0",
        b"12345678",
        b"\0\0\0\0\x01{}",
        b"\xef\xbb\xbf{}",
        b"null",
        b"QUJD",
        b"",
    ],
)
def test_a_message_as_it_came_is_never_taken_for_something_else(cipher: bytes) -> None:
    """Ciphertext is random: now and then it is text, JSON, base64 or begins like a frame."""
    secret = rule("enc", "ENCRYPT", kind=RuleKind.TRANSFORM, mode=RuleMode.WRITEREAD)
    failed = rule("c", expr="false")
    avro = parse(schema().schema_str)
    box = Outbox()
    for whole in (cipher, bytearray(cipher), memoryview(cipher)):
        send(
            box,
            context(
                failed,
                rules=[failed, secret],
                original_key=whole,
                original_value=whole,
                inline_tags=inline_tags(avro),
                field_transformer=field_transformer(avro),
            ),
        )
    assert [sent[1:3] for sent in box.sent] == [(cipher, cipher)] * 3


def test_fields_that_would_have_been_encrypted_are_redacted() -> None:
    secret = rule("enc", "ENCRYPT", kind=RuleKind.TRANSFORM, mode=RuleMode.WRITEREAD, tags=["PII"])
    failed = rule("c", expr="false")
    avro = parse(schema().schema_str)
    both = context(
        failed,
        rules=[secret, failed],
        index=1,
        original_value=PERSON,
        inline_tags=inline_tags(avro),
        field_transformer=field_transformer(avro),
    )
    box = Outbox()
    send(box, both)
    send(box, both, **{"dlq.redact.rule.types": "OTHER"})
    assert json.loads(box.sent[0][2]) == {"name": "<REDACTED>", "nick": None, "age": 36}
    assert json.loads(box.sent[1][2]) == PERSON
    assert PERSON["name"] == "Ada"


def test_a_rule_that_encrypts_all_fields_has_all_redacted() -> None:
    some = rule("some", "ENCRYPT", kind=RuleKind.TRANSFORM, mode=RuleMode.WRITEREAD, tags=["OTHER"])
    every = rule("every", "ENCRYPT", kind=RuleKind.TRANSFORM, mode=RuleMode.WRITEREAD)
    failed = rule("c", expr="false")
    avro = parse(schema().schema_str)
    both = context(
        failed, rules=[some, every, failed], original_value=PERSON, field_transformer=field_transformer(avro)
    )
    box = Outbox()
    send(box, both)
    assert json.loads(box.sent[0][2])["name"] == "<REDACTED>"


def test_the_topic_may_come_from_the_rule_and_must_come_from_somewhere() -> None:
    box = Outbox()
    send(box, context(rule(params={"dlq.topic": "of-rule"})), **{"dlq.topic": None})
    assert box.sent[0][0] == "of-rule"
    with pytest.raises(SerializationError, match=r"no topic for dead letters: set dlq\.topic"):
        DlqAction({"producer": box}).run(context(), None, None)


def test_flushing_says_what_is_left() -> None:
    assert "1 dead letters are not delivered yet" in send(Outbox(left=1), context(), **{"dlq.auto.flush": "true"})


def test_a_dead_letter_that_can_not_be_sent_is_told() -> None:
    text = send(Outbox(error=BufferError("full")), context(), ValueError("bad"))
    assert "bad; it could not be sent to 'dead' either: full" in text


def test_a_serializer_configures_it() -> None:
    box = Outbox()
    action = DlqAction.register()
    action.configure({}, {"dlq.topic": "conf", "producer": box, "other": 1})
    with pytest.raises(SerializationError):
        action.run(context(ser_ctx=ctx(MessageField.KEY), original_key=1), None, None)
    assert box.sent[0][:2] == ("conf", struct.pack(">q", 1))
    action.close()
    RuleRegistry.get_global_instance().clear()


def test_without_a_producer_it_makes_its_own() -> None:
    from kafka_core import Consumer
    from kafka_core.broker import EmbeddedCluster

    with EmbeddedCluster() as cluster:
        cluster.create_topic("dead", 1)
        action = DlqAction({"dlq.topic": "dead", "bootstrap.servers": cluster.bootstrap_servers})
        with pytest.raises(SerializationError, match="went to 'dead'"):
            action.run(context(original_key="k", original_value=b"v"), None, ValueError("bad"))
        action.close()
        with Consumer(
            {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
        ) as reader:
            reader.subscribe(["dead"])
            found = reader.consume(1, 10)[0]
        assert (found.key(), found.value()) == (b"k", b"v")
        assert ("__rule.name", b"r") in found.headers()
