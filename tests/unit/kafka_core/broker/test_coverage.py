"""What the broker says it can do."""

from __future__ import annotations

from kafka_core.broker.coverage import SKIPPED, api_coverage
from kafka_core.broker.handlers import APIS
from kafka_core.protocol import ApiKey


def test_every_api_is_listed_with_the_versions_its_handler_serves() -> None:
    rows = {row.api_key: row for row in api_coverage()}
    assert set(rows) == set(ApiKey)
    assert {key for key, row in rows.items() if row.versions is not None} == set(APIS)
    assert rows[ApiKey.PRODUCE].versions == (3, 13)
    assert rows[ApiKey.INIT_PRODUCER_ID].versions == (0, 5)  # the newest one is unstable
    assert rows[ApiKey.CONSUMER_GROUP_HEARTBEAT].versions is None


def test_every_gap_says_what_happens_instead() -> None:
    assert all(len(text) > 20 for text in SKIPPED.values())
