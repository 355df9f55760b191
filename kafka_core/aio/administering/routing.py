"""Routing and retries of administration calls: one loop for all of them.

Must not know what requests mean: it is given functions that send one part and say how it went for each key.
Spec: KIP-222 and KIP-396 (what is retried); engine/retry.py decides what an error calls for.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from kafka_core.admin_model import ConfigResource, Outcome
from kafka_core.aio.cluster.client import ClusterClient, CoordinatorKind
from kafka_core.aio.cluster.unanswered import unanswered
from kafka_core.aio.net.connection import BrokerConnection
from kafka_core.config import Config
from kafka_core.engine.administering import configs as admin_configs
from kafka_core.engine.administering.checks import checked_timeout
from kafka_core.engine.metadata import ClusterView
from kafka_core.engine.retry import Action, Backoff, classify
from kafka_core.errors import BrokerError, KafkaError, KafkaException, NetworkError
from kafka_core.model import TopicPartition
from kafka_core.protocol import ApiMessage, ApiRequest
from kafka_core.protocol.messages.list_groups import ListedGroup, ListGroupsRequest

logger: Final = logging.getLogger("kafka_core.aio")

# Codes that are the answer here, though elsewhere they call for another try.
_ANSWERS: Final = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.UNKNOWN_TOPIC_ID,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.BROKER_NOT_AVAILABLE,
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError._UNKNOWN_BROKER,
    }
)

CONTROLLER: Final = "Failed while waiting for controller"
"""librdkafka's error of a call that no broker answered, if the table has no other words for it."""
_BY_RESPONSE: Final = "Failed while waiting for response from broker"
_UNANSWERED: Final[Mapping[str, str]] = {
    "describe_consumer_groups": "",
    "delete_consumer_groups": "",
    "list_consumer_group_offsets": _BY_RESPONSE,
    "alter_consumer_group_offsets": _BY_RESPONSE,
    "delete_records": "Failed to query partition leaders",
    "list_offsets": "Failed to query partition leaders",
}

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
R = TypeVar("R", bound=ApiMessage)
Outcomes = dict[K, Outcome[T]]


class OutOfTime(NetworkError):
    """The call's own time is over; an earlier failure, if there was one, is reported instead."""


class Deadline:
    """The deadline of one call."""

    __slots__ = ("_at_s", "what")

    def __init__(self, what: str, timeout_s: float) -> None:
        self.what = what
        self._at_s = asyncio.get_running_loop().time() + timeout_s

    def left_s(self) -> float:
        """Seconds left; OutOfTime (a NetworkError, _TIMED_OUT) when there are none."""
        left = self._at_s - asyncio.get_running_loop().time()
        if left <= 0:
            raise OutOfTime(f"{self.what}: no time is left", KafkaError._TIMED_OUT)
        return left

    def allows(self, delay_s: float) -> bool:
        """Whether there is time for waiting that long and then trying again."""
        return self._at_s - asyncio.get_running_loop().time() > delay_s


