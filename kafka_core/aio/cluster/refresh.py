"""Asks the cluster for metadata: any known broker, or the bootstrap servers; callers at the same time share a request.

Must not know who needs the answer; what it means for the view is in engine/metadata.py.
Spec: KIP-899/1102 (begin again with the bootstrap servers), client.dns.lookup.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from kafka_core.aio.net.connection import BrokerConnection, Connector
from kafka_core.aio.net.transport import canonical_names
from kafka_core.aio.tasks.background import retrieve_error
from kafka_core.aio.tasks.race import AllFailed, race
from kafka_core.engine.metadata import BrokerAddress, metadata_request
from kafka_core.engine.retry import Action, Backoff, classify
from kafka_core.errors import AuthError, BrokerError, KafkaError, KafkaException, NetworkError, ProtocolError
from kafka_core.limits import MAX_NAME_BYTES
from kafka_core.protocol.messages.metadata import MetadataRequest, MetadataResponse

logger: Final = logging.getLogger("kafka_core.aio")

STAGGER_S: Final = 1.0
"""A broker that has not answered for so long gets company: the next one is asked too."""


Address: TypeAlias = tuple[str, int]
Answer: TypeAlias = tuple[MetadataResponse, Address, int]
"""A broker's answer, its address (host, port), and the number of the request in the order of sending."""


class BrokerChoice(Protocol):
    """The choice of brokers that the refresher needs."""

    def brokers_by_load(self) -> Sequence[BrokerAddress]:
        """Known brokers, the best one to ask first."""
        ...

    async def connection_to(self, broker: BrokerAddress) -> BrokerConnection:
        """The main connection to a broker."""
        ...

    def may_bootstrap(self) -> bool:
        """Whether the bootstrap servers may be asked now."""
        ...

    def rebootstrap(self) -> None:
        """A broker wants us to begin again with the bootstrap servers."""
        ...

    def bootstrapped(self, connection: BrokerConnection, response: MetadataResponse) -> None:
        """A bootstrap server answered; takes the connection over."""
        ...

    def bootstrap_failed(self, address: str, error: KafkaException) -> None:
        """A bootstrap server could not be asked."""
        ...


@dataclass(slots=True, eq=False)
class SharedRequest:
    """One request shared by its callers; open for more topics until it is sent. `topics` None means all."""

    topics: set[str] | None
    allow_auto_create: bool
    open: bool = True
    waiters: int = 0
    task: "asyncio.Task[MetadataResponse] | None" = field(default=None)

    def covers(self, topics: frozenset[str] | None, allow_auto_create: bool) -> bool:
        """Whether its answer will serve a caller who wants those topics."""
        if self.allow_auto_create != allow_auto_create:
            return False
        return self.topics is None or (topics is not None and topics <= self.topics)

    def join(self, topics: frozenset[str] | None, allow_auto_create: bool) -> bool:
        """Widen an open request so that it serves that caller too; all topics and some are never mixed."""
        if self.allow_auto_create != allow_auto_create or not self.open or self.topics is None or topics is None:
            return False
        self.topics |= topics
        return True


