"""kafka_core.engine.metadata: merging answers, old epochs, topic ids; when the next refresh is due."""

import itertools
import random
from uuid import UUID

import pytest

from kafka_core.clock import ManualClock
from kafka_core.engine.metadata import (
    BrokerAddress,
    ClusterView,
    PartitionView,
    RefreshPlan,
    RefreshRules,
    merge,
    metadata_request,
    with_broker,
    with_leaders,
    without_old_topics,
)
from kafka_core.errors import KafkaError
from kafka_core.protocol import ZERO_UUID, encode
from kafka_core.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

ID_1, ID_2 = UUID(int=1), UUID(int=2)


def topic(
    name: str, *leaders: tuple[int, int], topic_id: UUID = ZERO_UUID, error_code: int = 0
) -> MetadataResponseTopic:
    """A topic whose partition i has leaders[i] = (leader, epoch)."""
    return MetadataResponseTopic(
        name=name,
        topic_id=topic_id,
        error_code=error_code,
        partitions=[
            MetadataResponsePartition(
                partition_index=index, leader_id=leader, leader_epoch=epoch, replica_nodes=[1, 2], isr_nodes=[leader]
            )
            for index, (leader, epoch) in enumerate(leaders)
        ],
    )


def response(
    *topics: MetadataResponseTopic, brokers: tuple[int, ...] = (1, 2), cluster_id: str = "c"
) -> MetadataResponse:
    return MetadataResponse(
        brokers=[MetadataResponseBroker(node, f"host{node}", 9092, "rack") for node in brokers],
        cluster_id=cluster_id,
        controller_id=brokers[0],
        topics=list(topics),
    )


def view_of(*topics: MetadataResponseTopic, now_s: float = 1.0) -> ClusterView:
    return merge(ClusterView(), response(*topics), now_s=now_s, all_topics=False)


class TestView:
    def test_of_an_answer(self):
        view = view_of(topic("a", (1, 5), (2, 6), topic_id=ID_1))
        assert view.brokers[2] == BrokerAddress(2, "host2", 9092, "rack")
        assert (view.controller_id, view.cluster_id, view.updated_at_s) == (1, "c", 1.0)
        assert view.leader("a", 1) == 2
        assert view.partition("a", 0) == PartitionView(0, 1, 5, (1, 2), (1,))
        assert (view.partition_count("a"), view.topic_id("a")) == (2, ID_1)

    def test_of_nothing(self):
        view = ClusterView()
        assert (view.leader("a", 0), view.partition_count("a"), view.topic_id("a")) == (None, None, ZERO_UUID)

    def test_a_missing_leader_is_none(self):
        assert view_of(topic("a", (-1, 5))).leader("a", 0) is None

    def test_no_controller_is_none(self):
        answer = MetadataResponse(brokers=[MetadataResponseBroker(1, "h", 1)], controller_id=-1)
        assert merge(ClusterView(), answer, now_s=1, all_topics=True).controller_id is None

    def test_an_old_snapshot_is_not_changed(self):
        before = view_of(topic("a", (1, 5)))
        after = merge(before, response(topic("a", (2, 6))), now_s=2, all_topics=False)
        assert (before.leader("a", 0), after.leader("a", 0)) == (1, 2)


