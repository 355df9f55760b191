"""A consumer's requests besides fetches: commits, committed offsets, offsets by time, ends of epochs.

Must not know assignments or the application: partitions in, answers per partition out, tried again while that helps.
Spec: engine/consuming/offsets.py has the requests, engine/retry.py says what an error means.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Any, Final, TypeVar

from kafka_core.aio.cluster.client import ClusterClient, CoordinatorKind, Purpose
from kafka_core.clock import Clock
from kafka_core.engine.consuming import offsets
from kafka_core.engine.consuming.offsets import Commits, Committed, ConsumerGroupMetadata
from kafka_core.engine.consuming.subscription import Key
from kafka_core.engine.retry import Action, Backoff, classify
from kafka_core.errors import BrokerError, KafkaError, KafkaException, NetworkError, ProtocolError
from kafka_core.protocol import ZERO_UUID, ApiMessage, ApiRequest, negotiate
from kafka_core.protocol.messages.leave_group import LeaveGroupRequest
from kafka_core.protocol.messages.list_offsets import ListOffsetsRequest
from kafka_core.protocol.messages.offset_commit import OffsetCommitRequest
from kafka_core.protocol.messages.offset_fetch import OffsetFetchRequest

ResponseT = TypeVar("ResponseT", bound=ApiMessage)
T = TypeVar("T")
LEAVE_BY_MEMBERS: Final = 3


class ConsumerRpc:
    """Requests of one consumer; lives on its loop.

    Args:
        group_id: the group whose coordinator keeps the offsets.
        member_epochs: reads of committed offsets name the member and its epoch too (`group.protocol=consumer`).
    """

    def __init__(
        self,
        client: ClusterClient,
        clock: Clock,
        backoff: Backoff,
        group_id: str,
        request_timeout_s: float,
        *,
        member_epochs: bool = False,
    ) -> None:
        self._client = client
        self._clock = clock
        self._backoff = backoff
        self._group_id = group_id
        self._timeout_s = request_timeout_s
        self._member_epochs = member_epochs

    async def call(
        self,
        node_id: int,
        request: type[ApiRequest[ResponseT]],
        build: Callable[[int], ApiRequest[ResponseT]],
        *,
        purpose: Purpose = Purpose.MAIN,
        timeout_s: float | None = None,
        max_version: int | None = None,
    ) -> ResponseT:
        """Sends a request whose form depends on the version that the broker knows.

        A broker whose reconnect back-off lasts is not waited for: meanwhile another one may have taken its place.
        """
        if wait_s := self._client.connects_in_s(node_id, purpose):
            text = f"broker {node_id} can't be reached, the next connection is tried in {wait_s:.3g} s"
            cause = self._client.last_error
            raise NetworkError(text if cause is None else f"{text}: {cause}", retriable=True) from cause
        connection = await self._client.connection(node_id, purpose)
        await connection.drain()
        version = negotiate(request, connection.versions, max_version=max_version)
        return await connection.send(build(version), timeout_s=timeout_s, version=version)

    def limit_s(self, timeout_s: float | None) -> float:
        """The time limit of a call in seconds: `socket.timeout.ms` if it has none of its own."""
        return self._timeout_s if timeout_s is None or timeout_s < 0 else timeout_s

    async def _persist(self, attempt: Callable[[], Awaitable[tuple[T, int]]], timeout_s: float | None, what: str) -> T:
        """Tries until there is no error that a retry helps against, or time is up.

        Args:
            attempt: gives a result and an error code: 0 if the result stands.
        """
        limit_s = self.limit_s(timeout_s)
        deadline_s = self._clock.monotonic() + limit_s
        cause: KafkaException | None = None
        for tries in range(2**31):
            left_s = deadline_s - self._clock.monotonic()
            if left_s <= 0:
                break
            try:
                async with asyncio.timeout(left_s):
                    result, code = await attempt()
                if code == 0:
                    return result
                error: KafkaException = BrokerError(code)
            except TimeoutError:
                break
            except KafkaException as failure:
                error = failure
            if not self._react(error):
                raise error
            cause = error
            await asyncio.sleep(min(self._backoff.delay_s(tries), max(0.0, deadline_s - self._clock.monotonic())))
        cause = cause or self._client.last_error
        reason = f": {cause}" if cause is not None else ""
        raise NetworkError(f"{what}: no answer within {limit_s:g} s{reason}", KafkaError._TIMED_OUT) from cause

    def _react(self, error: KafkaException) -> bool:
        """Does what must be done before another try; False if there should be none."""
        action = classify(error)
        if action is Action.FIND_COORDINATOR or isinstance(error, NetworkError):
            self._client.forget_coordinator(CoordinatorKind.GROUP, self._group_id)
        if action is Action.REFRESH_AND_RETRY or isinstance(error, NetworkError):
            self._client.invalidate()
        return action.tries_again or (self._member_epochs and error.code == KafkaError.STALE_MEMBER_EPOCH)

    async def coordinator(self, timeout_s: float | None = None) -> int:
        """The id of the node that coordinates the group; found first if it is not known (FindCoordinator)."""
        return await self._client.coordinator(CoordinatorKind.GROUP, self._group_id, timeout_s=timeout_s)

    # ---- commits

    async def commit(
        self, identity: Callable[[], ConsumerGroupMetadata], commits: Commits, timeout_s: float | None = None
    ) -> dict[Key, int]:
        """Commits; error code per partition (0: committed).

        Args:
            identity: asked again before every try, for the membership may change meanwhile.

        Raises:
            KafkaException: an error about the membership or the request as a whole; NetworkError when time is up.
        """

        async def attempt() -> tuple[dict[Key, int], int]:
            node_id = await self.coordinator()
            view = self._client.metadata
            former = offsets.of_former_topics(commits, view.topic_id)
            errors = dict.fromkeys(former, KafkaError.UNKNOWN_TOPIC_ID)
            wanted = {key: item for key, item in commits.items() if key not in errors}
            if not wanted:
                return errors, 0
            ids = offsets.ids_of(wanted, view.topic_id)
            by_id = ZERO_UUID not in ids.values()
            response = await self.call(
                node_id,
                OffsetCommitRequest,
                lambda _: offsets.commit_request(identity(), wanted, view.topic_id),
                max_version=None if by_id else offsets.NAMES_ONLY_VERSION,
            )
            names = {topic_id: topic for topic, topic_id in ids.items()}
            answers = offsets.commit_errors(response, names)
            none_left_out(node_id, "the commit", wanted, answers)
            errors |= answers
            return errors, next((code for code in errors.values() if concerns_all(code)), 0)

        return await self._persist(attempt, timeout_s, f"committing offsets of group {self._group_id!r}")

    async def committed(
        self, identity: Callable[[], ConsumerGroupMetadata], keys: Collection[Key], timeout_s: float | None = None
    ) -> Commits:
        """The offsets that the group has committed; waits for transactions that are about to commit offsets (KIP-447).

        Args:
            identity: asked again before every try, for the membership may change meanwhile.
        """

        async def attempt() -> tuple[Commits, int]:
            topics = {topic for topic, _ in keys}
            await self.know(topics)
            node_id = await self.coordinator()
            view = self._client.metadata
            by_id = offsets.all_have_ids(topics, view.topic_id)
            response = await self.call(
                node_id,
                OffsetFetchRequest,
                lambda version: offsets.fetch_request(
                    identity(), keys, view.topic_id, version, as_member=self._member_epochs
                ),
                max_version=None if by_id else offsets.NAMES_ONLY_VERSION,
            )
            code, found = offsets.fetched_commits(response, {view.topic_id(topic): topic for topic in topics})
            if not code:
                none_left_out(node_id, "committed offsets", keys, found)
            codes = (code, *(item.error_code for item in found.values()))
            return found, next((item for item in codes if item and classify(item).tries_again), code)

        return await self._persist(attempt, timeout_s, f"fetching committed offsets of group {self._group_id!r}")

    # ---- offsets by time

    async def list_offsets(
        self,
        wanted: Mapping[Key, int],
        *,
        read_committed: bool,
        timeout_s: float | None = None,
        missing_is_final: bool = False,
    ) -> Commits:
        """Offsets by timestamp in ms (-2 earliest, -1 latest), from the partitions' leaders; errors per partition.

        Args:
            missing_is_final: a topic or partition that fresh metadata does not know is an error, not waited for.
        """
        found: Commits = {}

        async def attempt() -> tuple[Commits, int]:
            missing = {key: timestamp for key, timestamp in wanted.items() if key not in found}
            await self.know({topic for topic, _ in missing})
            if missing_is_final and (unknown := self._unknown(missing)):
                await self._client.refresh_metadata({topic for topic, _ in unknown})  # the metadata may be old
                found.update({key: Committed(-1, error_code=code) for key, code in self._unknown(missing).items()})
                missing = {key: timestamp for key, timestamp in missing.items() if key not in found}
            view = self._client.metadata
            nodes: dict[int, dict[Key, int]] = {}
            for key, timestamp in missing.items():
                topic = view.topics.get(key[0])
                known = view.partition(*key)
                if topic is not None and topic.error_code and not classify(topic.error_code).tries_again:
                    found[key] = Committed(-1, error_code=topic.error_code)
                elif known is not None and known.leader is not None:
                    nodes.setdefault(known.leader, {})[key] = timestamp
            tasks = (self.list_at(node, items, read_committed=read_committed) for node, items in nodes.items())
            answers = await asyncio.gather(*tasks)
            again = 0
            for answer in answers:
                for key, item in answer.items():
                    if item.error_code and classify(item.error_code).tries_again:
                        again = item.error_code
                    else:
                        found[key] = item
            return found, again or (0 if len(found) == len(wanted) else self._missing_code(wanted, found))

        return await self._persist(attempt, timeout_s, "looking offsets up")

    def _unknown(self, keys: Iterable[Key]) -> dict[Key, int]:
        """Those of which the metadata says that they are not there, with the error."""
        found: dict[Key, int] = {}
        for key in keys:
            topic = self._client.metadata.topics.get(key[0])
            if topic is None or topic.error_code == KafkaError.UNKNOWN_TOPIC_OR_PART:
                found[key] = KafkaError.UNKNOWN_TOPIC_OR_PART
            elif topic.error_code == 0 and key[1] not in topic.partitions:
                found[key] = KafkaError._UNKNOWN_PARTITION
        return found

    def _missing_code(self, wanted: Iterable[Key], found: Collection[Key]) -> int:
        view = self._client.metadata
        for key in wanted:
            if key not in found:
                topic = view.topics.get(key[0])
                if topic is None or topic.error_code or key[1] not in topic.partitions:
                    return KafkaError.UNKNOWN_TOPIC_OR_PART
        return KafkaError.LEADER_NOT_AVAILABLE

    async def list_at(self, node: int, wanted: Mapping[Key, int], *, read_committed: bool) -> Commits:
        """As `list_offsets`, of one leader, asked once.

        Raises:
            KafkaException: it did not answer, or left a partition out.
        """
        epochs = {}
        for key in wanted:
            known = self._client.metadata.partition(*key)
            epochs[key] = known.leader_epoch if known is not None else -1
        timeout_ms = round(self._timeout_s * 1000)
        response = await self.call(
            node,
            ListOffsetsRequest,
            lambda version: offsets.list_request(
                wanted, epochs, read_committed=read_committed, version=version, timeout_ms=timeout_ms
            ),
        )
        answers = offsets.listed_offsets(response)
        none_left_out(node, "offsets", wanted, answers)
        return {key: answers[key] for key in wanted}

    async def know(self, topics: Iterable[str]) -> None:
        """Fetches metadata of those topics that have none yet, in one request; a topic may still be missing then."""
        view = self._client.metadata
        unknown = [name for name in topics if name not in view.topics or not view.topics[name].partitions]
        if unknown:
            await self._client.refresh_metadata(unknown)

    # ---- group requests

    async def group(self, node_id: int, request: ApiRequest[Any], timeout_s: float, *, apart: bool) -> ApiMessage:
        """Sends a request of the membership; a LeaveGroup in the form that the coordinator knows."""

        def build(version: int) -> ApiRequest[Any]:
            if isinstance(request, LeaveGroupRequest) and version < LEAVE_BY_MEMBERS:
                return LeaveGroupRequest(group_id=request.group_id, member_id=request.members[0].member_id)
            return request

        purpose = Purpose.MAIN if apart else Purpose.GROUP
        answer: ApiMessage = await self.call(node_id, type(request), build, purpose=purpose, timeout_s=timeout_s)
        return answer


def none_left_out(node_id: int, what: str, asked: Iterable[Key], answers: Collection[Key]) -> None:
    """Checks that the answer names every partition asked for; one that is left out is asked for again.

    Raises:
        ProtocolError: one was left out; retriable.
    """
    for topic, partition in asked:
        if (topic, partition) not in answers:
            raise ProtocolError(f"broker {node_id}: the answer about {what} lacks {topic}[{partition}]")


def concerns_all(code: int) -> bool:
    """Whether a partition's commit error is really one of the whole commit: the membership, or the coordinator."""
    action = classify(code)
    return action in (Action.FIND_COORDINATOR, Action.REJOIN, Action.FATAL) or (
        action is Action.RETRY and code == KafkaError.COORDINATOR_LOAD_IN_PROGRESS
    )