class MetadataRefresher:
    """Sends Metadata requests until one is answered.

    Args:
        on_response: Called with (response, topics asked for, address of who answered, number of the request in the
            order of sending) before the callers get it.
    """

    def __init__(
        self,
        brokers: BrokerChoice,
        connector: Connector,
        bootstrap: Sequence[tuple[str, int]],
        *,
        backoff: Backoff,
        canonical_bootstrap: bool,
        first_bootstrap: int,
        on_response: Callable[[MetadataResponse, frozenset[str] | None, Address, int], object],
    ) -> None:
        self._brokers = brokers
        self._connector = connector
        self._bootstrap = list(bootstrap)
        self._backoff = backoff
        self._canonical_bootstrap = canonical_bootstrap
        self._first_bootstrap = first_bootstrap
        self._on_response = on_response
        self._shared: list[SharedRequest] = []
        self._asked = 0

    async def refresh(self, topics: Iterable[str] | None, *, allow_auto_create: bool) -> MetadataResponse:
        """Metadata of some topics (None: all; empty: brokers only), new or from a request that is on its way.

        Waits for ever while brokers cannot be reached: the caller sets the limit, by cancelling.

        Raises:
            AuthError, NetworkError, ProtocolError: trying again will not help, e.g. a wrong password.
        """
        wanted = None if topics is None else frozenset(topics)
        for topic in wanted or ():
            check_name(topic, "topic")
        shared = self._shared_for(wanted, allow_auto_create)
        assert shared.task is not None
        shared.waiters += 1
        try:
            return await asyncio.shield(shared.task)
        finally:
            shared.waiters -= 1
            if not shared.waiters and not shared.task.done():  # cancelled, and nobody else wants it
                shared.open = False
                shared.task.cancel()

    async def close(self) -> None:
        """Stop all requests."""
        tasks = [shared.task for shared in self._shared if shared.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)

    # ---- inside

    def _shared_for(self, topics: frozenset[str] | None, allow_auto_create: bool) -> SharedRequest:
        for shared in self._shared:
            if shared.task is not None and not shared.task.cancelling() and shared.covers(topics, allow_auto_create):
                return shared
        for shared in self._shared:
            if shared.join(topics, allow_auto_create):
                return shared
        shared = SharedRequest(None if topics is None else set(topics), allow_auto_create)
        shared.task = asyncio.get_running_loop().create_task(self._run(shared))
        self._shared.append(shared)
        shared.task.add_done_callback(lambda task: self._finished(shared, task))
        return shared

    def _finished(self, shared: SharedRequest, task: "asyncio.Task[MetadataResponse]") -> None:
        self._shared.remove(shared)
        retrieve_error(task)

    async def _run(self, shared: SharedRequest) -> MetadataResponse:
        await asyncio.sleep(0)  # callers of the same loop round join
        attempt = 0
        while True:
            try:
                response, address, asked = await race(await self._attempts(shared), stagger_s=STAGGER_S)
                shared.open = False
                self._on_response(response, None if shared.topics is None else frozenset(shared.topics), address, asked)
                return response
            except AllFailed as failed:
                hopeless = hopeless_error(failed.failures)
                if hopeless is not None:
                    raise hopeless from failed.failures[0]
                logger.debug("no broker answered a metadata request (attempt %d): %s", attempt + 1, failed)
            await asyncio.sleep(self._backoff.delay_s(attempt))
            attempt += 1

    async def _attempts(self, shared: SharedRequest) -> list[Callable[[], Awaitable[Answer]]]:
        attempts: list[Callable[[], Awaitable[Answer]]] = [
            lambda broker=broker: self._ask_known(broker, shared)  # type: ignore[misc]  # bound early on purpose
            for broker in self._brokers.brokers_by_load()
        ]
        if self._brokers.may_bootstrap():
            attempts += [
                lambda host=host, port=port: self._ask_bootstrap(host, port, shared)  # type: ignore[misc]
                for host, port in await self._bootstrap_addresses()
            ]
        return attempts

    async def _bootstrap_addresses(self) -> list[tuple[str, int]]:
        addresses = self._bootstrap
        if self._canonical_bootstrap:
            addresses = []
            for host, port in self._bootstrap:
                try:
                    addresses += [(name, port) for name in await canonical_names(host, port)]
                except NetworkError as error:
                    self._brokers.bootstrap_failed(f"{host}:{port}", error)
                    addresses.append((host, port))  # fails again below, with the same words
        first = self._first_bootstrap % len(addresses) if addresses else 0
        return addresses[first:] + addresses[:first]

    async def _ask_known(self, broker: BrokerAddress, shared: SharedRequest) -> Answer:
        response, asked = await self._ask(await self._brokers.connection_to(broker), shared)
        return response, (broker.host, broker.port), asked

    async def _ask_bootstrap(self, host: str, port: int, shared: SharedRequest) -> Answer:
        try:
            connection = await self._connector.connect(host, port)
        except KafkaException as error:
            self._brokers.bootstrap_failed(f"{host}:{port}", error)
            raise
        try:
            response, asked = await self._ask(connection, shared)
        except BaseException as error:
            connection.abort()
            if isinstance(error, KafkaException) and error.code != KafkaError._INVALID_ARG:
                self._brokers.bootstrap_failed(f"{host}:{port}", error)
            raise
        self._brokers.bootstrapped(connection, response)
        return response, (host, port), asked

    async def _ask(self, connection: BrokerConnection, shared: SharedRequest) -> tuple[MetadataResponse, int]:
        version = connection.version_of(MetadataRequest)
        shared.open = False
        topics = None if shared.topics is None else sorted(shared.topics)
        request = metadata_request(topics, allow_auto_create=shared.allow_auto_create, version=version)
        self._asked = asked = self._asked + 1
        response = await connection.send(request, version=version)
        if response.error_code == KafkaError.REBOOTSTRAP_REQUIRED:
            self._brokers.rebootstrap()
        if response.error_code:
            raise BrokerError(response.error_code, f"{connection.name}: metadata was refused")
        if not response.brokers:
            raise NetworkError(f"{connection.name}: this broker does not know its cluster yet")
        return response, asked


def check_name(name: object, what: str) -> None:
    """Refuse a name that no request can carry before it spoils a request shared with others.

    Raises:
        TypeError: it is no text.
        ProtocolError: code _INVALID_ARG; it is over 32,767 bytes of UTF-8.
    """
    if not isinstance(name, str):
        raise TypeError(f"a {what}'s name must be str, not {type(name).__name__}")
    try:
        size = len(name.encode())
    except UnicodeEncodeError as error:
        raise ProtocolError(f"{what} {name!r:.80}: {error}", KafkaError._INVALID_ARG) from None
    if size > MAX_NAME_BYTES:
        text = f"{what} {name!r:.80} is named by {size} bytes, and a request can carry no more than {MAX_NAME_BYTES}"
        raise ProtocolError(text, KafkaError._INVALID_ARG)


def hopeless_error(failures: Sequence[Exception]) -> Exception | None:
    """The error to raise at once when trying again will not help: authentication failed, or nothing else can work."""
    known = [failure for failure in failures if isinstance(failure, KafkaException)]
    for failure in failures:
        if isinstance(failure, AuthError) or not isinstance(failure, KafkaException):
            return failure
    if known and all(classify(failure) in (Action.FAIL, Action.FATAL) or _not_kafka(failure) for failure in known):
        return joined(known)
    return None


def _not_kafka(error: KafkaException) -> bool:
    return error.code == KafkaError._BAD_MSG


def joined(failures: Sequence[KafkaException]) -> KafkaException:
    """One error for all of them: the first one's class and code, all texts in order (equal ones once)."""
    first = failures[0]
    texts = list(dict.fromkeys(str(failure) for failure in failures))
    if len(texts) == 1:
        return first
    return NetworkError(f"no broker can be used: {'; '.join(texts)}", first.code, retriable=first.retriable)
