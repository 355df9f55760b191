"""The table of APIs, and that nothing is loaded before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kafka_core.protocol import DATA_MESSAGES, REQUESTS, RESPONSES, ApiKey, ApiRequest, api_name
from kafka_core.protocol.api import request_header_version, response_header_version
from kafka_core.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_core.protocol.messages.fetch import FetchRequest, FetchResponse


def test_requests_and_responses_are_paired() -> None:
    assert list(REQUESTS) == list(RESPONSES)
    gone = {"LEADER_AND_ISR", "STOP_REPLICA", "UPDATE_METADATA", "CONTROLLED_SHUTDOWN"}
    between_brokers_and_controllers = {
        *("VOTE", "BEGIN_QUORUM_EPOCH", "END_QUORUM_EPOCH", "ALTER_PARTITION", "ENVELOPE"),
        *("FETCH_SNAPSHOT", "BROKER_REGISTRATION", "BROKER_HEARTBEAT", "ALLOCATE_PRODUCER_IDS"),
        *("CONTROLLER_REGISTRATION", "ASSIGN_REPLICAS_TO_DIRS", "UPDATE_RAFT_VOTER", "INITIALIZE_SHARE_GROUP_STATE"),
        *("READ_SHARE_GROUP_STATE", "WRITE_SHARE_GROUP_STATE", "DELETE_SHARE_GROUP_STATE"),
        "READ_SHARE_GROUP_STATE_SUMMARY",
    }
    assert {key.name for key in ApiKey if key not in REQUESTS} == gone | between_brokers_and_controllers
    for key, request in REQUESTS.items():
        assert issubclass(request, ApiRequest)
        assert request.API_KEY == RESPONSES[key].API_KEY == key
        assert request.RESPONSE is RESPONSES[key]
        assert request.VALID_VERSIONS == RESPONSES[key].VALID_VERSIONS
        assert request.FLEXIBLE_SINCE == RESPONSES[key].FLEXIBLE_SINCE


def test_lookups() -> None:
    assert REQUESTS[ApiKey.FETCH] is FetchRequest
    assert RESPONSES[1] is FetchResponse
    assert ApiKey.LEADER_AND_ISR not in REQUESTS
    with pytest.raises(KeyError):
        REQUESTS[9999]


def test_data_messages_have_no_api_key() -> None:
    assert "ConsumerProtocolSubscription" in DATA_MESSAGES
    assert {cls.API_KEY for cls in DATA_MESSAGES.values()} == {-1}
    assert [cls.__name__ for cls in DATA_MESSAGES.values()] == list(DATA_MESSAGES)


def test_names_for_people() -> None:
    assert api_name(1) == "FETCH (1)"
    assert api_name(-7) == "unknown API (-7)"


def test_header_versions() -> None:
    assert [request_header_version(FetchRequest, version) for version in (11, 12)] == [1, 2]
    assert [response_header_version(FetchResponse, version) for version in (11, 12)] == [0, 1]
    assert [request_header_version(ApiVersionsRequest, version) for version in (2, 3)] == [1, 2]
    assert [response_header_version(ApiVersionsResponse, version) for version in (2, 3)] == [0, 0]


def test_message_modules_are_loaded_on_access_only() -> None:
    program = """
import sys
import kafka_core.protocol as protocol
prefix = "kafka_core.protocol.messages."
print(sorted(name for name in sys.modules if name.startswith(prefix)))
protocol.REQUESTS[29]
print(sorted(name for name in sys.modules if name.startswith(prefix)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    before, after = (eval(line) for line in done.stdout.splitlines())
    # The clients load the messages that they speak themselves; all others wait.
    assert not {name.rpartition(".")[2] for name in before} & {"describe_acls", "create_acls", "share_fetch"}
    assert set(after) - set(before) == {"kafka_core.protocol.messages.acls"}
