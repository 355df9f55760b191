"""Requests of both registry clients: the same method, path, query, body and headers, call by call.

Unit tests of services put mocks in front of the client that look at these.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType
from typing import Any, ClassVar, Final

import httpx
import pytest
import respx
from respx.mocks import HTTPCoreMocker

import registry
from kserdes.compat.confluent.schema_registry import http_mocks
from registry.client.networks import networks

pytestmark = pytest.mark.interop
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # authlib warns of httpx when it is imported
    peer = pytest.importorskip("confluent_kafka.schema_registry", exc_type=ImportError)

TEXT: Final = '{"type":"string"}'
REGISTERED: Final = {"id": 1, "subject": "s", "version": 1, "schema": TEXT, "guid": "g"}
ANSWERS: Final[list[tuple[str, Any]]] = [
    (r"GET /schemas/ids/\d+/versions", [{"subject": "s", "version": 1}]),
    (r"GET /schemas/(ids/\d+/subjects|types)", ["s"]),
    (r"GET /schemas/.*", {"schema": TEXT}),
    (r"GET /(subjects|contexts)", ["s"]),
    (r"GET /config.*", {"compatibilityLevel": "FULL"}),
    (r"(PUT|DELETE) /config.*", {"compatibility": "FULL"}),
    (r"\w+ /mode.*", {"mode": "READWRITE"}),
    (r"POST /compatibility.*", {"is_compatible": True}),
    (r"GET /.*/referencedby", [1]),
    (r"GET /subjects/[^/]+/versions", [1, 2]),
    (r"(GET|POST) /subjects/.*", REGISTERED),
    (r"DELETE /subjects/[^/]+/versions/.*", 1),
    (r"DELETE /subjects/.*", [1]),
    (r"GET /associations/.*", []),
    (r"\w+ /associations.*", {"resourceName": "r", "resourceNamespace": "n", "resourceId": "i", "resourceType": "t"}),
]
"""Method and path to the answer; the first that matches."""

CALLS: Final = """
c.get_schema(1)
c.get_schema(1, 's')
c.get_schema(1, 's/ü x')
c.get_schema(1, subject_name='s', fmt='serialized')
c.get_schema(1, subject_name='s', fmt='serialized', reference_format='x')
c.get_schema_by_guid('g')
c.get_schema_by_guid('g', fmt='x')
c.get_schema_types()
c.get_subjects()
c.get_subjects('p', True, True, 3, 4)
c.get_subjects(subject_prefix='p')
c.get_subjects(deleted=True)
c.get_subjects_by_schema_id(1)
c.get_subjects_by_schema_id(1, 's', True, 1, 2)
c.get_schema_versions(1)
c.get_schema_versions(1, 's', True, 1, 2)
c.get_contexts()
c.get_contexts(1, 2)
c.get_versions('s')
c.get_versions('s/x', True, True, 1, 2)
c.get_version('s')
c.get_version('s', 1)
c.get_version('s', 1, True, 'f')
c.get_version('s', 'latest', True)
c.get_latest_version('s')
c.get_latest_version('s', 'f')
c.get_latest_with_metadata('s', {'a': 'b', 'c': 'd'})
c.get_latest_with_metadata('s', {'a': 'b'}, True, 'f')
c.get_referenced_by('s')
c.get_referenced_by('s', 1, 1, 2)
c.lookup_schema('s', S)
c.lookup_schema('s', S, True)
c.lookup_schema('s', S, True, 'f', True)
c.lookup_schema('s', S, deleted=True)
c.register_schema('s', S)
c.register_schema('s', S, True)
c.register_schema('a/b c:d', S)
c.register_schema_full_response('s', S)
c.register_schema('s', n.Schema('syntax="proto3";', 'PROTOBUF', [n.SchemaReference('n', 's', 1)]))
c.register_schema('s', n.Schema(S.schema_str, 'AVRO', []))
c.delete_subject('s')
c.delete_subject('s', True)
c.delete_version('s', 1)
c.delete_version('s', 1, True)
c.set_compatibility(level='FULL')
c.set_compatibility('s', 'FULL')
c.get_compatibility()
c.get_compatibility('s')
c.test_compatibility('s', S)
c.test_compatibility('s', S, 1, True, True)
c.test_compatibility('s', S, version=3)
c.test_compatibility_all_versions('s', S)
c.test_compatibility_all_versions('s', S, True, True)
c.get_config()
c.get_config('s')
c.delete_config()
c.delete_config('s')
c.get_mode('s')
c.update_mode('s', 'READONLY')
c.update_mode('s', 'READONLY', True)
c.delete_mode('s')
c.get_global_mode()
c.update_global_mode('READONLY')
c.update_global_mode('READONLY', True)
c.get_associations_by_resource_name('r', 'n')
c.get_associations_by_resource_name('r x', 'n', 't', ['key', 'value'], 1, 2)
c.delete_associations('i')
c.delete_associations('i', 't', ['key', 'value'], True)
c.create_association(R('r', 'n', 'i', 'topic', [I('s', 'value', 'STRONG', True, S, True)]))
c.create_association(R('r', 'n', 'i', 'topic', [I(subject='s', association_type='value')]))
c.set_config('s', n.ServerConfig(compatibility=n.ConfigCompatibilityLevel.FULL))
""".strip().splitlines()
"""`c` is the client, `n` the package, `S` a schema of Avro, `R` a request for associations, `I` what one holds."""

WRONG: Final = [
    f"c.{call}".replace("NAME", value)
    for call in (
        *("get_version(NAME)", "get_latest_version(NAME)", "get_versions(NAME)", "get_referenced_by(NAME)"),
        *("get_mode(NAME)", "delete_mode(NAME)", "update_mode(NAME, 'READONLY')", "delete_subject(NAME)"),
        *("delete_version(NAME, 1)", "lookup_schema(NAME, S)", "register_schema(NAME, S)"),
        *("test_compatibility(NAME, S)", "delete_associations(NAME)"),
        *("get_associations_by_resource_name(NAME, 'n')", "get_associations_by_resource_name('r', NAME)"),
    )
    for value in ("None", "0", "[]", "{}", "3", "object()")
]
"""Names of subjects and resources that are no text. A mode of None would be the whole registry's."""
LOOSE: Final = """
c.delete_subject('s', 1)
c.delete_subject('s', '')
c.delete_subject('s', None)
c.delete_version('s', 1, 1)
c.delete_version('s', 1, 0)
c.set_compatibility('s', 'full_transitive')
c.set_compatibility(level='none')
""".strip().splitlines()
"""Flags that are no bool, levels in small letters."""

