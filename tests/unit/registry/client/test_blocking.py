from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import respx
import trustme

from registry import (
    AsyncSchemaRegistryClient,
    IncompatibleSchemaError,
    RegisteredSchema,
    ResponseError,
    Schema,
    SchemaRegistryClient,
    TransportError,
)
from registry.client.config import ClientConfig
from registry.client.exchange import unreachable
from registry.client.tls import tls_context

SCHEMA = Schema('{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}')
URL = "http://registry.test"
QUICK = {"url": URL, "max.retries": 0}


@pytest.fixture
def server() -> Iterator[respx.MockRouter]:
    with respx.mock(base_url=URL, assert_all_called=False) as router:
        yield router


@pytest.fixture
def client() -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient(QUICK) as made:
        yield made


def test_register_and_read_back_without_network(request: pytest.FixtureRequest) -> None:
    with SchemaRegistryClient.new_client({"url": f"mock://{request.node.nodeid}"}) as client:
        schema_id = client.register_schema("s", SCHEMA)
        assert client.get_schema(schema_id) == SCHEMA
        latest = client.get_latest_version("s")
        assert latest == RegisteredSchema("s", 1, schema_id, latest.guid, SCHEMA)
        assert client.get_subjects() == ["s"]


def test_clients_of_one_mock_name_share_a_registry(request: pytest.FixtureRequest) -> None:
    url = f"mock://{request.node.nodeid}"
    with SchemaRegistryClient({"url": url}) as one, SchemaRegistryClient({"url": url}) as two:
        assert two.get_schema(one.register_schema("s", SCHEMA)) == SCHEMA
    with SchemaRegistryClient({"url": url + "/other"}) as other:
        assert other.get_subjects() == []


def test_incompatible_schema_is_refused_with_reasons(request: pytest.FixtureRequest) -> None:
    with SchemaRegistryClient({"url": f"mock://{request.node.nodeid}"}) as client:
        client.register_schema("s", SCHEMA)
        with pytest.raises(IncompatibleSchemaError, match="string can't read int") as caught:
            client.register_schema("s", Schema(SCHEMA.schema_str.replace('"int"', '"string"')))
        assert any("TYPE_MISMATCH" in reason for reason in caught.value.differences)


def test_requests_and_answers(server: respx.MockRouter, client: SchemaRegistryClient) -> None:
    route = server.get("/subjects", params={"deleted": "true"}).respond(json=["a"])
    assert client.get_subjects(deleted=True) == ["a"]
    assert route.calls.last.request.headers["Accept"].startswith("application/vnd.schemaregistry")


def test_error_answers(server: respx.MockRouter, client: SchemaRegistryClient) -> None:
    server.get("/schemas/ids/9").respond(404, json={"error_code": 40403, "message": "Schema 9 not found"})
    with pytest.raises(ResponseError) as caught:
        client.get_schema(9)
    assert (caught.value.http_status_code, caught.value.error_code) == (404, 40403)


@pytest.mark.parametrize(
    ("error", "sent"),
    [
        (httpx.ConnectError("refused"), False),
        (httpx.ConnectTimeout("t"), False),
        (httpx.PoolTimeout("t"), False),
        (httpx.ReadTimeout("t"), True),
        (httpx.RemoteProtocolError("closed"), True),
        (httpx.ReadError(""), True),
    ],
)
def test_transport_errors_become_ours(
    server: respx.MockRouter, client: SchemaRegistryClient, error: httpx.RequestError, sent: bool
) -> None:
    assert unreachable(error).sent is sent
    assert unreachable(error).reason
    server.get("/subjects").mock(side_effect=error)
    with pytest.raises(TransportError, match=f"no answer from {URL}") as caught:
        client.get_subjects()
    assert caught.value.__cause__ is error


def test_redirects_are_not_followed_with_credentials(server: respx.MockRouter) -> None:
    elsewhere = server.get("https://evil.test/subjects").respond(json=[])
    server.get("/subjects").respond(302, headers={"Location": "https://evil.test/subjects"})
    with (
        SchemaRegistryClient({**QUICK, "basic.auth.user.info": "a:b"}) as client,
        pytest.raises(ResponseError, match="302"),
    ):
        client.get_subjects()
    assert not elsewhere.called


