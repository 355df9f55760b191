"""ApiVersions requests through the dispatcher."""

from __future__ import annotations

import pytest

from kafka_core.broker.codes import Code
from kafka_core.broker.handlers import APIS
from kafka_core.protocol import ApiKey
from kafka_core.protocol.messages.api_versions import ApiVersionsRequest
from tests.unit.kafka_core.broker.harness import Bench


def ask(bench: Bench, version: int, name: str = "me", software: str = "1.0") -> dict[int, tuple[int, int]]:
    asked = ApiVersionsRequest(name, software) if version >= 3 else ApiVersionsRequest()
    response = bench.ask(asked, version)
    assert response.error_code == 0
    return {item.api_key: (item.min_version, item.max_version) for item in response.api_keys}


@pytest.mark.parametrize("version", range(5))
def test_exactly_what_is_handled_is_announced(version: int) -> None:
    announced = ask(Bench(), version)
    expected = {key: api.versions for key, api in APIS.items()}
    expected[ApiKey.PRODUCE] = (0, 13)  # as the real broker, for librdkafka's sake
    assert announced == expected


def test_caps_play_an_older_broker() -> None:
    announced = ask(Bench(max_versions={ApiKey.FETCH: 11, ApiKey.PRODUCE: 8, ApiKey.DESCRIBE_CLUSTER: None}), 4)
    assert announced[ApiKey.FETCH] == (4, 11)
    assert announced[ApiKey.PRODUCE] == (0, 8)
    assert ApiKey.DESCRIBE_CLUSTER not in announced
    assert announced[ApiKey.METADATA] == (0, 13)


def test_a_cap_below_the_oldest_version_hides_the_api() -> None:
    assert ApiKey.FETCH not in ask(Bench(max_versions={ApiKey.FETCH: 3}), 0)


def test_the_clients_software_is_remembered_and_checked() -> None:
    bench = Bench()
    connection = bench.connect()
    bench.ask(ApiVersionsRequest("my-client", "2.1.0"), 4, connection=connection)
    assert (connection.software_name, connection.software_version) == ("my-client", "2.1.0")
    for name, version in (("", "1"), ("a b", "1"), ("-a", "1"), ("a", "")):
        assert bench.ask(ApiVersionsRequest(name, version), 4).error_code == Code.INVALID_REQUEST
