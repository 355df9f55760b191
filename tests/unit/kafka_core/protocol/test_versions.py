"""The choice of a version for a broker, and the error where there is none."""

from __future__ import annotations

import pytest

from kafka_core.errors import UnsupportedVersionError
from kafka_core.protocol import BrokerVersions, negotiate
from kafka_core.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from kafka_core.protocol.messages.fetch import FetchRequest
from kafka_core.protocol.messages.init_producer_id import InitProducerIdRequest


@pytest.mark.parametrize(("first", "last", "chosen"), [(0, 99, 18), (4, 12, 12), (18, 30, 18), (0, 4, 4)])
def test_the_newest_common_version_is_chosen(first: int, last: int, chosen: int) -> None:
    assert negotiate(FetchRequest, BrokerVersions({1: (first, last)})) == chosen


def test_the_caller_may_set_an_upper_bound() -> None:
    broker = BrokerVersions({1: (0, 17)})
    assert negotiate(FetchRequest, broker, max_version=11) == 11
    assert negotiate(FetchRequest, broker, max_version=99) == 17


def test_an_unstable_version_is_taken_only_when_asked_for() -> None:
    broker = BrokerVersions({22: (0, 6)})
    assert negotiate(InitProducerIdRequest, broker) == 5
    assert negotiate(InitProducerIdRequest, broker, max_version=6) == 6


@pytest.mark.parametrize(
    ("ranges", "max_version", "text"),
    [
        ({}, None, r"the broker does not support FETCH \(1\); this client has versions 4 to 18"),
        ({1: (0, 3)}, None, r"no common version of FETCH \(1\): this client has 4 to 18, the broker 0 to 3"),
        ({1: (19, 20)}, None, "this client has 4 to 18, the broker 19 to 20"),
        ({1: (12, 18)}, 11, "this client has 4 to 11, the broker 12 to 18"),
        ({1: (-1, -1)}, None, "the broker -1 to -1"),
    ],
)
def test_no_common_version(ranges: dict[int, tuple[int, int]], max_version: int | None, text: str) -> None:
    with pytest.raises(UnsupportedVersionError, match=text):
        negotiate(FetchRequest, BrokerVersions(ranges), max_version=max_version)


def test_supports() -> None:
    broker = BrokerVersions({1: (4, 12)})
    assert broker.supports(FetchRequest)
    assert broker.supports(FetchRequest, 12)
    assert not broker.supports(FetchRequest, 13)
    assert not broker.supports(FetchRequest, 3)
    assert not broker.supports(InitProducerIdRequest)


def test_ranges_and_features_come_from_the_response() -> None:
    response = ApiVersionsResponse(
        api_keys=[ApiVersion(1, 4, 18), ApiVersion(4711, 0, 1)],
        supported_features=[SupportedFeatureKey("transaction.version", 0, 2)],
        finalized_features=[FinalizedFeatureKey("transaction.version", 2, 1)],
    )
    broker = BrokerVersions.from_response(response)
    assert broker.ranges == {1: (4, 18), 4711: (0, 1)}
    assert broker.supported_features == {"transaction.version": (0, 2)}
    assert broker.finalized_features == {"transaction.version": (1, 2)}
    assert BrokerVersions({}) == BrokerVersions({}, {}, {})
