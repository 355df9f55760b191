"""The contract of a registry, through the blocking and the asyncio client: embedded both ways, and a real one.

What the real one lacks or does differently is listed in `registry_differences`.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from registry import (
    AsyncSchemaRegistryClient,
    IncompatibleSchemaError,
    InvalidSchemaError,
    ResponseError,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
)
from registry.dev import serve
from tests.contract.registry_differences import CLIENT_DIFFERENCES

KINDS = ["in process", "over http", pytest.param("real", marks=pytest.mark.registry)]


@pytest.fixture(scope="module", params=KINDS)
def registry_url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "in process":
        yield f"mock://contract-{uuid.uuid4().hex}"
        return
    if request.param == "real":
        yield request.getfixturevalue("real_registry").url
        return
    with serve() as server:
        yield server.url


@pytest.fixture(autouse=True)
def _differs(request: pytest.FixtureRequest) -> None:
    """A test about what the real registry does differently has to fail there."""
    why = CLIENT_DIFFERENCES.get(request.node.originalname)
    if why is not None and request.node.callspec.params["registry_url"] == "real":
        request.applymarker(pytest.mark.xfail(reason=why, strict=True))


class Awaited:
    """The asyncio client behind blocking calls, so that one suite serves both."""

    def __init__(self, url: str) -> None:
        self._runner = asyncio.Runner()
        self._client = self._runner.run(self._made(url))

    async def _made(self, url: str) -> AsyncSchemaRegistryClient:
        return AsyncSchemaRegistryClient({"url": url})

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        return lambda *args, **kwargs: self._runner.run(method(*args, **kwargs))

    def close(self) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()


@pytest.fixture(params=[SchemaRegistryClient, Awaited])
def client(request: pytest.FixtureRequest, registry_url: str) -> Iterator[Any]:
    made = request.param(registry_url if request.param is Awaited else {"url": registry_url})
    yield made
    made.close()


@pytest.fixture
def subject() -> str:
    return f"contract-{uuid.uuid4().hex}-value"


def record(**fields: Any) -> Schema:
    made = [{"name": name, **(spec if isinstance(spec, dict) else {"type": spec})} for name, spec in fields.items()]
    return Schema(json.dumps({"type": "record", "name": "R", "namespace": "t", "fields": made}))


def refused(call: Any, code: int) -> ResponseError:
    with pytest.raises(ResponseError) as caught:
        call()
    assert caught.value.error_code == code, caught.value
    return caught.value


def test_register_look_up_and_read(client: Any, subject: str) -> None:
    schema = record(a="int")
    schema_id = client.register_schema(subject, schema)
    assert client.register_schema(subject, schema) == schema_id
    registered = client.lookup_schema(subject, schema)
    assert (registered.schema_id, registered.subject, registered.version) == (schema_id, subject, 1)
    assert json.loads(client.get_schema(schema_id).schema_str) == json.loads(schema.schema_str)
    assert subject in client.get_subjects()
    assert client.get_versions(subject) == [1]
    assert (subject, 1) in [(v.subject, v.version) for v in client.get_schema_versions(schema_id)]
    assert "AVRO" in client.get_schema_types()


def test_subjects_of_an_id(client: Any, subject: str) -> None:
    schema_id = client.register_schema(subject, record(a="int"))
    assert client.get_subjects_by_schema_id(schema_id).count(subject) == 1


def test_one_schema_has_one_id_under_all_subjects(client: Any, subject: str) -> None:
    schema = record(only_here={"type": "int", "default": len(subject)})
    assert client.register_schema(subject, schema) == client.register_schema(subject + "-2", schema)


def test_whitespace_does_not_make_another_schema(client: Any, subject: str) -> None:
    schema = record(a="int")
    spaced = Schema(json.dumps(json.loads(schema.schema_str), indent=4))
    assert client.register_schema(subject, schema) == client.register_schema(subject, spaced)


def test_versions_and_latest(client: Any, subject: str) -> None:
    client.register_schema(subject, record(a="int"))
    assert client.get_latest_version(subject).version == 1
    second = client.register_schema(subject, record(a="int", b={"type": "int", "default": 0}))
    assert client.get_latest_version(subject).version == 2
    assert client.get_latest_version(subject).schema_id == second
    assert client.get_version(subject, 1).version == 1
    assert client.get_version(subject, "latest").version == 2
    assert client.get_versions(subject) == [1, 2]


def test_incompatible_schema_is_refused(client: Any, subject: str) -> None:
    client.register_schema(subject, record(a="int"))
    with pytest.raises(IncompatibleSchemaError) as caught:
        client.register_schema(subject, record(a="string", b="int"))
    assert caught.value.http_status_code == 409
    assert "incompatible" in str(caught.value)
    assert client.get_versions(subject) == [1]


@pytest.mark.parametrize(
    ("level", "add_optional", "add", "remove"),
    [
        ("BACKWARD", True, False, True),
        ("FORWARD", True, True, False),
        ("FULL", True, False, False),
    ],
)
def test_levels(client: Any, subject: str, level: str, add_optional: bool, add: bool, remove: bool) -> None:
    client.register_schema(subject, record(a="int", b="int"))
    answer = client.set_compatibility(subject, level)
    assert (answer.get("compatibility") or answer["compatibilityLevel"]) == level  # the second is Apicurio's key
    assert client.get_compatibility(subject) == level
    candidates = [
        record(a="int", b="int", c={"type": "int", "default": 0}),
        record(a="int", b="int", c="int"),
        record(a="int"),
    ]
    verdicts = [client.test_compatibility(subject, candidate) for candidate in candidates]
    assert verdicts == [add_optional, add, remove]


def test_level_none(client: Any, subject: str) -> None:
    client.register_schema(subject, record(a="int"))
    client.set_compatibility(subject, "NONE")
    assert client.register_schema(subject, record(a="string"))


def test_transitive_level(client: Any, subject: str) -> None:
    client.register_schema(subject, record(a="int"))
    client.register_schema(subject, record(a="int", b={"type": "int", "default": 0}))
    candidate = record(a="int", b="int")
    client.set_compatibility(subject, "BACKWARD")
    assert client.test_compatibility_all_versions(subject, candidate)
    client.set_compatibility(subject, "BACKWARD_TRANSITIVE")
    assert not client.test_compatibility_all_versions(subject, candidate)


def test_soft_and_permanent_deletion(client: Any, subject: str) -> None:
    schema_id = client.register_schema(subject, record(a="int"))
    client.register_schema(subject, record(a="int", b={"type": "int", "default": 0}))
    assert client.delete_version(subject, 1) == 1
    refused(lambda: client.get_version(subject, 1), 40402)
    assert client.get_version(subject, 1, deleted=True).version == 1
    assert client.get_schema(schema_id)
    assert client.delete_version(subject, 1, permanent=True) == 1
    assert client.delete_subject(subject) == [2]
    assert subject not in client.get_subjects()
    assert subject in client.get_subjects(deleted=True)
    assert client.delete_subject(subject, permanent=True) == [2]
    assert subject not in client.get_subjects(deleted=True)


def test_error_codes(client: Any, subject: str) -> None:
    schema = record(a="int")
    refused(lambda: client.get_latest_version(subject), 40401)
    refused(lambda: client.lookup_schema(subject, schema), 40401)
    refused(lambda: client.delete_subject(subject), 40401)
    refused(lambda: client.get_schema(2_000_000_000), 40403)
    client.register_schema(subject, schema)
    refused(lambda: client.lookup_schema(subject, record(z="int")), 40403)
    refused(lambda: client.get_version(subject, 99), 40402)
    refused(lambda: client.delete_subject(subject, permanent=True), 40405)
    client.delete_subject(subject)
    refused(lambda: client.delete_subject(subject), 40404)
    with pytest.raises(InvalidSchemaError):
        client.register_schema(subject, Schema('{"type": "nonsense"}'))


def test_error_codes_of_config(client: Any, subject: str) -> None:
    refused(lambda: client.get_compatibility(subject), 40408)
    refused(lambda: client.set_compatibility(subject, "SIDEWAYS"), 42203)
    refused(lambda: client.delete_config(subject), 40401)


def test_references(client: Any, subject: str) -> None:
    used = Schema('{"type":"record","name":"t.Used","fields":[{"name":"v","type":"int"}]}')
    client.register_schema(subject + "-used", used)
    text = json.dumps({"type": "record", "name": "t.Using", "fields": [{"name": "u", "type": "t.Used"}]})
    using = Schema(text, references=[SchemaReference("t.Used", subject + "-used", 1)])
    schema_id = client.register_schema(subject, using)
    assert client.get_schema(schema_id).references == using.references
    assert client.get_referenced_by(subject + "-used", 1) == [schema_id]
    refused(lambda: client.delete_version(subject + "-used", 1), 42206)
    with pytest.raises(InvalidSchemaError):
        client.register_schema(subject + "-no", Schema(text))


def test_names_that_need_quoting(client: Any, subject: str) -> None:
    name = f"{subject}/ä b?c#d%"
    client.register_schema(name, record(a="int"))
    assert name in client.get_subjects()
    assert client.get_latest_version(name).subject == name


def test_config(client: Any, subject: str) -> None:
    client.register_schema(subject, record(a="int"))
    client.set_compatibility(subject, "FULL")
    assert client.get_config(subject).compatibility_level == "FULL"
    client.delete_config(subject)
    assert client.get_config().compatibility_level == "BACKWARD"


def test_config_is_gone(client: Any, subject: str) -> None:
    client.register_schema(subject, record(a="int"))
    client.set_compatibility(subject, "FULL")
    client.delete_config(subject)
    refused(lambda: client.get_config(subject), 40408)
