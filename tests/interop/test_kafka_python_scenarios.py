"""The same program, on kafka-python and on its dialect, against one real broker: it must see the same."""

from __future__ import annotations

import pytest

from tests.interop.kafka_python_scenarios import SCENARIOS
from tests.interop.kafka_python_sides import Topics, seen_by_both, topics_of
from tools.real_kafka import RealKafka

pytestmark = [pytest.mark.interop, pytest.mark.broker]


@pytest.fixture(scope="module")
def topics(real_kafka: RealKafka) -> Topics:
    return topics_of(SCENARIOS, "kp", real_kafka.bootstrap_servers)


# kafka-python warns of functions as serializers, and forgets what a constructor that failed had opened; that ours
# forgets nothing is seen by tests/unit/kserdes/compat.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_same_is_seen(name: str, topics: Topics, real_kafka: RealKafka) -> None:
    seen = seen_by_both(SCENARIOS, name, topics, real_kafka.bootstrap_servers)
    assert seen["ours"] == seen["theirs"]
    assert seen["ours"] is not None
