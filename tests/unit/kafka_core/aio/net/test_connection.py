"""kafka_core.aio.net.connection: handshake, pipelining, time-outs, loss, back-pressure, re-authentication."""

import asyncio
import contextlib
import gc
import re
import socket
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kafka_core.aio.net.connection import BrokerConnection
from kafka_core.aio.tasks.race import in_daemon_thread
from kafka_core.errors import (
    AuthError,
    KafkaError,
    NetworkError,
    ProtocolError,
    UnsupportedVersionError,
)
from kafka_core.protocol import ApiMessage, decode_request, encode_request, encode_response
from kafka_core.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_core.protocol.messages.metadata import MetadataRequest, MetadataResponse
from kafka_core.protocol.messages.produce import ProduceRequest, ProduceResponse
from kafka_core.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kafka_core.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kafka_core.wire.correlation import ConnectionPhase
from tests.faults.listener import listening
from tests.faults.loop import end_of, make_connector, on_loop, outcome, until
from tests.faults.scripted import HangUp, ScriptedBroker, Silence
from tests.patience import judged_by
from tools.faults.proxy import FaultProxy, Way

SASL = {"security_protocol": "sasl_plaintext", "sasl_mechanism": "PLAIN", "sasl_username": "u", "sasl_password": "p"}


@contextlib.asynccontextmanager
async def connected(broker: ScriptedBroker, **properties: object) -> AsyncIterator[BrokerConnection]:
    connection = await make_connector(broker.address, **properties).connect("127.0.0.1", broker.port, 5)
    try:
        yield connection
    finally:
        await connection.close()


def heartbeat(member: str = "m") -> HeartbeatRequest:
    return HeartbeatRequest(group_id="g", member_id=member)


def said_wait_s(error: BaseException, api: str) -> float:
    """The time without an answer, from the error's text."""
    (wait_s,) = re.findall(rf"{re.escape(api)} was not answered within ([\d.]+) s", str(error))
    return float(wait_s)