OURS_TOO: Final = r"&(deletedOnly=true|referenceFormat=\w+)"
"""confluent_kafka writes `deleted_only` and `reference_format`, which registries do not know: ours writes both."""

Seen = list[tuple[str, str, Any, dict[str, str]]]


class Handler(BaseHTTPRequestHandler):
    """Answers as a registry might, and keeps what it was asked."""

    protocol_version = "HTTP/1.1"
    seen: Seen = []

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.seen.append((self.command, self.path, json.loads(body) if body else None, headers))
        place = f"{self.command} {self.path.partition('?')[0]}"
        answer = json.dumps(next(answer for pattern, answer in ANSWERS if re.fullmatch(pattern, place))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = do_PUT = do_DELETE = handle_any

    def log_message(self, format: str, *arguments: Any) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def requests(package: ModuleType, url: str, call: str, asynchronous: bool = False) -> Seen:
    """The requests of a new client's call."""
    Handler.seen.clear()
    names: dict[str, Any] = {
        "n": package,
        "S": package.Schema(TEXT),
        "R": package.AssociationCreateOrUpdateRequest,
        "I": package.AssociationCreateOrUpdateInfo,
    }

    async def run() -> None:
        async with package.AsyncSchemaRegistryClient({"url": url}) as names["c"]:
            await eval(call, names)

    if asynchronous:
        asyncio.run(run())
    else:
        with package.SchemaRegistryClient({"url": url}) as names["c"]:
            eval(call, names)
    return [(method, re.sub(OURS_TOO, "", path), body, headers) for method, path, body, headers in Handler.seen]


@pytest.mark.parametrize("call", WRONG)
def test_names_that_are_no_text_are_refused(url: str, call: str) -> None:
    for package in (peer, registry):
        with pytest.raises(TypeError):
            requests(package, url, call)
        assert Handler.seen == []


@pytest.mark.parametrize("call", [*CALLS, *LOOSE])
def test_the_same_requests_are_sent(url: str, call: str) -> None:
    theirs = requests(peer, url, call)
    ours = requests(registry, url, call)
    assert [item[:3] for item in ours] == [item[:3] for item in theirs]
    assert len(ours) == 1
    for mine, other in zip(ours, theirs, strict=True):
        assert set(mine[3]) == set(other[3])
        named = ("content-type", "confluent-accept-unknown-properties")
        assert [mine[3].get(name) for name in named] == [other[3].get(name) for name in named]
        assert mine[3]["confluent-client-version"] == f"python/{registry.__version__}"


@pytest.mark.parametrize("call", ["c.get_schema(1, 's')", "c.register_schema('s', S)", "c.get_subjects()"])
def test_the_clients_for_tasks_send_the_same(url: str, call: str) -> None:
    theirs = requests(peer, url, call, asynchronous=True)
    ours = requests(registry, url, call, asynchronous=True)
    assert [item[:3] for item in ours] == [item[:3] for item in theirs]
    assert len(ours) == 1


def test_the_answer_to_a_level_is_the_registrys(url: str) -> None:
    for package in (peer, registry):
        with package.SchemaRegistryClient({"url": url}) as client:
            assert client.set_compatibility(level="FULL") == {"compatibility": "FULL"}


def test_references_are_equal_to_a_list() -> None:
    for package in (peer, registry):
        reference = package.SchemaReference("n", "s", 1)
        schema = package.Schema(TEXT, "JSON", [reference])
        assert schema.references == [reference]
        assert (schema.references != [reference], schema.references != []) == (False, True)
        assert package.Schema(TEXT).references == []
        assert repr(schema.references) == f"[{reference!r}]"
    assert len({registry.Schema(TEXT, "JSON", []), registry.Schema(TEXT, "JSON")}) == 1


def test_mocks_of_httpx_see_them() -> None:
    with respx.mock(base_url="http://registry") as mock:
        route = mock.get("/subjects", params={"deleted": "false"}).mock(return_value=httpx.Response(200, json=["a"]))
        with registry.SchemaRegistryClient({"url": "http://registry"}) as client:
            assert client.get_subjects() == ["a"]
        assert route.call_count == 1


class Httpx2(HTTPCoreMocker):
    """The mocks that pytest-httpx2 makes of respx, of the library that confluent_kafka sends through."""

    name = "httpx2-of-this-test"
    targets: ClassVar = [target.replace("httpcore.", "httpcore2.") for target in HTTPCoreMocker.targets]


@pytest.fixture
def asks_mocks_of_httpx2() -> Iterator[None]:
    http_mocks.install()
    yield
    networks.clear()


@pytest.mark.usefixtures("asks_mocks_of_httpx2")
@pytest.mark.parametrize("package", [registry, peer], ids=["ours", "theirs"])
def test_mocks_of_httpx2_see_them(package: ModuleType) -> None:
    conf = {"url": "http://registry", "max.retries": 1, "retries.wait.ms": 1, "basic.auth.user.info": "u:p"}
    with respx.mock(using=Httpx2.name, base_url="http://registry") as mock:
        route = mock.get("/subjects").mock(side_effect=[httpx.Response(503, json={}), httpx.Response(200, json=["a"])])
        written = mock.post("/subjects/s/versions").respond(json=REGISTERED)
        with package.SchemaRegistryClient(conf) as client:
            assert client.get_subjects() == ["a"]
            assert client.register_schema("s", package.Schema(TEXT)) == 1
        assert (route.call_count, written.call_count) == (2, 1)
        assert route.calls[0].request.headers["authorization"] == "Basic dTpw"
        assert json.loads(written.calls[0].request.content)["schema"] == TEXT

        async def run() -> None:
            async with package.AsyncSchemaRegistryClient(conf) as client:
                assert await client.register_schema("s", package.Schema(TEXT)) == 1

        asyncio.run(run())
        assert written.call_count == 2


@pytest.mark.usefixtures("asks_mocks_of_httpx2")
def test_errors_that_mocks_of_httpx2_raise_are_those_of_a_network() -> None:
    httpx2 = pytest.importorskip("httpx2")
    conf = {"url": "http://a,http://b", "max.retries": 0}
    with respx.mock(using=Httpx2.name) as mock:
        mock.get("http://a/subjects").mock(side_effect=httpx2.ConnectError("away"))
        other = mock.get("http://b/subjects").mock(
            side_effect=[httpx2.ReadTimeout("late"), httpx.Response(200, json=["b"])]
        )
        with registry.SchemaRegistryClient(conf) as client:
            with pytest.raises(registry.SchemaRegistryError, match=r"late|timed out"):
                client.get_subjects()
            assert client.get_subjects() == ["b"]
        assert other.call_count == 2

        async def run() -> None:
            other.mock(side_effect=httpx2.ConnectError("gone"))
            async with registry.AsyncSchemaRegistryClient(conf) as client:
                with pytest.raises(registry.SchemaRegistryError, match="gone"):
                    await client.get_subjects()

        asyncio.run(run())