def test_no_secret_in_repr_or_errors(server: respx.MockRouter) -> None:
    server.get("/subjects").respond(401, text="no")
    with SchemaRegistryClient({"url": "http://alice:geheim@registry.test", "max.retries": 0}) as client:
        with pytest.raises(ResponseError) as caught:
            client.get_subjects()
        assert "geheim" not in repr(client) + repr(caught.value)
        assert server.calls.last.request.headers["Authorization"].startswith("Basic ")


def in_threads(count: int, function: Callable[[], object]) -> list[object]:
    results: list[object] = []

    def run() -> None:
        try:
            results.append(function())
        except ResponseError as error:
            results.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(results) == count
    return results


def waiters(future: Any) -> int:
    return len(future._condition._waiters)


class Gate:
    """A server that answers when all of some threads are known to wait."""

    def __init__(self, answer: httpx.Response, client: SchemaRegistryClient, waiting: int) -> None:
        self._answer, self._client, self._waiting = answer, client, waiting

    def __call__(self, request: httpx.Request) -> httpx.Response:
        flights = self._client._flights
        while True:
            with flights._lock:
                futures = [flight.future for flight in flights._under_way.values()]
            if sum(waiters(future) for future in futures) >= self._waiting:
                return self._answer


def test_concurrent_look_ups_make_one_request(server: respx.MockRouter, client: SchemaRegistryClient) -> None:
    route = server.get("/schemas/ids/1").mock(
        side_effect=Gate(httpx.Response(200, json={"schema": '"int"'}), client, 9)
    )
    assert in_threads(10, lambda: client.get_schema(1)) == [Schema('"int"')] * 10
    assert route.call_count == 1


def test_concurrent_look_ups_share_the_error_but_not_the_instance(
    server: respx.MockRouter, client: SchemaRegistryClient
) -> None:
    answer = httpx.Response(404, json={"error_code": 40403, "message": "gone"})
    route = server.get("/schemas/ids/1").mock(side_effect=Gate(answer, client, 4))
    errors = in_threads(5, lambda: client.get_schema(1))
    assert {getattr(error, "error_message", None) for error in errors} == {"gone"}
    assert len({str(error) for error in errors}) == 1
    assert len({id(error) for error in errors}) == 5
    assert route.call_count == 1


def test_an_error_is_not_remembered(server: respx.MockRouter, client: SchemaRegistryClient) -> None:
    route = server.get("/schemas/ids/1")
    route.side_effect = [httpx.Response(404, json={}), httpx.Response(200, json={"schema": '"int"'})]
    with pytest.raises(ResponseError):
        client.get_schema(1)
    assert client.get_schema(1) == Schema('"int"')


def test_an_interrupted_look_up_is_done_by_who_waits(server: respx.MockRouter, client: SchemaRegistryClient) -> None:
    # events: A asks; B waits for A; A gets Ctrl-C; B asks for itself
    gate = Gate(httpx.Response(200), client, 1)
    answers: list[Callable[[httpx.Request], httpx.Response]] = [
        gate,
        lambda _: httpx.Response(200, json={"schema": '"int"'}),
    ]

    def answer(request: httpx.Request) -> httpx.Response:
        if len(answers) == 2:
            answers.pop(0)(request)
            raise KeyboardInterrupt
        return answers[0](request)

    server.get("/schemas/ids/1").mock(side_effect=answer)
    found: list[object] = []

    def first() -> None:
        with pytest.raises(KeyboardInterrupt):
            client.get_schema(1)
        found.append("interrupted")

    one = threading.Thread(target=first)
    one.start()
    while not client._flights._under_way:
        pass
    found.append(client.get_schema(1))
    one.join(60)
    assert "interrupted" in found
    assert Schema('"int"') in found