class Recorder:
    """A hook object that keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def on_connect(self, *facts: Any) -> None:
        self.events.append(("connect", facts[0], facts[1], facts[3]))

    def on_disconnect(self, *facts: Any) -> None:
        self.events.append(("disconnect", *facts))

    def on_request_done(self, *facts: Any) -> None:
        self.events.append(("request", *facts))

    def on_throttle(self, *facts: Any) -> None:
        self.events.append(("throttle", *facts))

    def of(self, kind: str) -> list[tuple[Any, ...]]:
        return [event[1:] for event in self.events if event[0] == kind]


class TestHandshake:
    @on_loop
    async def test_versions_are_asked_for_first(self):
        async with ScriptedBroker() as broker, connected(broker) as connection:
            assert [type(request).__name__ for _, request in broker.received] == ["ApiVersionsRequest"]
            assert connection.version_of(MetadataRequest) == MetadataRequest.VALID_VERSIONS[1]
            assert (connection.name, connection.usable) == (f"{broker.address}/5", True)

    @on_loop
    async def test_an_old_broker_refuses_our_api_versions_and_is_asked_again(self):
        async with ScriptedBroker(versions={18: (0, 2), 3: (0, 7)}) as broker, connected(broker) as connection:
            assert [header.request_api_version for header, _ in broker.received] == [2]
            assert connection.version_of(MetadataRequest) == 7
            with pytest.raises(UnsupportedVersionError, match="HEARTBEAT"):
                connection.send(heartbeat())

    @on_loop
    async def test_a_wrong_password_names_broker_user_and_mechanism(self):
        async with ScriptedBroker() as broker:
            broker.handlers[SaslHandshakeRequest] = lambda *_: SaslHandshakeResponse(mechanisms=["PLAIN"])
            broker.handlers[SaslAuthenticateRequest] = lambda *_: SaslAuthenticateResponse(
                error_code=58, error_message="no such user"
            )
            error = await outcome(make_connector(broker.address, **SASL).connect("127.0.0.1", broker.port))
        assert isinstance(error, AuthError)
        assert str(error).startswith(f"{broker.address}: authentication failed for user u with PLAIN: no such user")

    @pytest.mark.parametrize(
        ("greeting", "text"),
        [
            (b"HTTP/1.1 400 Bad Request\r\n\r\n", "the port answers HTTP"),
            (b"\x15\x03\x03\x00\x02\x02\x46", "connected to a TLS port without TLS"),
        ],
    )
    @on_loop
    async def test_ports_of_others_are_named(self, greeting: bytes, text: str):
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(greeting)
            await writer.drain()

        async with listening(answer) as port:
            error = await outcome(make_connector("x").connect("127.0.0.1", port))
        assert isinstance(error, ProtocolError)
        assert str(error).startswith(f"127.0.0.1:{port}: ")
        assert text in str(error)

    @on_loop
    async def test_a_listener_that_hangs_up_may_be_a_tls_port(self):
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)

        async with listening(answer) as port:
            error = await outcome(make_connector("x").connect("127.0.0.1", port))
        assert isinstance(error, NetworkError)
        assert "during the handshake before its first answer" in str(error)
        assert "is it a TLS port?" in str(error)

    @on_loop
    async def test_a_broker_that_hangs_up_at_the_first_request_may_want_sasl(self):
        async with ScriptedBroker() as broker:
            broker.handlers[MetadataRequest] = lambda *_: HangUp
            async with connected(broker) as connection:
                error = await outcome(connection.send(MetadataRequest()))
        assert "demand SASL?" in str(error)

    @on_loop
    async def test_a_silent_listener_is_given_up(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:  # accepts, never answers
            port = listener.getsockname()[1]
            connector = make_connector("x", socket_connection_setup_timeout_ms=1000)
            error = await outcome(connector.connect("127.0.0.1", port))
        assert isinstance(error, NetworkError)
        assert error.code == KafkaError._TIMED_OUT
        assert "not ready within 1 s (socket.connection.setup.timeout.ms), still waiting for the broker" in str(error)

    @on_loop
    async def test_a_silent_api_versions_is_given_up_earlier(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            connector = make_connector("x", api_version_request_timeout_ms=50)
            error = await outcome(connector.connect("127.0.0.1", listener.getsockname()[1]))
        assert isinstance(error, NetworkError)
        assert said_wait_s(error, "API_VERSIONS (18) v4") >= 0.05

    @on_loop
    async def test_hooks_are_told_of_no_connection_that_was_cancelled(self):
        recorder = Recorder()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            connector = make_connector("x", hooks=(recorder,))
            task = asyncio.ensure_future(connector.connect("127.0.0.1", listener.getsockname()[1], 5))
            peer, _ = await asyncio.to_thread(listener.accept)
            with peer:
                task.cancel()
                await asyncio.wait([task])
        assert task.cancelled()
        ((node_id, _, error),) = recorder.of("connect")
        assert node_id == 5
        assert isinstance(error, NetworkError)
        assert error.code == KafkaError._DESTROY

    @on_loop
    async def test_cancelling_closes_the_socket(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            task = asyncio.ensure_future(make_connector("x").connect("127.0.0.1", listener.getsockname()[1]))
            peer, _ = await asyncio.to_thread(listener.accept)
            await in_daemon_thread("wait", lambda: peer.recv(4, socket.MSG_PEEK))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            peer.settimeout(5)
            await in_daemon_thread("drain", lambda: _read_to_end(peer))
            peer.close()


def _read_to_end(peer: socket.socket) -> None:
    with contextlib.suppress(ConnectionResetError):
        while peer.recv(4096):
            pass


class TestRequests:
    @on_loop
    async def test_are_written_in_the_order_of_the_calls_and_answered_each(self):
        async with ScriptedBroker() as broker, connected(broker, client_id="svc") as connection:
            broker.handlers[HeartbeatRequest] = lambda request, _: HeartbeatResponse(throttle_time_ms=0)
            futures = [connection.send(heartbeat(str(n))) for n in range(50)]
            assert connection.in_flight == 50
            await asyncio.gather(*futures)
            assert [request.member_id for request in broker.asked(HeartbeatRequest)] == [str(n) for n in range(50)]
            assert {header.client_id for header, _ in broker.received} == {"svc"}
            assert connection.in_flight == 0

    @on_loop
    async def test_a_large_response_is_not_copied(self):
        records = bytes(range(256)) * 100_000
        async with ScriptedBroker() as broker, connected(broker) as connection:
            broker.handlers[FetchRequest] = lambda *_: FetchResponse(
                responses=[FetchableTopicResponse(topic="t", partitions=[PartitionData(records=records)])]
            )
            response = await connection.send(FetchRequest(), version=12)
            got = response.responses[0].partitions[0].records
            assert isinstance(got, memoryview)
            assert type(got.obj) is bytearray
            assert len(got.obj) < len(records) + 200
            assert got == records

    @on_loop
    async def test_without_acks_there_is_an_empty_response_at_once(self):
        async with ScriptedBroker() as broker, connected(broker) as connection:
            broker.handlers[ProduceRequest] = lambda *_: Silence
            broker.handlers[HeartbeatRequest] = lambda *_: HeartbeatResponse()
            unanswered = connection.send(ProduceRequest(acks=0, timeout_ms=1), version=9)
            assert unanswered.done()
            assert await unanswered == ProduceResponse()
            await connection.send(heartbeat())  # its correlation is not confused
            assert len(broker.asked(ProduceRequest)) == 1

    @on_loop
    async def test_a_cancelled_one_only_loses_its_answer(self):
        async with ScriptedBroker() as broker, connected(broker) as connection:
            release = asyncio.Event()

            async def slow(request: HeartbeatRequest, _: object) -> ApiMessage:
                await release.wait()
                return HeartbeatResponse(error_code=int(request.member_id))

            broker.handlers[HeartbeatRequest] = slow
            first, second = connection.send(heartbeat("1")), connection.send(heartbeat("2"))
            first.cancel()
            release.set()
            assert (await second).error_code == 2
            assert connection.usable


class Answers(list[tuple[Any, Any]]):
    """The arguments of functions given to `ask`."""

    def __call__(self, response: Any, error: Any) -> None:
        self.append((response, error))


class TestAsking:
    """`ask`: the answer goes to a function."""

    @on_loop
    async def test_it_is_called_in_the_turn_in_which_the_answer_comes_in(self):
        async with ScriptedBroker() as broker, connected(broker) as connection:
            broker.handlers[HeartbeatRequest] = lambda *_: HeartbeatResponse(error_code=27)
            turns: list[str] = []
            plain = connection.buffer_updated

            def buffer_updated(nbytes: int) -> None:
                plain(nbytes)
                turns.append("read")

            connection.buffer_updated = buffer_updated  # type: ignore[method-assign,assignment]
            connection.ask(heartbeat(), lambda response, error: turns.append(f"{response} {error}"))
            assert turns == []
            await until(lambda: len(turns) > 1)
        assert turns == [f"{HeartbeatResponse(error_code=27)} None", "read"]

    @on_loop
    async def test_answers_come_in_the_order_of_the_requests(self):
        async with ScriptedBroker() as broker, connected(broker) as connection:
            broker.handlers[HeartbeatRequest] = lambda request, _: HeartbeatResponse(error_code=int(request.member_id))
            answers = Answers()
            for number in range(5):
                connection.ask(heartbeat(str(number)), answers)
            await until(lambda: len(answers) == 5)
            assert [response.error_code for response, _ in answers] == [0, 1, 2, 3, 4]

    @on_loop
    async def test_without_an_answer_to_come_it_is_called_soon_but_not_inside(self):
        async with ScriptedBroker() as broker, connected(broker) as connection:
            broker.handlers[ProduceRequest] = lambda *_: Silence
            answers = Answers()
            connection.ask(ProduceRequest(acks=0, timeout_ms=1), answers, version=9)
            assert answers == []
            await asyncio.sleep(0)
            assert answers == [(ProduceResponse(), None)]

    @on_loop
    async def test_when_the_connection_ends_those_who_listen_for_that_hear_of_it_first(self):
        async with ScriptedBroker() as broker, connected(broker) as connection:
            broker.handlers[HeartbeatRequest] = lambda *_: HangUp
            heard: list[str] = []
            connection.on_end(lambda _: heard.append("the end"))
            connection.ask(heartbeat(), lambda response, error: heard.append(f"{response} {type(error).__name__}"))
            await until(lambda: len(heard) == 2)
            assert heard == ["the end", "None NetworkError"]
            with pytest.raises(NetworkError):
                connection.ask(heartbeat(), Answers())

    @on_loop
    async def test_a_function_that_fails_is_told_of_and_the_connection_goes_on(self):
        problems: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
        async with ScriptedBroker() as broker, connected(broker) as connection:
            broker.handlers[HeartbeatRequest] = lambda *_: HeartbeatResponse()

            def fail(response: Any, error: Any) -> None:
                raise ProtocolError("a mistake")

            connection.ask(heartbeat(), fail)
            assert await connection.send(heartbeat()) == HeartbeatResponse()
        assert [str(context["exception"]) for context in problems] == [str(ProtocolError("a mistake"))]

    @on_loop
    async def test_what_came_behind_an_answer_that_ended_the_connection_is_lost_like_the_rest(self):
        async with ScriptedBroker() as broker, connected(broker) as connection:
            broker.handlers[HeartbeatRequest] = lambda *_: Silence
            answers = Answers()
            connection.ask(heartbeat(), lambda *_: connection.abort())
            connection.ask(heartbeat(), answers)
            frames = [encode_response(HeartbeatResponse(), 4, number) for number in (1, 2)]
            at_once = b"".join(bytes(part) for frame in frames for part in frame)
            connection.get_buffer(-1)[: len(at_once)] = at_once
            connection.buffer_updated(len(at_once))
            await until(lambda: answers)
            assert [(response, type(error)) for response, error in answers] == [(None, NetworkError)]


class TestLoss:
    @pytest.mark.parametrize("how", ["hang up", "cut"])
    @on_loop
    async def test_everything_in_flight_fails_naming_broker_and_cause(self, how: str):
        async with ScriptedBroker() as broker:
            with FaultProxy("127.0.0.1", broker.port) as proxy:
                broker.handlers[HeartbeatRequest] = lambda *_: Silence
                recorder = Recorder()
                connection = await make_connector("x", hooks=(recorder,)).connect("127.0.0.1", proxy.port, 5)
                futures = [connection.send(heartbeat()) for _ in range(3)]
                await until(lambda: len(broker.asked(HeartbeatRequest)) >= 1)
                broker.hang_up() if how == "hang up" else proxy.cut()
                errors = [await outcome(future) for future in futures]
                assert {type(error) for error in errors} == {NetworkError}
                assert len({id(error) for error in errors}) == 3
                for error in errors:
                    assert f"127.0.0.1:{proxy.port}/5: the " in str(error)
                    assert "connection" in str(error)
                with pytest.raises(NetworkError):
                    connection.send(heartbeat())
                assert not connection.usable
                await until(lambda: recorder.of("disconnect"))
                ((_, _, reason),) = recorder.of("disconnect")
                assert isinstance(reason, NetworkError)
                assert [event[1] for event in recorder.of("request")][-3:] == ["Heartbeat"] * 3

    @on_loop
    async def test_an_idle_connection_that_the_broker_closes_is_no_failure(self):
        async with ScriptedBroker() as broker:
            recorder = Recorder()
            connection = await make_connector("x", hooks=(recorder,)).connect("127.0.0.1", broker.port, 5)
            broker.hang_up_politely()
            assert await end_of(connection) is None
            assert recorder.of("disconnect") == [(5, broker.address, None)]
            with pytest.raises(NetworkError, match="the broker closed the connection between responses"):
                connection.send(heartbeat())

    @on_loop
    async def test_a_truncated_response_says_where(self):
        async with ScriptedBroker() as broker:
            with FaultProxy("127.0.0.1", broker.port) as proxy:
                connection = await make_connector("x").connect("127.0.0.1", proxy.port, 5)
                broker.handlers[MetadataRequest] = lambda *_: MetadataResponse(cluster_id="c" * 10_000)
                proxy.truncate_after(6000)
                error = await outcome(connection.send(MetadataRequest()))
        assert isinstance(error, NetworkError)
        assert "after 5996 of " in str(error)

    @on_loop
    async def test_responses_in_the_wrong_order_are_not_believed(self):
        async with ScriptedBroker() as broker:
            with FaultProxy("127.0.0.1", broker.port) as proxy:
                connection = await make_connector("x").connect("127.0.0.1", proxy.port, 5)
                broker.handlers[HeartbeatRequest] = lambda *_: HeartbeatResponse()
                proxy.swap_next_responses()
                await connection.send(heartbeat())  # the proxy was already reading on, unframed
                errors = [await outcome(item) for item in [connection.send(heartbeat()), connection.send(heartbeat())]]
        assert [type(error) for error in errors] == [ProtocolError, ProtocolError]

    @on_loop
    async def test_an_unknown_correlation_id_closes_the_connection(self):
        async with ScriptedBroker() as broker, connected(broker) as connection:
            broker.handlers[HeartbeatRequest] = lambda _, header: b"".join(
                map(bytes, encode_response(HeartbeatResponse(), 4, header.correlation_id + 7))
            )
            error = await outcome(connection.send(heartbeat()))
            assert isinstance(error, ProtocolError)
            assert str(error).startswith(f"{broker.address}/5: HEARTBEAT (12) v4: the response has correlation id")
            assert isinstance(await end_of(connection), ProtocolError)

    @on_loop
    async def test_an_answer_that_nobody_asked_for_closes_the_connection(self):
        async with ScriptedBroker() as broker, connected(broker) as connection:
            broker.handlers[ProduceRequest] = lambda *_: b"\x00\x00\x00\x04\x00\x00\x00\x01"
            await connection.send(ProduceRequest(acks=0, timeout_ms=1), version=9)
            assert "no request waits" in str(await end_of(connection))

    @on_loop
    async def test_a_response_above_the_limit(self):
        async with ScriptedBroker() as broker, connected(broker, receive_message_max_bytes=5000) as connection:
            broker.handlers[MetadataRequest] = lambda *_: MetadataResponse(cluster_id="c" * 6000)
            error = await outcome(connection.send(MetadataRequest()))
        assert isinstance(error, ProtocolError)
        assert "receive.message.max.bytes = 5000" in str(error)

    @on_loop
    async def test_errors_nobody_waits_for_are_not_reported_as_lost(self):
        problems: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
        async with ScriptedBroker() as broker:
            broker.handlers[HeartbeatRequest] = lambda *_: Silence
            connection = await make_connector("x").connect("127.0.0.1", broker.port, 5)
            connection.send(heartbeat())
            connection.abort(NetworkError("lost"))
            del connection
            await asyncio.sleep(0)
            gc.collect()
        assert problems == []


class TestTimeouts:
    @on_loop
    async def test_a_late_request_closes_the_connection_and_fails_the_others(self):
        async with ScriptedBroker() as broker, connected(broker) as connection:
            broker.handlers[HeartbeatRequest] = lambda *_: Silence
            other = connection.send(heartbeat())
            error = await outcome(connection.send(heartbeat(), timeout_s=0.05))
            assert isinstance(error, NetworkError)
            assert error.code == KafkaError._TIMED_OUT
            assert said_wait_s(error, "HEARTBEAT (12) v4") >= 0.05
            assert isinstance(await outcome(other), NetworkError)
            assert not connection.usable

    @on_loop
    async def test_the_default_is_the_property(self):
        async with ScriptedBroker() as broker, connected(broker, socket_timeout_ms=30) as connection:
            broker.handlers[HeartbeatRequest] = lambda *_: Silence
            error = await outcome(connection.send(heartbeat()))
        assert said_wait_s(error, "HEARTBEAT (12) v4") >= 0.03

    def test_a_timer_of_an_answered_request_does_no_harm(self):
        @on_loop
        async def answered_in_time(limit_s: float) -> None:
            async with ScriptedBroker() as broker, connected(broker) as connection:
                broker.handlers[HeartbeatRequest] = lambda *_: HeartbeatResponse()
                await connection.send(heartbeat(), timeout_s=limit_s)
                await asyncio.sleep(1.2 * limit_s)
                await connection.send(heartbeat(), timeout_s=50)

        judged_by(0.3, answered_in_time)

    def test_idle_connections_are_closed(self):
        @on_loop
        async def used_and_then_idle(limit_s: float) -> None:
            async with ScriptedBroker() as broker:
                recorder = Recorder()
                connector = make_connector("x", hooks=(recorder,), connections_max_idle_ms=round(limit_s * 1000))
                connection = await connector.connect("127.0.0.1", broker.port, 5)
                broker.handlers[HeartbeatRequest] = lambda *_: HeartbeatResponse()
                for _ in range(4):
                    await asyncio.sleep(limit_s / 2)
                    await connection.send(heartbeat())
                assert connection.usable
                assert await end_of(connection) is None
                assert recorder.of("disconnect") == [(5, broker.address, None)]

        judged_by(0.06, used_and_then_idle)

    @on_loop
    async def test_a_waiting_request_is_not_idle(self):
        async with ScriptedBroker() as broker, connected(broker, connections_max_idle_ms=20) as connection:

            async def slow(*_: object) -> ApiMessage:
                await asyncio.sleep(0.1)
                return HeartbeatResponse()

            broker.handlers[HeartbeatRequest] = slow
            await connection.send(heartbeat())


class TestFlowControl:
    @on_loop
    async def test_drain_waits_while_the_socket_is_full(self):
        async with ScriptedBroker() as broker:
            with FaultProxy("127.0.0.1", broker.port) as proxy:
                connection = await make_connector("x").connect("127.0.0.1", proxy.port, 5)
                broker.handlers[ProduceRequest] = lambda *_: Silence
                proxy.stall(Way.REQUESTS)
                big = ProduceRequest(transactional_id="x" * 30_000, acks=0, timeout_ms=1)
                await connection.drain()
                sent = 0
                while connection.writable:
                    connection.send(big, version=9)
                    sent += 1
                    assert sent < 10_000
                waiting = asyncio.ensure_future(connection.drain())
                await asyncio.sleep(0.02)
                assert not waiting.done()
                proxy.resume()
                await waiting
                await until(lambda: len(broker.asked(ProduceRequest)) == sent)
                await connection.close()

    @on_loop
    async def test_drain_ends_when_the_connection_does(self):
        async with ScriptedBroker() as broker, connected(broker) as connection:
            connection.pause_writing()
            waiting = asyncio.ensure_future(connection.drain())
            await asyncio.sleep(0)
            connection.abort(NetworkError("gone"))
            assert "gone" in str(await outcome(waiting))

    def test_throttling_is_waited_for_and_told(self):
        @on_loop
        async def throttled_for(limit_s: float) -> None:
            async with ScriptedBroker() as broker:
                recorder = Recorder()
                connection = await make_connector("x", hooks=(recorder,)).connect("127.0.0.1", broker.port, 5)
                throttle_ms = round(limit_s * 1000)
                broker.handlers[HeartbeatRequest] = lambda *_: HeartbeatResponse(throttle_time_ms=throttle_ms)
                started_s = time.monotonic()
                await connection.send(heartbeat())
                assert recorder.of("throttle") == [(5, "Heartbeat", throttle_ms / 1000)]
                assert not connection.writable
                await connection.drain()
                assert time.monotonic() - started_s >= limit_s
                assert connection.writable
                await connection.close()

        judged_by(0.08, throttled_for)

    @on_loop
    async def test_hooks_see_sizes_and_times(self):
        async with ScriptedBroker() as broker:
            recorder = Recorder()
            connection = await make_connector("x", hooks=(recorder,)).connect("127.0.0.1", broker.port, 5)
            broker.handlers[HeartbeatRequest] = lambda *_: HeartbeatResponse()
            await connection.send(heartbeat())
            assert recorder.of("connect") == [(5, broker.address, None)]
            node_id, api, sent, received, duration_s, error = recorder.of("request")[-1]
            request = broker.received[-1]
            assert (node_id, api, error) == (5, "Heartbeat", None)
            assert sent == 4 + len(b"".join(map(bytes, _encoded(*request))))
            assert received == 4 + 4 + 1 + 4 + 2 + 1
            assert duration_s >= 0
            await connection.close()


def _encoded(header: Any, request: Any) -> list[bytes]:
    parts = encode_request(request, header.request_api_version, header.correlation_id, header.client_id)
    frame = b"".join(map(bytes, parts))[4:]
    assert decode_request(frame)[1] == request
    return [frame]


class TestEnd:
    @on_loop
    async def test_close_fails_what_is_in_flight(self):
        async with ScriptedBroker() as broker, connected(broker) as connection:
            broker.handlers[HeartbeatRequest] = lambda *_: Silence
            future = connection.send(heartbeat())
            await connection.close()
            error = await outcome(future)
            assert isinstance(error, NetworkError)
            assert (error.code, error.retriable) == (KafkaError._DESTROY, False)
            await until(lambda: broker.connections == 0)
            await connection.close()

    @on_loop
    async def test_retire_waits_for_the_answers(self):
        async with ScriptedBroker() as broker, connected(broker) as connection:
            release = asyncio.Event()

            async def slow(*_: object) -> ApiMessage:
                await release.wait()
                return HeartbeatResponse(error_code=9)

            broker.handlers[HeartbeatRequest] = slow
            future = connection.send(heartbeat())
            connection.retire()
            assert not connection.usable
            release.set()
            assert (await future).error_code == 9
            assert await end_of(connection) is None

    @on_loop
    async def test_close_is_bounded_when_the_socket_takes_no_more(self):
        async with ScriptedBroker() as broker:
            with FaultProxy("127.0.0.1", broker.port) as proxy:
                connection = await make_connector("x").connect("127.0.0.1", proxy.port, 5)
                proxy.stall(Way.REQUESTS)
                big = ProduceRequest(transactional_id="x" * 30_000, acks=0, timeout_ms=1)
                while connection.writable:
                    connection.send(big, version=9)
                await connection.close(0.05)


class TestReauthentication:
    """KIP-368."""

    @staticmethod
    def script(broker: ScriptedBroker, *, lifetimes_ms: list[int], refuse_at: int = 100) -> None:
        def authenticate(*_: object) -> ApiMessage:
            count = len(broker.asked(SaslAuthenticateRequest))
            if count >= refuse_at:
                return SaslAuthenticateResponse(error_code=58, error_message="password changed")
            return SaslAuthenticateResponse(session_lifetime_ms=lifetimes_ms[min(count, len(lifetimes_ms)) - 1])

        broker.handlers[SaslHandshakeRequest] = lambda *_: SaslHandshakeResponse(mechanisms=["PLAIN"])
        broker.handlers[SaslAuthenticateRequest] = authenticate

    @on_loop
    async def test_happens_before_the_session_ends_and_requests_go_on_in_order(self):
        async with ScriptedBroker() as broker:
            self.script(broker, lifetimes_ms=[100, 100, 100_000])

            async def slow(*_: object) -> ApiMessage:
                await asyncio.sleep(0.004)
                return HeartbeatResponse()

            broker.handlers[HeartbeatRequest] = slow
            async with connected(broker, **SASL) as connection:
                futures = []
                while len(broker.asked(SaslAuthenticateRequest)) < 3:
                    futures.append(connection.send(heartbeat(str(len(futures)))))
                    await asyncio.sleep(0.002)
                await asyncio.gather(*futures)
                assert connection.usable
            members = [request.member_id for request in broker.asked(HeartbeatRequest)]
            assert members == [str(n) for n in range(len(futures))]
            # nothing came between the requests of one authentication
            names = [type(request).__name__ for _, request in broker.received]
            for index, name in enumerate(names):
                if name == "SaslHandshakeRequest":
                    assert names[index + 1] == "SaslAuthenticateRequest"
            assert broker.accepted == 1

    @on_loop
    async def test_a_refusal_closes_the_connection_with_its_cause(self):
        async with ScriptedBroker() as broker:
            self.script(broker, lifetimes_ms=[60], refuse_at=2)
            broker.handlers[HeartbeatRequest] = lambda *_: Silence
            async with connected(broker, **SASL) as connection:
                error = await end_of(connection)
                assert isinstance(error, AuthError)
                assert "password changed" in str(error)

    @on_loop
    async def test_requests_held_back_fail_with_it(self):
        async with ScriptedBroker() as broker:
            self.script(broker, lifetimes_ms=[60])
            async with connected(broker, **SASL) as connection:
                broker.handlers[SaslHandshakeRequest] = lambda *_: Silence
                await until(lambda: len(broker.asked(SaslHandshakeRequest)) == 2)
                held = connection.send(heartbeat())
                assert connection.in_flight == 2
                broker.hang_up()
                assert isinstance(await outcome(held), NetworkError)
                assert broker.asked(HeartbeatRequest) == []

    @on_loop
    async def test_without_a_lifetime_nothing_is_planned(self):
        async with ScriptedBroker() as broker:
            self.script(broker, lifetimes_ms=[0])
            async with connected(broker, **SASL):
                await asyncio.sleep(0.05)
            assert len(broker.asked(SaslHandshakeRequest)) == 1


class TestWhatIsTold:
    @on_loop
    async def test_a_reset_before_the_first_answer_is_told_like_an_end_of_stream(self):
        """A refusing broker causes one or the other, depending on whether it had read all that we sent."""
        told = set()
        for exc in (None, ConnectionResetError(104, "reset"), BrokenPipeError(32, "pipe")):
            connector = make_connector("127.0.0.1:9")
            connection = BrokerConnection(connector.settings, "127.0.0.1", 9, -1, connector)
            connection._state.move(ConnectionPhase.HANDSHAKING)
            connection.connection_lost(exc)
            told.add(str(await end_of(connection)))
        (text,) = told
        assert "the broker closed the connection during the handshake before its first answer" in text
