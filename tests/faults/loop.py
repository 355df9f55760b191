"""Runs asyncio tests on a loop of their own, and the pieces most of them want."""

import asyncio
import functools
import random
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, ParamSpec

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.net.connection import BrokerConnection, Connector
from kafka_core.clock import Clock, SystemClock
from kafka_core.config import Role, parse
from kafka_core.errors import KafkaException
from kafka_core.hooks import Hooks

P = ParamSpec("P")

TEST_LIMIT_S = 60.0


def on_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Makes an `async def` test an ordinary one, with a fresh loop and a time limit."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def limited() -> None:
            async with asyncio.timeout(TEST_LIMIT_S):
                await test(*args, **kwargs)

        asyncio.run(limited())

    return run


async def until(condition: Callable[[], object], limit_s: float = 30.0) -> None:
    """Waits until the condition holds; fails after `limit_s` seconds."""
    deadline_s = asyncio.get_running_loop().time() + limit_s
    while not condition():
        assert asyncio.get_running_loop().time() < deadline_s, "the condition did not come true in time"
        await asyncio.sleep(0.002)


async def outcome(work: Awaitable[object]) -> BaseException:
    """The exception that `work` ends with; fails when it succeeds."""
    try:
        result = await work
    except Exception as error:
        return error
    raise AssertionError(f"no error, but {result!r}")


def make_connector(
    servers: str, hooks: tuple[object, ...] = (), clock: Clock | None = None, **properties: object
) -> Connector:
    """A connector; properties are spelt with `_` for `.`."""
    config = parse(properties_of(servers, properties), Role.ADMIN)
    return Connector(config, clock=clock or SystemClock(), rng=random.Random(7), hooks=Hooks(hooks))


def make_client(
    servers: str, hooks: tuple[object, ...] = (), role: Role = Role.ADMIN, seed: int = 7, **properties: object
) -> ClusterClient:
    """A cluster client with short back-offs; properties are spelt with `_` for `.`."""
    quick: dict[str, object] = {
        "reconnect_backoff_ms": 5,
        "reconnect_backoff_max_ms": 20,
        "retry_backoff_ms": 5,
        "retry_backoff_max_ms": 20,
        "topic_metadata_refresh_fast_interval_ms": 5,
    }
    config = parse(properties_of(servers, {**quick, **properties}), role)
    return ClusterClient(config, rng=random.Random(seed), hooks=Hooks(hooks))


def properties_of(servers: str, properties: dict[str, object]) -> dict[str, object]:
    """The configuration as a user writes it; `oauth_cb` keeps its underscore."""
    named = {name if name == "oauth_cb" else name.replace("_", "."): value for name, value in properties.items()}
    return {"bootstrap.servers": servers, **named}


async def end_of(connection: BrokerConnection) -> KafkaException | None:
    """Waits for a connection's end; why it ended, None if it was meant to."""
    ended: asyncio.Future[KafkaException | None] = asyncio.get_running_loop().create_future()
    connection.on_end(lambda reason: connection.on_closed(lambda: ended.set_result(reason)))
    return await ended
