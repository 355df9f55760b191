"""kafka_core.config: reading values, refusing wrong ones, defaults, aliases, secrets."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_core import config
from kafka_core.config import Config, Role, parse, parse_addresses
from kafka_core.config_option import Effect, Kind, Option
from kafka_core.config_table import BY_NAME, OPTIONS
from kafka_core.errors import ConfigError, KafkaError
from kafka_core.hooks import Hooks

BASE = {"bootstrap.servers": "localhost:9092"}
CREDENTIALS = {"security.protocol": "sasl_plaintext", "sasl.username": "ann", "sasl.password": "hush"}


def make(conf: dict[str, object], role: Role = Role.PRODUCER) -> Config:
    group: dict[str, object] = {"group.id": "g"} if role is Role.CONSUMER else {}
    return parse({**BASE, **group, **conf}, role)


@pytest.fixture(autouse=True)
def _forget_what_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "said", set())


# ---- the table


def test_table_is_consistent() -> None:
    names = [name for option in OPTIONS for name in (option.name, *option.aliases)]
    assert len(names) == len(set(names)), "a spelling is used twice"
    for option in OPTIONS:
        assert option.doc.endswith("."), option.name
        assert bool(option.why) is (option.effect is not Effect.USED), option.name
        assert (option.bounds is not None) is (option.kind in (Kind.INT, Kind.FLOAT)), option.name
        assert option.roles, option.name


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_default_is_an_allowed_value(option: Option) -> None:
    if option.default is not None:
        assert config.convert(option, option.default, option.name) == option.default
        assert config.convert(option, str(option.default), option.name) == option.default


def test_secrets_are_marked() -> None:
    suspicious = ("password", "secret", "passphrase", "key.pem")
    for option in OPTIONS:
        if any(word in option.name for word in suspicious) and "assertion.claim" not in option.name:
            assert option.secret, option.name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("linger.ms", 5.0),
        ("enable.idempotence", True),
        ("partitioner", "murmur2_random"),
        ("batch.size", 131072),
        ("message.timeout.ms", 300000),
        ("acks", -1),
        ("max.block.ms", 0),
        ("allow.auto.create.topics", True),
        ("session.timeout.ms", 45000),
        ("check.crcs", True),
        ("isolation.level", "read_committed"),
    ],
)
def test_defaults(name: str, value: object) -> None:
    assert make({})[name] == value


def test_default_may_depend_on_the_role() -> None:
    assert make({}, Role.CONSUMER).flag("allow.auto.create.topics") is False


# ---- values


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("linger.ms", "7", 7.0),
        ("linger.ms", 0.5, 0.5),
        ("retries", "5 ", 5),
        ("retries", 5.0, 5),
        ("retries", "0x10", 16),
        ("acks", "all", -1),
        ("acks", "ALL", -1),
        ("socket.keepalive.enable", "TRUE", True),
        ("socket.keepalive.enable", "t", True),
        ("socket.keepalive.enable", 1, True),
        ("socket.nagle.disable", "f", False),
        ("socket.nagle.disable", 0, False),
        ("compression.type", "GZIP", "gzip"),
        ("client.id", 5, "5"),
        ("client.id", Path("a/b"), "a/b"),
        ("bootstrap.servers", ["a:1", " b:2"], "a:1,b:2"),
        ("bootstrap.servers", "a:1 , ,b:2", "a:1,b:2"),
    ],
)
def test_values_as_librdkafka_takes_them(name: str, raw: object, value: object) -> None:
    assert make({name: raw})[name] == value


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("linger.ms", "soon"),
        ("linger.ms", "nan"),
        ("linger.ms", True),
        ("linger.ms", 900_001),
        ("linger.ms", None),
        ("retries", "5x"),
        ("retries", ""),
        ("retries", 5.5),
        ("retries", -1),
        ("retries", True),
        ("acks", 2000),
        ("acks", "any"),
        ("socket.keepalive.enable", "yes"),
        ("socket.keepalive.enable", 2),
        ("socket.keepalive.enable", None),
        ("compression.type", "rar"),
        ("compression.type", 1),
        ("client.id", ["a"]),
        ("bootstrap.servers", 5),
        ("bootstrap.servers", [1]),
        ("error_cb", "print"),
        ("logger", "kafka"),
        ("hooks", object()),
    ],
)
def test_ill_typed_values_are_refused(name: str, raw: object) -> None:
    with pytest.raises(ConfigError, match=name) as caught:
        make({name: raw})
    assert caught.value.code == KafkaError._INVALID_ARG
    assert isinstance(caught.value, ValueError)


def test_refusal_says_what_is_allowed() -> None:
    with pytest.raises(ConfigError, match=r"acks must be a whole number from -1 to 1000 or 'all', not 'any' \(str\)"):
        make({"acks": "any"})
    with pytest.raises(
        ConfigError, match=r"compression.codec must be one of none, gzip, snappy, lz4, zstd, not 'rar' \(str\)"
    ):
        make({"compression.codec": "rar"})
    with pytest.raises(ConfigError, match="a list of range, roundrobin, cooperative-sticky, sticky"):
        make({"partition.assignment.strategy": "fair"}, Role.CONSUMER)


def test_none_and_empty_text_mean_not_set() -> None:
    made = make({"client.rack": None, "ssl.ca.location": "", "error_cb": None})
    assert made.optional_text("client.rack") is None
    assert made.optional_text("ssl.ca.location") is None
    assert not made.is_set("client.rack")


def test_names_must_be_text() -> None:
    with pytest.raises(ConfigError, match="names of properties are text"):
        parse({**BASE, 5: 1}, Role.PRODUCER)  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="must be a dict"):
        parse([("a", 1)], Role.PRODUCER)  # type: ignore[arg-type]


# ---- names


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("bootstrap_servers", r"did you mean 'bootstrap\.servers'\?"),
        ("linger", r"did you mean 'linger\.ms', a producer property\?"),
        ("group.ids", r"did you mean 'group\.id', a consumer and share consumer property\?"),
        ("key.serializer", "SerializingProducer"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest_one(wrong: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=f'No such configuration property: "{wrong}"; .*{hint}'):
        make({wrong: "x"})


def test_nothing_is_suggested_for_nonsense() -> None:
    with pytest.raises(ConfigError, match=r'"qqqqq"$'):
        make({"qqqqq": 1})


def test_aliases_are_one_property_and_the_later_wins() -> None:
    made = make({"queue.buffering.max.ms": 1, "linger.ms": 2, "metadata.broker.list": "a:1"})
    assert made.number("linger.ms") == made.number("queue.buffering.max.ms") == 2.0
    assert made.addresses() == [("a", 1)]
    assert made.is_set("queue.buffering.max.ms")
    assert "queue.buffering.max.ms" not in list(made)


def test_default_topic_config_is_merged_and_wins() -> None:
    made = make({"default.topic.config": {"acks": 1, "message.timeout.ms": 5000}, "acks": "all"})
    assert made.integer("acks") == 1
    assert made.integer("message.timeout.ms") == 5000
    with pytest.raises(ConfigError, match=r"default\.topic\.config must be a dict"):
        make({"default.topic.config": 5})


# ---- what has no effect


def test_property_of_another_role_is_checked_logged_once_and_ignored(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "kafka_core"):
        make({"group.id": "g"})
        made = make({"group.id": "g"})
    assert [record.getMessage() for record in caplog.records] == [
        "'group.id' is a consumer and share consumer property: it has no effect on this producer"
    ]
    assert caplog.records[0].levelno == logging.WARNING
    assert made.optional_text("group.id") is None
    assert not made.is_set("group.id")
    with pytest.raises(ConfigError, match=r"session\.timeout\.ms"):
        make({"session.timeout.ms": "long"})


def test_property_without_effect_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "kafka_core"):
        make({"log.queue": True})
        make({"log.queue": True})
        make({"log.queue": False})  # the default: nothing to say
    assert len(caplog.records) == 1
    assert caplog.records[0].levelno == logging.INFO
    assert "'log.queue' is accepted but has no effect" in caplog.text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ssl.engine.location", "/x"),
        ("queuing.strategy", "lifo"),
        ("plugin.library.paths", "a.so"),
    ],
)
def test_what_would_silently_go_wrong_is_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}.* is not supported"):
        make({name: value})


def test_unsupported_property_with_its_default_is_fine() -> None:
    assert make({"queuing.strategy": "fifo"}).text("queuing.strategy") == "fifo"
    with pytest.raises(ConfigError, match=r"queuing\.strategy=lifo is not supported"):
        make({"queuing.strategy": "lifo"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("session.timeout.ms", 10_000),
        ("heartbeat.interval.ms", 1000),
        ("partition.assignment.strategy", "range"),
        ("group.protocol.type", "consumer"),
    ],
)
def test_properties_that_the_broker_decides_for_its_groups_are_refused(name: str, value: object) -> None:
    conf = {"group.protocol": "consumer", "group.remote.assignor": "uniform", "max.poll.interval.ms": 1000}
    assert make(conf, Role.CONSUMER).text("group.protocol") == "consumer"
    with pytest.raises(ConfigError, match=rf"{name} is not supported for group\.protocol=consumer"):
        make({**conf, name: value}, Role.CONSUMER)


# ---- secrets


def test_secrets_are_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        made = make({**CREDENTIALS, "sasl.mechanism": "PLAIN"})
        with pytest.raises(ConfigError) as caught:
            make({"sasl.password": ["hush"]})
        with pytest.raises(ConfigError) as refused:
            make({"ssl.keystore.password": "hush", "security.protocol": "ssl"})
    assert made.text("sasl.password") == "hush"
    shown = repr(made) + str(made) + str(caught.value) + repr(caught.value) + str(refused.value) + caplog.text
    assert "hush" not in shown
    assert "'sasl.password': ***" in repr(made)
    assert "'sasl.username': 'ann'" in repr(made)


# ---- the result


def test_config_is_a_complete_immutable_mapping() -> None:
    made = make({"linger.ms": 1})
    assert len(made) == len(OPTIONS)
    assert set(made) == {option.name for option in OPTIONS}
    assert made.is_set("linger.ms")
    assert not made.is_set("acks")
    with pytest.raises(TypeError):
        made["linger.ms"] = 5  # type: ignore[index]


def test_parse_does_not_change_or_keep_the_users_dict() -> None:
    given: dict[str, object] = {**BASE, "linger.ms": "1", "default.topic.config": {"acks": "1"}}
    copy = dict(given)
    made = parse(given, Role.PRODUCER)
    assert given == copy
    given["linger.ms"] = "9"
    assert made.number("linger.ms") == 1.0


def test_getters_are_typed() -> None:
    def report(*_: object) -> None: ...

    made = make({"on_delivery": report, "topic.blacklist": "^a,b", "retry.backoff.ms": 250})
    assert made.callback("on_delivery") is report
    assert made.callback("dr_cb") is report
    assert made.callback("error_cb") is None
    assert made.names("topic.blacklist") == ("^a", "b")
    assert made.names("debug") == ()
    assert made.seconds("retry.backoff.ms") == 0.25
    assert made.number("retries") == 2**31 - 1
    wrong: list[Callable[[], object]] = [
        lambda: made.integer("linger.ms"),
        lambda: made.integer("enable.idempotence"),
        lambda: made.number("client.id"),
        lambda: made.number("enable.idempotence"),
        lambda: made.text("retries"),
        lambda: made.text("client.rack"),
        lambda: made.flag("retries"),
        lambda: made.callback("client.id"),
        lambda: made.seconds("retries"),
    ]
    for call in wrong:
        with pytest.raises(TypeError):
            call()
    with pytest.raises(KeyError):
        made.integer("no.such")


def test_hooks_and_logger_are_objects() -> None:
    class Hook:
        def on_connect(self, *facts: object) -> None: ...

    hooks = Hooks([Hook()])
    assert make({"hooks": hooks}).hooks() is hooks
    assert make({"hooks": Hook()}).hooks().wants("on_connect")
    assert make({"hooks": [Hook()]}).hooks().wants("on_connect")
    assert not make({}).hooks().wants("on_connect")
    assert make({"logger": logging.getLogger("mine")}).is_set("logger")


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("a", [("a", 9092)]),
        ("a:1,b:2", [("a", 1), ("b", 2)]),
        ("[::1]:9093, 10.0.0.1", [("::1", 9093), ("10.0.0.1", 9092)]),
        ("SASL_SSL://host-1.example:443", [("host-1.example", 443)]),
    ],
)
def test_addresses(text: str, addresses: list[tuple[str, int]]) -> None:
    assert parse_addresses(text) == addresses


@pytest.mark.parametrize("text", ["a:b", "a:0", "a:65536", ":9092", "a b", "::1", "http://a:1/path", "a:1:2"])
def test_malformed_addresses_are_refused_when_the_client_is_made(text: str) -> None:
    with pytest.raises(ConfigError, match="is not host:port"):
        make({"bootstrap.servers": text})


def test_a_client_may_know_no_broker(caplog: pytest.LogCaptureFixture) -> None:
    config.said.clear()
    for conf in ({}, {"bootstrap.servers": ""}, {"bootstrap.servers": " , "}):
        assert parse(conf, Role.ADMIN).addresses() == []
    assert [record.getMessage() for record in caplog.records] == [
        "bootstrap.servers is not set: clients without it never reach a cluster"
    ]
    with pytest.raises(ConfigError, match="no broker is named"):
        parse_addresses(",")


# ---- the generated page


def test_every_property_is_on_the_page(project_root: Path) -> None:
    page = (project_root / "docs" / "configuration.md").read_text()
    for name, option in BY_NAME.items():
        assert f"`{name}`" in page, name
        assert option.why in page
