from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from registry import ResponseError, SchemaRegistryClient, SchemaRegistryError
from serdes import (
    AssociatedNameStrategy,
    MessageField,
    SerializationContext,
    SerializationError,
    record_subject_name_strategy,
    reference_subject_name_strategy,
    topic_record_subject_name_strategy,
    topic_subject_name_strategy,
)
from serdes.asks import Inquiry
from serdes.engine.drivers import drive
from serdes.engine.plan import default_strategy
from serdes.subject import subject_of
from tests.unit.serdes.fake import FakeRegistry

CONTEXT = SerializationContext("orders", MessageField.KEY)
FALLBACK = "subject.name.strategy.fallback.type"
CLUSTER = "subject.name.strategy.kafka.cluster.id"


def test_names() -> None:
    assert topic_subject_name_strategy(CONTEXT, None) == "orders-key"
    assert topic_record_subject_name_strategy(CONTEXT, "shop.Order") == "orders-shop.Order"
    assert record_subject_name_strategy(None, "shop.Order") == "shop.Order"
    assert reference_subject_name_strategy(None, SimpleNamespace(name="a/b.proto")) == "a/b.proto"


@pytest.mark.parametrize("strategy", [topic_subject_name_strategy, topic_record_subject_name_strategy])
def test_a_context_is_needed(strategy: Any) -> None:
    with pytest.raises(SerializationError, match="SerializationContext is required") as caught:
        strategy(None, "shop.Order")
    assert isinstance(caught.value, ValueError)  # as in confluent_kafka


def test_a_name_is_needed() -> None:
    with pytest.raises(SerializationError, match="the schema has no name"):
        topic_record_subject_name_strategy(CONTEXT, None)
    assert record_subject_name_strategy(CONTEXT, None) is None  # as in confluent_kafka
    for strategy in (
        record_subject_name_strategy,
        AssociatedNameStrategy({"subject.name.strategy.fallback.type": "RECORD"}),
    ):
        with pytest.raises(SerializationError, match="the schema has no name"):
            ask(FakeRegistry(), strategy, None)


def ask(registry: Any, strategy: Any, name: str | None = "shop.Order") -> str | None:
    flow: Inquiry[str | None] = subject_of(strategy, CONTEXT, name)
    return drive(registry, flow)


def test_the_associated_subject() -> None:
    registry = FakeRegistry()
    registry.associations["orders", "key"] = [SimpleNamespace(subject="mine")]
    assert ask(registry, AssociatedNameStrategy()) == "mine"


@pytest.mark.parametrize(
    ("fallback", "subject"), [("topic", "orders-key"), ("RECORD", "shop.Order"), ("TOPIC_RECORD", "orders-shop.Order")]
)
def test_without_one_a_fallback_decides(fallback: str, subject: str) -> None:
    assert ask(FakeRegistry(), AssociatedNameStrategy({FALLBACK: fallback})) == subject
    assert ask(FakeRegistry(), AssociatedNameStrategy()) == "orders-key"


def test_none_or_several_are_errors() -> None:
    registry = FakeRegistry()
    with pytest.raises(SerializationError, match="No associated subject found for topic orders"):
        ask(registry, AssociatedNameStrategy({FALLBACK: "NONE"}))
    registry.associations["orders", "key"] = [SimpleNamespace(subject="a"), SimpleNamespace(subject="b")]
    with pytest.raises(SerializationError, match="Multiple associated subjects found for topic orders"):
        ask(registry, AssociatedNameStrategy())


class Asked(FakeRegistry):
    def get_associations_by_resource_name(
        self, name: str, namespace: str, kind: str, types: list[str], *rest: Any
    ) -> list[Any]:
        if namespace == "refused":
            raise ResponseError(403, 40301, "forbidden")
        return [SimpleNamespace(subject=f"{namespace}/{kind}/{types[0]}")]


def test_the_clusters_id_is_the_namespace() -> None:
    assert ask(Asked(), AssociatedNameStrategy()) == "-/topic/key"
    named = AssociatedNameStrategy({CLUSTER: "lkc-1"})
    named.set_cluster_id_resolver(lambda: "other")
    assert ask(Asked(), named) == "lkc-1/topic/key"
    resolved = AssociatedNameStrategy()
    resolved.set_cluster_id_resolver(lambda: "lkc-2")
    assert ask(Asked(), resolved) == "lkc-2/topic/key"
    resolved.set_cluster_id_resolver(lambda: str(1 // 0))
    with pytest.raises(SerializationError, match="the Kafka cluster's id can't be found"):
        ask(Asked(), resolved)


def test_a_refusal_is_an_error() -> None:
    with pytest.raises(SchemaRegistryError, match="forbidden"):
        ask(Asked(), AssociatedNameStrategy({CLUSTER: "refused"}))


def answered(status: int, body: bytes, kind: str) -> str | None:
    """The subject without a strategy of one's own, from a registry (or what stands in its place) that answers this."""
    transport = httpx.MockTransport(lambda _: httpx.Response(status, content=body, headers={"Content-Type": kind}))
    with SchemaRegistryClient({"url": "http://r", "max.retries": 0}, transport=transport) as client:
        return ask(client, default_strategy(client))


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"error_code": 40401, "message": "not found"}', "application/vnd.schemaregistry.v1+json"),
        (b'{"error_code": 404, "message": "HTTP 404 Not Found"}', "application/vnd.schemaregistry.v1+json"),
        (b'{"message": "Not found", "code": 404}', "application/vnd.schemaregistry.v1+json"),
        (b"", "application/json"),
        (b'"Not Found"', "application/json"),
    ],
    ids=[
        "no association",
        "no such call",
        "Redpanda: no such path",
        "Apicurio: no such path",
        "Karapace: no such path",
    ],
)
def test_a_registry_that_has_no_association_or_no_such_call_leaves_it_to_the_fallback(body: bytes, kind: str) -> None:
    assert answered(404, body, kind) == "orders-key"


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (404, b"<html><title>nginx</title></html>", "text/html"),
        (404, b"default backend - 404", "text/plain"),
        (404, b"", "text/plain"),
        (404, b"", "text/html; charset=utf-8"),
        (404, b" ", "application/json"),
        (404, b"Not Found", "text/plain"),
        (404, b'{"detail": "Not Found"}', "application/json"),
        (405, b"", "application/json"),
        (404, b'{"message": "no Route matched with those values"}', "application/json"),
        (404, b'{"status": 404, "error": "Not Found", "path": "/associations"}', "application/json"),
        (404, b'{"kind": "Status", "message": "Not found", "code": 404}', "application/json"),
        (404, b'{"error_code": 40301, "message": "forbidden"}', "application/json"),
        (405, b'{"error_code": 405, "message": "HTTP 405 Method Not Allowed"}', "application/json"),
        (403, b'{"error_code": 40401, "message": "odd"}', "application/json"),
    ],
)
def test_only_a_registrys_own_answer_chooses_the_fallback(status: int, body: bytes, kind: str) -> None:
    with pytest.raises(SchemaRegistryError):
        answered(status, body, kind)


def test_a_fallback_must_be_known() -> None:
    with pytest.raises(
        ValueError, match=r"fallback\.type: ASSOCIATED\. Valid values are: TOPIC, TOPIC_RECORD, RECORD, NONE"
    ):
        AssociatedNameStrategy({FALLBACK: "ASSOCIATED"})