class Router:
    """Sends parts of a call where they belong, gathers the outcomes and tries again what may still succeed.

    Args:
        client: the cluster.
        config: `socket.timeout.ms` is the default for both time-outs; `retry.backoff.*` the waits.
        rng: for jitter.
    """

    def __init__(self, client: ClusterClient, config: Config, rng: random.Random) -> None:
        self.client = client
        self.timeout_s = config.seconds("socket.timeout.ms")
        self.started = False
        self.backoff = Backoff(config.integer("retry.backoff.ms"), config.integer("retry.backoff.max.ms"), rng)

    async def start(self) -> None:
        """Starts the client's background work, once."""
        if not self.started:
            self.started = True
            await self.client.start()

    async def begin(self, what: str, request_timeout: float | None) -> Deadline:
        """The deadline of a call that begins now."""
        await self.start()
        return Deadline(what, self.call_s(request_timeout))

    def call_s(self, request_timeout: float | None) -> float:
        """Seconds a call may take; TypeError or ValueError when that is no duration."""
        return checked_timeout(request_timeout, "request_timeout", self.timeout_s)

    def operation_ms(self, operation_timeout: float | None) -> int:
        """Milliseconds the broker may wait for the effect; errors as `call_s`."""
        return int(checked_timeout(operation_timeout, "operation_timeout", self.timeout_s) * 1000)

    async def keyed(
        self,
        what: str,
        keys: Sequence[K],
        attempt: Callable[[Collection[K], Deadline], Awaitable[Outcomes[K, T]]],
        request_timeout: float | None,
        kind: CoordinatorKind = CoordinatorKind.GROUP,
    ) -> Outcomes[K, T]:
        """Tries until every key has a final outcome or the time is over; the outcomes are in the order of `keys`."""
        deadline = await self.begin(what, request_timeout)
        outcomes: Outcomes[K, T] = {}
        pending = list(keys)
        tries = 0
        while True:
            try:
                answers = await attempt(pending, deadline)
            except KafkaException as error:
                answers = {key: Outcome(error=error) for key in pending}
            for key in pending:
                answer = answers.get(key) or left_out(what, key)
                if not (isinstance(answer.error, OutOfTime) and key in outcomes):
                    outcomes[key] = answer
            delay_s = self.backoff.delay_s(tries)
            again = retriable(outcomes, pending)
            if not again or not deadline.allows(delay_s):
                return {key: told(what, key, outcomes[key]) for key in keys}
            logger.debug("%s: trying again in %.3f s: %s", what, delay_s, next(iter(again.values())))
            await asyncio.sleep(delay_s)
            await self.mend(again, deadline, kind)
            pending = list(again)
            tries += 1

    async def whole(self, what: str, ask: Callable[[Deadline], Awaitable[T]], request_timeout: float | None) -> T:
        """`keyed` for a call that succeeds or fails as a whole.

        Raises:
            KafkaException: it failed, for good or until the time was over.
        """

        async def attempt(keys: Collection[None], deadline: Deadline) -> Outcomes[None, T]:
            return {None: Outcome(await ask(deadline))}

        outcome = (await self.keyed(what, [None], attempt, request_timeout))[None]
        if outcome.error is not None:
            raise outcome.error
        return cast(T, outcome.value)

    async def mend(
        self, failed: Mapping[K, KafkaException], deadline: Deadline, kind: CoordinatorKind = CoordinatorKind.GROUP
    ) -> None:
        """Prepares another try as the errors require: new metadata, another coordinator. Ignores its own failures."""
        actions = {key: classify(error) for key, error in failed.items()}
        for key, action in actions.items():
            # A coordinator that can't be reached may have moved, just as one that says so.
            if action in (Action.FIND_COORDINATOR, Action.REFRESH_AND_RETRY) and isinstance(key, str):
                self.client.forget_coordinator(kind, key)
        if Action.REFRESH_AND_RETRY in actions.values():
            try:
                await self.client.refresh_metadata((), timeout_s=deadline.left_s())
            except KafkaException as error:
                logger.debug("%s: metadata could not be refreshed: %s", deadline.what, error)

    async def by_broker(
        self,
        what: str,
        resources: Sequence[ConfigResource],
        one: Callable[[int | None, Sequence[ConfigResource], Deadline], Awaitable[Outcomes[ConfigResource, T]]],
        request_timeout: float | None,
    ) -> Outcomes[ConfigResource, T]:
        """`keyed` for resources: each broker is asked about itself, one about all the others."""

        async def attempt(keys: Collection[ConfigResource], deadline: Deadline) -> Outcomes[ConfigResource, T]:
            return await self.gather(admin_configs.by_broker(keys), one, deadline)

        return await self.keyed(what, resources, attempt, request_timeout)

    async def by_coordinator(
        self,
        what: str,
        groups: Sequence[str],
        one: Callable[[int, Sequence[str], Deadline], Awaitable[Outcomes[str, T]]],
        request_timeout: float | None,
        kind: CoordinatorKind = CoordinatorKind.GROUP,
    ) -> Outcomes[str, T]:
        """`keyed` for groups or transactional ids: each coordinator is asked about its own."""

        async def attempt(keys: Collection[str], deadline: Deadline) -> Outcomes[str, T]:
            coordinators: dict[int, list[str]] = {}
            failed: Outcomes[str, T] = {}
            for key in keys:
                try:
                    node_id = await self.client.coordinator(kind, key, timeout_s=deadline.left_s())
                    coordinators.setdefault(node_id, []).append(key)
                except KafkaException as error:
                    failed[key] = Outcome(error=error)
            return {**failed, **await self.gather(coordinators, one, deadline)}

        return await self.keyed(what, groups, attempt, request_timeout, kind)

    async def by_leader(
        self,
        what: str,
        partitions: Sequence[TopicPartition],
        one: Callable[[int, Sequence[TopicPartition], Deadline], Awaitable[Outcomes[TopicPartition, T]]],
        request_timeout: float | None,
    ) -> Outcomes[TopicPartition, T]:
        """`keyed` for partitions: each leader is asked about its own."""

        async def attempt(keys: Collection[TopicPartition], deadline: Deadline) -> Outcomes[TopicPartition, T]:
            topics = {item.topic for item in keys}
            view = await self.client.refresh_metadata(topics, timeout_s=deadline.left_s(), allow_auto_create=False)
            leaders, missing = group_by_leader(view, keys)
            return {**missing, **await self.gather(leaders, one, deadline)}

        return await self.keyed(what, partitions, attempt, request_timeout)

    async def everywhere(
        self,
        what: str,
        brokers: Sequence[int] | None,
        ask: Callable[[int, Deadline], Awaitable[Outcome[T]]],
        request_timeout: float | None,
    ) -> Outcomes[int, T]:
        """`keyed` for brokers (None: all that are known): each is asked about itself."""
        deadline = await self.begin(what, request_timeout)
        if brokers is None:
            brokers = list((await self.client.refresh_metadata((), timeout_s=deadline.left_s())).brokers)

        async def one(node_id: int, part: Sequence[int], deadline: Deadline) -> Outcomes[int, T]:
            return {node_id: await ask(node_id, deadline)}

        async def attempt(keys: Collection[int], deadline: Deadline) -> Outcomes[int, T]:
            return await self.gather({node_id: [node_id] for node_id in keys}, one, deadline)

        return await self.keyed(what, list(brokers), attempt, deadline.left_s())

    async def gather(
        self,
        parts: Mapping[Any, Sequence[K]],
        one: Callable[[Any, Sequence[K], Deadline], Awaitable[Outcomes[K, T]]],
        deadline: Deadline,
    ) -> Outcomes[K, T]:
        """One request per broker at the same time; a broker that fails, fails for its keys only."""

        async def guarded(node_id: Any, part: Sequence[K]) -> Outcomes[K, T]:
            try:
                return await one(node_id, part, deadline)
            except KafkaException as error:
                return {key: Outcome(error=error) for key in part}

        done = await asyncio.gather(*(guarded(node_id, part) for node_id, part in parts.items()))
        return {key: outcome for part in done for key, outcome in part.items()}

    async def send_to(
        self, node_id: int | None, request: ApiRequest[Any], deadline: Deadline, *, controller: bool = False
    ) -> Any:
        """To that broker; None: to the controller, or to any broker."""
        if node_id is not None:
            return await self.client.send(node_id, request, timeout_s=deadline.left_s())
        if controller:
            return await self.client.send_controller(request, timeout_s=deadline.left_s())
        return await self.client.send_any(request, timeout_s=deadline.left_s())

    async def ask_controller(self, request: ApiRequest[R], deadline: Deadline) -> R:
        """The controller's answer."""
        return await self.client.send_controller(request, timeout_s=deadline.left_s())

    async def controller(self, deadline: Deadline) -> BrokerConnection:
        """A connection to the controller, for requests whose form depends on the version."""
        if self.client.metadata.controller_id not in self.client.metadata.brokers:
            await self.client.refresh_metadata((), timeout_s=deadline.left_s())
        controller = self.client.metadata.controller_id
        if controller is None:
            return await self.in_time(self.client.any_connection, deadline)
        return await self.in_time(lambda: self.client.connection(controller), deadline)

    async def in_time(self, connect: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """Waits for a connection, but not longer than the call may take; without time left it is not even begun."""
        try:
            async with asyncio.timeout(deadline.left_s()):
                return await connect()
        except TimeoutError:
            cause = self.client.last_error
            text = f"{deadline.what}: no connection in time{f': {cause}' if cause else ''}"
            raise NetworkError(text, KafkaError._TIMED_OUT) from cause

    async def list_everywhere(
        self, request: ListGroupsRequest, deadline: Deadline
    ) -> tuple[dict[int, list[ListedGroup]], list[KafkaException]]:
        """The groups that each broker coordinates, and the errors of brokers that did not answer."""
        view = await self.client.refresh_metadata((), timeout_s=deadline.left_s())

        async def one(node_id: int, part: Sequence[int], deadline: Deadline) -> Outcomes[int, list[ListedGroup]]:
            response = await self.client.send(node_id, request, timeout_s=deadline.left_s())
            return {node_id: Outcome.of(response.error_code, None, response.groups)}

        outcomes = await self.gather({node_id: [node_id] for node_id in view.brokers}, one, deadline)
        errors = [outcome.error for outcome in outcomes.values() if outcome.error is not None]
        return {node_id: outcome.value or [] for node_id, outcome in outcomes.items() if outcome.error is None}, errors


def retriable(outcomes: Mapping[K, Outcome[T]], keys: Iterable[K]) -> dict[K, KafkaException]:
    """The keys whose answer another try may change, with their errors."""
    errors = {key: outcomes[key].error for key in keys}
    return {
        key: error
        for key, error in errors.items()
        if error is not None and error.code not in _ANSWERS and classify(error).tries_again
    }


def told(what: str, key: object, outcome: Outcome[T]) -> Outcome[T]:
    """The outcome, with the code and words that an answer that did not come has for this call."""
    if outcome.error is None:
        return outcome
    one_broker = isinstance(key, ConfigResource) and admin_configs.broker_of(key) is not None
    words = "Failed while waiting for broker" if one_broker else CONTROLLER
    error = unanswered(outcome.error, _UNANSWERED.get(what, words))
    return outcome if error is outcome.error else Outcome(error=error)


def left_out(what: str, key: object) -> Outcome[Any]:
    """For a key that the broker's response does not speak of."""
    return Outcome(error=BrokerError(KafkaError(KafkaError._FAIL, f"{what}: the broker's response leaves out {key}")))


def group_by_leader(
    view: ClusterView, partitions: Iterable[TopicPartition]
) -> tuple[dict[int, list[TopicPartition]], Outcomes[TopicPartition, Any]]:
    """Partitions by the broker that leads them, and the errors of those without one."""
    leaders: dict[int, list[TopicPartition]] = {}
    missing: Outcomes[TopicPartition, Any] = {}
    for item in partitions:
        topic = view.topics.get(item.topic)
        leader = view.leader(item.topic, item.partition)
        if leader is not None:
            leaders.setdefault(leader, []).append(item)
            continue
        known = topic is not None and item.partition in topic.partitions
        code = topic.error_code if topic is not None and topic.error_code else KafkaError.UNKNOWN_TOPIC_OR_PART
        missing[item] = Outcome.of(KafkaError.LEADER_NOT_AVAILABLE if known else code, None)
    return leaders, missing