def test_caches_can_be_cleared(server: respx.MockRouter, client: SchemaRegistryClient) -> None:
    ids = server.get("/schemas/ids/1").respond(json={"schema": '"int"'})
    place = {"id": 1, "schema": '"int"', "subject": "s", "version": 1}
    latest = server.get("/subjects/s/versions/latest").respond(json=place)

    def both() -> tuple[int, int]:
        client.get_schema(1)
        client.get_latest_version("s")
        return ids.call_count, latest.call_count

    assert [both(), both()] == [(1, 1), (1, 1)]
    client.clear_latest_caches()
    assert both() == (1, 2)
    client.clear_caches()
    assert both() == (2, 3)


def test_closed_client_raises(client: SchemaRegistryClient) -> None:
    client.close()
    with pytest.raises(TransportError, match="the registry client is closed"):
        client.get_subjects()


def test_config_gives_back_what_was_given(client: SchemaRegistryClient) -> None:
    conf = client.config()
    assert conf == QUICK
    conf.clear()
    assert client.config() == QUICK


def test_tls_files(tmp_path_factory: pytest.TempPathFactory) -> None:
    import ssl

    folder = tmp_path_factory.mktemp("registry-tls")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    authority.issue_cert("client.test").private_key_and_cert_chain_pem.write_to_path(folder / "client.pem")
    files = {"ssl.ca.location": str(folder / "ca.pem"), "ssl.certificate.location": str(folder / "client.pem")}
    context = tls_context(ClientConfig.parse({"url": "https://a", **files}))
    assert isinstance(context, ssl.SSLContext)
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert len(context.get_ca_certs()) == 1
    unchecked = tls_context(ClientConfig.parse({"url": "https://a", "ssl.verify": False}))
    assert isinstance(unchecked, ssl.SSLContext)
    assert unchecked.verify_mode is ssl.CERT_NONE
    assert tls_context(ClientConfig.parse({"url": "https://a"})) is True
    with pytest.raises(ValueError, match=r"TLS files of the registry client \(.*missing\.pem\) can't be used"):
        SchemaRegistryClient({"url": "https://a", "ssl.ca.location": str(folder / "missing.pem")})
    with pytest.raises(FileNotFoundError):
        SchemaRegistryClient({"url": "https://a", "ssl.ca.location": str(folder / "missing.pem")})
    (folder / "wrong.pem").write_text("no certificate")
    for name in ("ssl.ca.location", "ssl.certificate.location"):
        with pytest.raises(ssl.SSLError, match=r"wrong\.pem\) can't be used"):
            SchemaRegistryClient({"url": "https://a", name: str(folder / "wrong.pem")})


@pytest.mark.parametrize("kind", ["blocking", "asyncio"])
def test_an_unknown_id_is_asked_for_once(kind: str, server: respx.MockRouter) -> None:
    route = server.get("/schemas/ids/7").respond(404, json={"error_code": 40403, "message": "Schema 7 not found"})

    async def scene() -> list[BaseException]:
        async with AsyncSchemaRegistryClient(QUICK) as client:
            found = await asyncio.gather(*(client.get_schema(7) for _ in range(5)), return_exceptions=True)
            found += await asyncio.gather(client.get_schema(7), return_exceptions=True)
        return [error for error in found if isinstance(error, BaseException)]

    if kind == "asyncio":
        errors = asyncio.run(scene())
    else:
        errors = []
        with SchemaRegistryClient(QUICK) as client:
            for _ in range(6):
                with pytest.raises(ResponseError) as caught:
                    client.get_schema(7)
                errors.append(caught.value)
    assert [getattr(error, "error_message", None) for error in errors] == ["Schema 7 not found"] * 6
    assert len({id(error) for error in errors}) == 6
    assert route.call_count == 1


def test_a_header_that_cannot_be_written_is_not_shown(server: respx.MockRouter, client: SchemaRegistryClient) -> None:
    server.get("/subjects").mock(side_effect=httpx.LocalProtocolError("Illegal header value b'Bearer geheim\\n'"))
    with pytest.raises(TransportError, match="the request can't be written") as caught:
        client.get_subjects()
    assert "geheim" not in "".join(traceback.format_exception(caught.value))
