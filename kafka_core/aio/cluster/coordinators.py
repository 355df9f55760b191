"""Finds and remembers which broker coordinates a group or a transactional id.

Must not know groups or transactions; it asks any broker and keeps the answers until told to forget.
Spec: FindCoordinator, KIP-699 (several keys in one request, since version 4).
"""

import asyncio
import enum
import functools
from collections.abc import Iterable
from typing import Final, Protocol

from kafka_core.aio.cluster.refresh import STAGGER_S, check_name
from kafka_core.aio.net.connection import BrokerConnection
from kafka_core.aio.tasks.background import background, retrieve_error
from kafka_core.aio.tasks.race import race
from kafka_core.engine.metadata import BrokerAddress
from kafka_core.engine.retry import Backoff
from kafka_core.errors import BrokerError, KafkaError, KafkaException
from kafka_core.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

_BATCHED_SINCE: Final = 4
_ASKED_AT_ONCE: Final = 3
"""The most brokers asked side by side, each a second after the one before, when none answers."""
_NOT_YET: Final = frozenset({KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.COORDINATOR_NOT_AVAILABLE})
"""The broker is still making the internal topic or loading it: the answer comes by itself."""


class CoordinatorKind(enum.IntEnum):
    """The kind of a coordinator (FindCoordinator's key type)."""

    GROUP = 0
    TRANSACTION = 1


class AskedBrokers(Protocol):
    """Whom the finder asks."""

    async def any_connection(self) -> BrokerConnection:
        """A connection to any broker; waits until one can be reached."""
        ...

    def broker_seen(self, broker: BrokerAddress) -> None:
        """A broker's address was learnt."""
        ...

    def note_failure(self, error: KafkaException) -> None:
        """Notes why no coordinator is known yet, for error texts."""
        ...


