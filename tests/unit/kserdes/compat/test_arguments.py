"""The table that turns another client's keyword arguments into properties of ours."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path

import pytest

from kserdes.compat.aiokafka import table as aiokafka_table
from kserdes.compat.arguments import Arguments, addresses, clamped, host_check, own, sets, tls_context, unused
from kserdes.compat.kafka import table as kafka_table
from kserdes.compat.kafka.errors import KafkaConfigurationError
from kserdes.compat.kafka.settings import check_common, check_delivery

TABLES = (kafka_table, aiokafka_table)
TABLE = (
    sets("servers", "localhost", "bootstrap.servers", "where", addresses),
    sets("timeout_ms", 30_000, "request.timeout.ms socket.timeout.ms", "how long", clamped(10, 300_000)),
    own("decode", None, "a function"),
    unused("buffer", 7, "a size", "there is none"),
)


def test_defaults_in_order():
    assert list(Arguments(TABLE).defaults().items()) == [
        ("servers", "localhost"),
        ("timeout_ms", 30_000),
        ("decode", None),
        ("buffer", 7),
    ]


def test_properties_are_converted_and_may_be_several():
    values = {"servers": ["a:1", "b"], "timeout_ms": float("inf"), "decode": len, "buffer": 8}
    assert Arguments(TABLE).properties(values) == {
        "bootstrap.servers": "a:1,b",
        "request.timeout.ms": 300_000,
        "socket.timeout.ms": 300_000,
    }


def test_none_sets_nothing():
    assert Arguments(TABLE).properties({"servers": None, "timeout_ms": 5}) == dict.fromkeys(
        ("request.timeout.ms", "socket.timeout.ms"), 10
    )


def test_unknown_names():
    assert Arguments(TABLE).unknown(["servers", "nope"]) == ["nope"]


def test_arguments_without_effect_are_warned_of_once(caplog: pytest.LogCaptureFixture):
    table = Arguments(TABLE)
    with caplog.at_level(logging.INFO, "kserdes.compat"):
        table.tell_unused({"buffer": 7, "timeout_ms": 1})
        assert not caplog.records
        table.tell_unused({"buffer": 8})
        table.tell_unused({"buffer": 9})
    assert [record.getMessage() for record in caplog.records] == ["buffer has no effect: there is none"]


def test_two_rows_of_one_name():
    with pytest.raises(AssertionError):
        Arguments([*TABLE, own("buffer", None, "")])


def test_ways_to_write():
    context = ssl.create_default_context()
    assert (host_check(True), host_check(False), tls_context(context)) == ("https", "none", context)
    with pytest.raises(TypeError, match="not str"):
        tls_context("TLS")  # type: ignore[arg-type]


def test_guides_say_where_what_is_not_here_stands() -> None:
    docs = Path(__file__).parents[4] / "docs"
    for guide in ("migrating-kafka-python.md", "migrating-aiokafka.md"):
        assert "(../peers.md)" in (docs / "guide" / guide).read_text()
    listed = (docs / "peers.md").read_text()
    for table in (*(each.NAMES_NOT_HERE for each in TABLES), *(each.REFUSED for each in TABLES)):
        assert [why for name, why in table.items() if name not in listed or why not in listed] == []


def test_delivery_may_take_just_as_long_as_waiting_and_one_request():
    limits = {"linger_ms": 400, "request_timeout_ms": 600}
    check_delivery({**limits, "delivery_timeout_ms": 1000})
    with pytest.raises(KafkaConfigurationError, match=r"delivery_timeout_ms \(999\) must be at least .*\(1000\)"):
        check_delivery({**limits, "delivery_timeout_ms": 999})


@pytest.mark.parametrize("version", [None, "auto", "2.6", (2, 6), (99, 9)])
def test_a_version_is_a_tuple_or_its_text(version: object):
    check_common({"bootstrap_servers": "a", "api_version": version})


@pytest.mark.parametrize(
    ("version", "refusal"), [("x", ValueError), ("", ValueError), ([2, 6], KafkaConfigurationError)]
)
def test_what_is_no_version_is_refused(version: object, refusal: type[Exception]):
    with pytest.raises(refusal, match="api_version must be"):
        check_common({"bootstrap_servers": "a", "api_version": version})
