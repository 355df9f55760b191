"""Lines of `debug` and `logger`: which context says what, levels, secrets."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from kafka_core.config import Role, parse
from kafka_core.debug_lines import APIS, CONTEXTS, ClientLines, DebugLines
from kafka_core.errors import ConfigError


class Written:
    """A logger that keeps what it is given."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, str]] = []

    def log(self, level: int, msg: str, /, *args: object) -> None:
        self.lines.append((level, msg % args))

    def facilities(self) -> list[str]:
        return [text.split()[0] for _, text in self.lines]


def lines(*contexts: str, **more: Any) -> tuple[Written, DebugLines]:
    written = Written()
    return written, DebugLines(written, contexts, client_id="me", role="producer", **more)


EVENTS: list[tuple[Callable[[DebugLines], None], dict[str, list[str]]]] = [
    (lambda told: told.on_connect(1, "h:1", 0.5, None), {"CONNECTED": ["broker", "protocol"]}),
    (lambda told: told.on_disconnect(1, "h:1", None), {"STATE": ["broker"]}),
    (lambda told: told.on_throttle(1, "Produce", 2.0), {"THROTTLE": ["broker"]}),
    (lambda told: told.on_metadata(3, {"t": 2}), {"METADATA": ["metadata"], "PARTCNT": ["topic"]}),
    (lambda told: told.on_batch_sent(1, "t", 0, 5, 50, 40), {"MSGSET": ["msg"]}),
    (lambda told: told.on_batch_fetched(1, "t", 0, 5, 40), {"FETCH": ["msg"], "CONSUME": ["msg", "fetch"]}),
    (lambda told: told.on_rebalance("g", "assign", [("t", 0)]), {"REBALANCE": ["cgrp", "consumer", "assignor"]}),
    (
        lambda told: told.on_request_done(1, "CreateTopics", 10, 20, 0.1, None),
        {"SEND": ["protocol"], "RECV": ["protocol"], "CREATETOPICS": ["admin"]},
    ),
    (
        lambda told: told.on_request_done(1, "JoinGroup", 10, 0, 0.1, OSError("cut")),
        {"SEND": ["protocol"], "REQERR": ["protocol", "broker"], "JOINGROUP": ["cgrp"]},
    ),
]


@pytest.mark.parametrize(("event", "wanted"), EVENTS)
def test_every_event_is_told_to_its_contexts_and_no_other(
    event: Callable[[DebugLines], None], wanted: dict[str, list[str]]
) -> None:
    for context in CONTEXTS:
        written, told = lines(context)
        event(told)
        expected = [name for name, contexts in wanted.items() if context in contexts or context == "all"]
        assert written.facilities() == expected
        assert {level for level, _ in written.lines} <= {logging.DEBUG}


def test_requests_have_contexts_that_exist() -> None:
    assert {context for context, _ in APIS.values()} <= CONTEXTS


def test_a_line_names_facility_client_and_thread() -> None:
    written, told = lines("msg")
    told.on_batch_sent(1, "t", 0, 5, 50, 40)
    text = "broker 1: t [0]: 5 messages delivered (50 bytes, 40 on the wire)"
    assert written.lines == [(logging.DEBUG, f"MSGSET [{told.name}] [thrd:MainThread]: {text}")]
    written, told = lines("msg", thread_names=False)
    told.on_batch_sent(1, "t", 0, 5, 50, 40)
    assert written.lines == [(logging.DEBUG, f"MSGSET [{told.name}]: {text}")]


def test_a_broker_that_stays_away_is_told_once_until_it_is_back() -> None:
    written = Written()
    told = ClientLines(written, (), client_id="me", role="producer")
    for error in (OSError("refused"), OSError("refused"), None, OSError("refused")):
        told.on_connect(-1, "h:1", 0.0, error)
    assert [level for level, _ in written.lines] == [logging.ERROR] * 2
    assert written.lines[0][1].endswith("h:1/bootstrap: refused (after 0 ms)")


def test_lost_connections_and_levels() -> None:
    for more, expected in (({}, [logging.INFO]), ({"closed": False}, []), ({"log_level": 5}, [])):
        written = Written()
        told = ClientLines(written, (), client_id="me", role="consumer", **more)  # type: ignore[arg-type]
        told.on_disconnect(1, "h:1", OSError("reset"))
        assert [level for level, _ in written.lines] == expected


def test_a_topic_is_told_when_its_partitions_change() -> None:
    written, told = lines("topic")
    for count in (1, 1, 3):
        told.on_metadata(1, {"t": count})
    assert [text.rpartition(": ")[2] for _, text in written.lines] == [
        "partition count changed from 0 to 1",
        "partition count changed from 1 to 3",
    ]


def test_long_assignments_are_cut() -> None:
    written, told = lines("cgrp")
    told.on_rebalance("g", "assign", [("t", number) for number in range(500)])
    assert len(written.lines[0][1]) < 400


def test_configurations_make_lines_without_secrets() -> None:
    written = Written()
    conf = {
        "bootstrap.servers": "h:1",
        "security.protocol": "sasl_plaintext",
        "sasl.mechanisms": "PLAIN",
        "sasl.username": "me",
        "sasl.password": "hidden",
        "debug": "conf,msg",
        "logger": written,
    }
    config = parse(conf, Role.PRODUCER)
    text = "\n".join(line for _, line in written.lines)
    assert "sasl.password = ***" in text
    assert "hidden" not in text
    assert written.facilities()[-1] == "INIT"
    config.hooks().on_batch_sent(1, "t", 0, 5, 50, 40)
    assert written.facilities()[-1] == "MSGSET"
    assert config.has_listeners()


def test_a_logger_alone_costs_no_events_of_batches() -> None:
    written = Written()
    hooks = parse({"logger": written, "group.id": "g"}, Role.CONSUMER).hooks()
    assert written.facilities() == ["CONFWARN"]
    assert hooks.wants("on_connect")
    assert not hooks.wants("on_batch_fetched")
    assert not parse({"bootstrap.servers": "h:1", "group.id": "g"}, Role.CONSUMER).hooks().wants("on_connect")


def test_without_a_logger_lines_go_to_ours(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "kafka_core.client"):
        parse({"debug": ["generic"], "bootstrap.servers": "h:1"}, Role.ADMIN)
    assert [record.name for record in caplog.records] == ["kafka_core.client"]


def test_unknown_contexts_and_wrong_loggers_are_refused() -> None:
    for conf in ({"debug": "nope"}, {"logger": 3}):
        with pytest.raises(ConfigError, match=r"^(debug|logger) must be"):
            parse(conf, Role.PRODUCER)


def test_an_adapter_is_a_logger() -> None:
    adapter = logging.LoggerAdapter(logging.getLogger("a"), {})
    assert parse({"logger": adapter}, Role.PRODUCER).logger() is adapter
