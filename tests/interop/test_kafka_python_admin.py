"""The same administration, by kafka-python and by its dialect, on one real broker that enforces ACLs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fix_kafka import start_real
from tests.interop.kafka_python_admin_scenarios import SCENARIOS
from tests.interop.kafka_python_sides import Topics, seen_by_both, topics_of
from tools.real_kafka import RealKafka

pytestmark = [pytest.mark.interop, pytest.mark.broker]
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


@pytest.fixture(scope="module")
def guarded() -> Iterator[RealKafka]:
    """One real broker with an authorizer: who has not logged in may do everything."""
    yield from start_real(extra=AUTHORIZER)


@pytest.fixture(scope="module")
def topics(guarded: RealKafka) -> Topics:
    return topics_of(SCENARIOS, "ka", guarded.bootstrap_servers)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_same_is_seen(name: str, topics: Topics, guarded: RealKafka) -> None:
    seen = seen_by_both(SCENARIOS, name, topics, guarded.bootstrap_servers)
    assert seen["ours"] == seen["theirs"]
    assert seen["ours"] is not None