class TestMerge:
    def test_some_topics_leave_the_others_alone(self):
        view = merge(view_of(topic("a", (1, 1))), response(topic("b", (2, 1))), now_s=2, all_topics=False)
        assert set(view.topics) == {"a", "b"}

    def test_all_topics_replace(self):
        view = merge(view_of(topic("a", (1, 1), topic_id=ID_1)), response(topic("b", (2, 1))), now_s=2, all_topics=True)
        assert set(view.topics) == {"b"}
        assert view.topic_id("a") == ZERO_UUID

    @pytest.mark.parametrize(("epoch", "leader"), [(4, 1), (5, 2), (6, 2), (-1, 2)])
    def test_an_older_leader_epoch_is_not_believed(self, epoch: int, leader: int):
        view = merge(view_of(topic("a", (1, 5))), response(topic("a", (2, epoch))), now_s=2, all_topics=False)
        assert view.leader("a", 0) == leader

    def test_an_epoch_that_no_later_answer_knows_is_not_believed_for_ever(self):
        """One damaged answer must not keep a partition from its leader until the process ends."""
        view = view_of(topic("a", (7, 2**24)))
        leaders = []
        for now_s in (2.0, 3.0, 4.0, 5.0, 6.0, 11.9, 12.0):
            view = merge(view, response(topic("a", (1, 5))), now_s=now_s, all_topics=False)
            leaders.append(view.leader("a", 0))
        assert leaders == [7] * 6 + [1]
        assert view.partition("a", 0) == PartitionView(0, 1, 5, (1, 2), (1,))

    def test_some_old_answers_far_apart_are_not_enough(self):
        view = view_of(topic("a", (1, 5)))
        for now_s in (100.0, 200.0, 300.0, 400.0):
            view = merge(view, response(topic("a", (2, 4))), now_s=now_s, all_topics=False)
        assert view.leader("a", 0) == 1

    @pytest.mark.parametrize("hint", [False, True])
    def test_an_answer_that_knows_the_epoch_ends_the_doubts(self, hint: bool):
        view = view_of(topic("a", (1, 5)))
        for now_s in range(100, 200):
            view = merge(view, response(topic("a", (2, 4))), now_s=now_s, all_topics=False)
            if now_s % 3 == 0 and hint:
                view = with_leaders(view, [("a", 0, 1, now_s)])
            elif now_s % 3 == 0:
                view = merge(view, response(topic("a", (1, 5))), now_s=now_s, all_topics=False)
            assert view.leader("a", 0) == 1

    def test_a_topic_made_anew_begins_with_low_epochs(self):
        before = view_of(topic("a", (1, 50), topic_id=ID_1))
        view = merge(before, response(topic("a", (2, 0), topic_id=ID_2)), now_s=2, all_topics=False)
        assert view.leader("a", 0) == 2
        assert view.topic_id("a") == ID_2

    def test_another_cluster_replaces_everything(self):
        other = response(topic("b", (2, 0)), cluster_id="other")
        view = merge(view_of(topic("a", (1, 50)), topic("b", (1, 50))), other, now_s=2, all_topics=False)
        assert set(view.topics) == {"b"}
        assert (view.leader("b", 0), view.cluster_id) == (2, "other")

    def test_a_passing_error_keeps_the_partitions_and_the_id(self):
        before = view_of(topic("a", (1, 5), topic_id=ID_1))
        view = merge(before, response(topic("a", error_code=5)), now_s=2, all_topics=False)
        assert (view.leader("a", 0), view.topics["a"].error_code, view.topic_id("a")) == (1, 5, ID_1)

    def test_an_unknown_topic_has_no_partitions(self):
        view = merge(view_of(topic("a", (1, 5))), response(topic("a", error_code=3)), now_s=2, all_topics=False)
        assert (view.partition_count("a"), view.topics["a"].error_code) == (None, 3)

    def test_brokers_are_always_those_of_the_answer(self):
        view = merge(view_of(), response(brokers=(3,)), now_s=2, all_topics=False)
        assert set(view.brokers) == {3}


class TestHints:
    def test_a_newer_epoch_moves_the_leader(self):
        broker = BrokerAddress(9, "nine", 1)
        view = with_leaders(view_of(topic("a", (1, 5))), [("a", 0, 9, 6)], [broker])
        assert (view.leader("a", 0), view.brokers[9]) == (9, broker)

    @pytest.mark.parametrize("hint", [("a", 0, 9, 5), ("a", 0, -1, 6), ("a", 7, 9, 6), ("zzz", 0, 9, 6)])
    def test_others_do_not(self, hint: tuple[str, int, int, int]):
        view = view_of(topic("a", (1, 5)))
        assert with_leaders(view, [hint]).topics == view.topics

    def test_a_coordinator_brings_its_address(self):
        broker = BrokerAddress(9, "nine", 1)
        assert with_broker(view_of(), broker).brokers[9] == broker


class TestAge:
    def test_topics_that_nobody_named_for_long_are_forgotten_except_tracked_ones(self):
        view = view_of(topic("old", (1, 1), topic_id=ID_1), topic("kept", (1, 1)), now_s=0)
        view = merge(view, response(topic("new", (1, 1))), now_s=800, all_topics=False)
        view = without_old_topics(view, now_s=900, max_age_s=900, keep=["kept"])
        assert set(view.topics) == {"kept", "new"}
        assert view.topic_id("a") == ZERO_UUID

    def test_nothing_to_forget_gives_the_same_view(self):
        view = view_of(topic("a", (1, 1)))
        assert without_old_topics(view, now_s=2, max_age_s=900, keep=[]) is view


class TestRequest:
    @pytest.mark.parametrize("version", range(14))
    @pytest.mark.parametrize("topics", [None, [], ["a", "b"]])
    @pytest.mark.parametrize("create", [True, False])
    def test_can_be_encoded_in_every_version(self, version: int, topics: list[str] | None, create: bool):
        request = metadata_request(topics, allow_auto_create=create, version=version)
        assert encode(request, version)
        if version >= 4:
            assert request.allow_auto_topic_creation is create

    def test_all_topics_is_null_except_in_version_0(self):
        assert metadata_request(None, allow_auto_create=False, version=12).topics is None
        assert metadata_request(None, allow_auto_create=False, version=0).topics == []