class CoordinatorFinder:
    """Answers from memory, or asks; concurrent callers for one key share one look-up, keys asked for together share
    one request where the broker can do that."""

    def __init__(self, brokers: AskedBrokers, backoff: Backoff) -> None:
        self._brokers = brokers
        self._backoff = backoff
        self._known: dict[tuple[CoordinatorKind, str], int] = {}
        self._wanted: dict[tuple[CoordinatorKind, str], asyncio.Future[int]] = {}
        self._waiting: dict[tuple[CoordinatorKind, str], int] = {}
        self._tasks: dict[CoordinatorKind, asyncio.Task[None]] = {}

    async def find(self, kind: CoordinatorKind, key: str) -> int:
        """The node id. Waits while the coordinator is not available; the caller sets the limit, by cancelling.

        Raises:
            BrokerError: not authorized, invalid key.
            AuthError, NetworkError, ProtocolError: no broker can be asked, and trying again will not help.
        """
        check_name(key, kind.name.lower())
        known = self._known.get((kind, key))
        if known is not None:
            return known
        future = self._wanted.get((kind, key))
        if future is None:
            future = self._wanted[(kind, key)] = asyncio.get_running_loop().create_future()
            future.add_done_callback(retrieve_error)
        former = self._tasks.get(kind)
        if former is None or former.done():  # one that has ended looks nothing up, though it is still listed
            task = self._tasks[kind] = background(self._look_up(kind), f"kafka-core-coordinator-{kind.name.lower()}")
            task.add_done_callback(functools.partial(self._ended, kind))
        self._waiting[(kind, key)] = self._waiting.get((kind, key), 0) + 1
        try:
            return await asyncio.shield(future)
        finally:
            self._leave((kind, key))

    def _leave(self, wanted: tuple[CoordinatorKind, str]) -> None:
        """Counts one caller less; a key without callers is no longer looked up."""
        self._waiting[wanted] -= 1
        if not self._waiting[wanted]:
            del self._waiting[wanted]
            future = self._wanted.pop(wanted, None)
            if future is not None:
                future.cancel()

    def forget(self, kind: CoordinatorKind, key: str) -> None:
        """Forgets the coordinator of this key."""
        self._known.pop((kind, key), None)

    def forget_node(self, node_id: int) -> None:
        """Forgets all coordinators on a broker that is gone: their groups move to other brokers."""
        self._known = {key: node for key, node in self._known.items() if node != node_id}

    async def close(self) -> None:
        """Stop all look-ups."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        for future in self._wanted.values():
            future.cancel()
        self._wanted.clear()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)

    # ---- inside

    def _ended(self, kind: CoordinatorKind, task: "asyncio.Task[None]") -> None:
        if self._tasks.get(kind) is task:
            del self._tasks[kind]

    def _keys(self, kind: CoordinatorKind) -> list[str]:
        return [key for wanted_kind, key in self._wanted if wanted_kind is kind]

    async def _look_up(self, kind: CoordinatorKind) -> None:
        """Ask until every wanted key of that kind has its answer."""
        await asyncio.sleep(0)  # keys asked for in the same loop round go together
        attempt = 0
        while keys := self._keys(kind):
            try:
                answers = await self._ask_several(kind, keys)
            except KafkaException as error:
                if not error.retriable:
                    self._refuse(kind, keys, error)
                    return
                self._brokers.note_failure(error)
                answers = []
            except Exception as error:  # ours: the callers must not wait for ever for a look-up that has ended
                self._refuse(kind, keys, error)
                raise
            if not self._take(kind, answers):
                await asyncio.sleep(self._backoff.delay_s(attempt))
                attempt += 1

    def _refuse(self, kind: CoordinatorKind, keys: Iterable[str], error: Exception) -> None:
        for key in keys:
            future = self._wanted.pop((kind, key), None)
            if future is not None and not future.done():
                future.set_exception(error)

    def _take(self, kind: CoordinatorKind, answers: Iterable[Coordinator]) -> bool:
        """Settle the answers; False when some key has to be asked for again."""
        for answer in answers:
            if answer.error_code in _NOT_YET:
                self._brokers.note_failure(
                    BrokerError(answer.error_code, f"coordinator of {answer.key!r}: not available yet")
                )
                continue
            if answer.error_code:
                text = f"coordinator of {kind.name.lower()} {answer.key!r}: {_reason(answer)}"
                self._refuse(kind, [answer.key], BrokerError(answer.error_code, text))
                continue
            self._brokers.broker_seen(BrokerAddress(answer.node_id, answer.host, answer.port))
            self._known[(kind, answer.key)] = answer.node_id
            future = self._wanted.pop((kind, answer.key), None)
            if future is not None and not future.done():
                future.set_result(answer.node_id)
        return not self._keys(kind)

    async def _ask_several(self, kind: CoordinatorKind, keys: list[str]) -> list[Coordinator]:
        """Asks one broker, and another one beside it after a second of silence: its connection may be dead unnoticed.

        The first outcome counts, a failure too.
        """

        async def outcome() -> list[Coordinator] | KafkaException:
            try:
                return await self._ask(kind, keys)
            except KafkaException as error:
                return error

        found = await race([outcome] * _ASKED_AT_ONCE, stagger_s=STAGGER_S)
        if isinstance(found, KafkaException):
            raise found
        return found

    async def _ask(self, kind: CoordinatorKind, keys: list[str]) -> list[Coordinator]:
        connection = await self._brokers.any_connection()
        version = connection.version_of(FindCoordinatorRequest)
        if version >= _BATCHED_SINCE:
            request = FindCoordinatorRequest(key_type=kind, coordinator_keys=keys)
            response = await connection.send(request, version=version)
            return response.coordinators
        answers = []
        for key in keys:
            request = FindCoordinatorRequest(key=key, key_type=kind)
            answers.append(_one(key, await connection.send(request, version=version)))
        return answers


def _one(key: str, response: FindCoordinatorResponse) -> Coordinator:
    """The old form of the answer as the new one."""
    return Coordinator(key, response.node_id, response.host, response.port, response.error_code, response.error_message)


def _reason(answer: Coordinator) -> str:
    return answer.error_message or KafkaError.from_code(answer.error_code).str()
