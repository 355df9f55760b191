"""kafka_core.engine.administering.configs: what aio/administering/test_admin.py does not show."""

from __future__ import annotations

import pytest

from kafka_core.admin_model import ConfigEntry, ConfigResource, ResourceType
from kafka_core.engine.administering import configs as admin_configs
from kafka_core.protocol import encode_bytes
from kafka_core.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)


def test_default_of_all_brokers_is_asked_of_anybody() -> None:
    everyone, one = ConfigResource("broker", ""), ConfigResource("broker", "3")
    assert admin_configs.check_resources([everyone, one]) == [everyone, one]
    assert admin_configs.by_broker([everyone, one, ConfigResource("topic", "3")]) == {
        None: [everyone, ConfigResource("topic", "3")],
        3: [one],
    }


@pytest.mark.parametrize("version", range(1, DescribeConfigsRequest.VALID_VERSIONS[1] + 1))
def test_description_can_be_asked_for_in_every_version(version: int) -> None:
    assert encode_bytes(admin_configs.describe_request([ConfigResource("topic", "t")]), version)


def test_of_two_synonyms_with_one_name_the_first_is_in_force() -> None:
    synonyms = [DescribeConfigsSynonym("a", "topic", 1), DescribeConfigsSynonym("a", "default", 5)]
    entry = DescribeConfigsResourceResult("a", "topic", config_source=1, synonyms=synonyms)
    response = DescribeConfigsResponse(results=[DescribeConfigsResult(0, None, 2, "t", [entry])])
    entries = admin_configs.described(response)[ConfigResource("topic", "t")].result()
    assert entries is not None
    assert entries["a"].synonyms["a"].value == "topic"


def test_kinds_we_have_no_name_for_do_not_stop_the_rest() -> None:
    response = DescribeConfigsResponse(results=[DescribeConfigsResult(0, None, 99, "something")])
    (resource,) = admin_configs.described(response)
    assert (resource.restype, resource.name) == (ResourceType.UNKNOWN, "something")


def test_entry_without_operation_is_refused_by_name() -> None:
    resource = ConfigResource("topic", "t", incremental_configs=[ConfigEntry("a.b", "1")])
    with pytest.raises(ValueError, match=r"a\.b has no incremental_operation"):
        admin_configs.check_increments([resource])