class TestOvertaken:
    """Answer 1 comes after answer 2."""

    def second(self, *topics: MetadataResponseTopic, all_topics: bool = False) -> ClusterView:
        return merge(ClusterView(), response(*topics), now_s=1.0, all_topics=all_topics, asked=2)

    def late(self, view: ClusterView, *topics: MetadataResponseTopic, brokers: tuple[int, ...] = (1, 2)) -> ClusterView:
        return merge(view, response(*topics, brokers=brokers), now_s=2.0, all_topics=False, asked=1)

    @pytest.mark.parametrize(
        "old",
        [
            topic("a", (2, -1), topic_id=ID_1),
            topic("a", (2, 4), topic_id=ID_1),
            topic("a", (2, 9), topic_id=ID_2),
            topic("a", topic_id=ID_1, error_code=KafkaError.UNKNOWN_TOPIC_OR_PART),
        ],
        ids=["no epochs", "an older epoch", "the topic was made anew", "the topic was not there"],
    )
    def test_it_undoes_nothing(self, old: MetadataResponseTopic):
        view = self.second(topic("a", (1, 5), (1, 5), topic_id=ID_1))
        assert self.late(view, old) == view

    def test_brokers_stay_those_of_the_newer_one(self):
        view = self.second(topic("a", (1, 5)))
        assert self.late(view, brokers=(7, 8)) == view

    def test_a_topic_that_the_newer_one_did_not_name_is_taken(self):
        view = self.late(self.second(topic("a", (1, 5))), topic("b", (2, 3), topic_id=ID_2))
        assert (view.leader("a", 0), view.leader("b", 0), view.topic_id("b")) == (1, 2, ID_2)

    def test_a_leader_with_a_newer_epoch_is_believed(self):
        view = self.late(self.second(topic("a", (1, 5), (1, 5))), topic("a", (2, 6), (2, 4)))
        assert [view.leader("a", index) for index in (0, 1)] == [2, 1]

    def test_a_topic_that_is_gone_stays_gone(self):
        view = self.second(topic("a", (1, 5)), all_topics=True)
        assert self.late(view, topic("b", (2, 3))) == view

    def test_an_answer_of_the_cluster_before_counts_for_nothing(self):
        view = self.second(topic("a", (1, 5)))
        other = response(topic("b", (2, 3)), cluster_id="before")
        assert merge(view, other, now_s=2.0, all_topics=False, asked=1) == view

    def test_the_next_answer_is_taken_whole(self):
        view = self.late(self.second(topic("a", (1, 5))), topic("b", (2, 3)))
        view = merge(view, response(topic("a", (2, -1))), now_s=3.0, all_topics=False, asked=3)
        assert view.leader("a", 0) == 2


class TestPlan:
    RULES = RefreshRules(interval_s=300, fast_interval_ms=100, fast_max_ms=1000)

    def plan(self, rules: RefreshRules = RULES) -> tuple[RefreshPlan, ManualClock]:
        return RefreshPlan(rules, random.Random(1)), ManualClock()

    def test_nothing_is_due_before_anybody_asked(self):
        plan, _ = self.plan()
        assert plan.due_at_s() is None

    def test_the_interval_counts_from_the_first_answer(self):
        plan, clock = self.plan()
        plan.track(["b", "a"])
        plan.observed(clock.monotonic(), ["a"])
        first_s = clock.monotonic()
        assert plan.due_at_s() == first_s + 300
        clock.advance(300)
        assert plan.started(clock.monotonic()) == {"a", "b"}
        assert plan.due_at_s() is None
        clock.advance(1)
        plan.finished(clock.monotonic(), ok=True, topics=["a", "b"])
        assert plan.due_at_s() == first_s + 600

    def test_other_refreshes_do_not_delay_the_interval(self):
        plan, clock = self.plan()
        plan.observed(clock.monotonic(), None)
        first_s = clock.monotonic()
        clock.advance(200)
        plan.invalidate("a", clock.monotonic())
        plan.started(clock.monotonic())
        plan.observed(clock.monotonic(), None)
        plan.finished(clock.monotonic(), ok=True, topics=["a"])
        assert plan.due_at_s() == first_s + 300
        clock.advance(450)  # the machine slept
        plan.started(clock.monotonic())
        plan.finished(clock.monotonic(), ok=True)
        assert plan.due_at_s() == first_s + 900

    def test_no_interval(self):
        plan, clock = self.plan(RefreshRules(interval_s=None))
        plan.observed(clock.monotonic(), None)
        assert plan.due_at_s() is None

    def test_a_stale_topic_is_due_at_once_and_asked_for_together_with_tracked_ones(self):
        plan, clock = self.plan()
        plan.track(["t"])
        plan.invalidate("stale", clock.monotonic())
        due_s = plan.due_at_s()
        assert due_s is not None
        assert due_s <= clock.monotonic()
        assert plan.started(clock.monotonic()) == {"t", "stale"}

    def refreshes(self, plan: RefreshPlan, clock: ManualClock, until_s: float) -> list[float]:
        """The times of refreshes, while somebody asks for one all the time."""
        begun: list[float] = []
        while True:
            plan.invalidate("a", clock.monotonic())
            due_s = plan.due_at_s()
            assert due_s is not None
            clock.advance(max(0.0, due_s - clock.monotonic()))
            if clock.monotonic() > until_s:
                return begun
            begun.append(clock.monotonic())
            plan.started(clock.monotonic())
            plan.finished(clock.monotonic(), ok=True)

    @pytest.mark.parametrize(
        ("interval_ms", "max_ms", "soon", "later_s"),
        [
            (100, 1000, [0.1, 0.2, 0.25, 0.25], 1.0),
            (500, 1000, [0.5, 0.5], 1.0),
            (20, 100, [0.02, 0.04, 0.08, 0.1, 0.1], 0.1),
        ],
    )
    def test_repeated_trouble_is_spaced_closely_for_as_long_as_an_election_takes(
        self, interval_ms: int, max_ms: int, soon: list[float], later_s: float
    ):
        plan, clock = self.plan(RefreshRules(fast_interval_ms=interval_ms, fast_max_ms=max_ms))
        start_s = clock.monotonic()
        begun = self.refreshes(plan, clock, start_s + 60)
        assert begun[0] == start_s
        gaps_s = [after - before for before, after in itertools.pairwise(begun)]
        for gap_s, middle_s in zip(gaps_s, soon, strict=False):
            assert middle_s * 0.79 <= gap_s <= middle_s * 1.21
        for before_s, gap_s in zip(begun[len(soon) :], gaps_s[len(soon) :], strict=False):
            middle_s = soon[-1] if before_s < start_s + 30 else later_s
            assert middle_s * 0.79 <= gap_s <= middle_s * 1.01

    def test_no_second_has_more_than_six_refreshes_however_often_they_are_asked_for(self):
        plan, clock = self.plan()
        begun = self.refreshes(plan, clock, clock.monotonic() + 60)
        assert max(sum(first <= one < first + 1 for one in begun) for first in begun) <= 6

    def test_the_next_leader_s_trouble_is_asked_about_as_closely_as_the_last_one_s(self):
        plan, clock = self.plan()
        self.refreshes(plan, clock, clock.monotonic() + 40)
        clock.advance(5)
        start_s = clock.monotonic()
        assert len(self.refreshes(plan, clock, start_s + 10)) >= 40

    def test_trouble_after_a_quiet_time_is_due_at_once_again(self):
        plan, clock = self.plan()
        for _ in range(4):
            plan.invalidate(None, clock.monotonic())
            clock.advance(1.0)
            plan.started(clock.monotonic())
            plan.finished(clock.monotonic(), ok=True)
        clock.advance(60)
        plan.invalidate("a", clock.monotonic())
        plan.started(clock.monotonic())
        plan.finished(clock.monotonic(), ok=True)
        plan.invalidate("a", clock.monotonic())
        due_s = plan.due_at_s()
        assert due_s is not None
        assert due_s - clock.monotonic() <= 0.12

    def test_a_failed_refresh_is_repeated_after_a_while(self):
        plan, clock = self.plan()
        plan.invalidate("a", clock.monotonic())
        topics = plan.started(clock.monotonic())
        plan.finished(clock.monotonic(), ok=False, topics=topics)
        due_s = plan.due_at_s()
        assert due_s is not None
        assert due_s > clock.monotonic()
        assert plan.started(due_s) == {"a"}

    def test_somebody_elses_answer_counts(self):
        plan, clock = self.plan()
        plan.invalidate("a", clock.monotonic())
        plan.observed(clock.monotonic(), ["a", "b"])
        assert plan.due_at_s() == clock.monotonic() + 300
        plan.invalidate(None, clock.monotonic())
        plan.observed(clock.monotonic(), None)
        assert plan.due_at_s() == clock.monotonic() + 300
