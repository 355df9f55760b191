"""kafka_core.config_rules: what contradicts what, and what follows from what."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from kafka_core import config, config_rules
from kafka_core.config import Config, Role, parse
from kafka_core.errors import ConfigError

CREDENTIALS = {"security.protocol": "SASL_PLAINTEXT", "sasl.username": "ann", "sasl.password": "hush"}


def make(conf: dict[str, object], role: Role = Role.PRODUCER) -> Config:
    group: dict[str, object] = {"group.id": "g"} if role is Role.CONSUMER else {}
    return parse({"bootstrap.servers": "b", **group, **conf}, role)


@pytest.fixture(autouse=True)
def _forget_what_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "said", set())


CONFLICTS: list[dict[str, object]] = [{"acks": 1}, {"retries": 0}, {"max.in.flight": 6}]


@pytest.mark.parametrize("conflict", CONFLICTS)
def test_idempotence_that_was_asked_for_refuses_conflicts(conflict: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"with enable\.idempotence set, .* must be"):
        make({"enable.idempotence": True, **conflict})


@pytest.mark.parametrize("conflict", CONFLICTS)
def test_idempotence_by_default_gives_way_and_says_so(
    conflict: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "kafka_core"):
        made = make(conflict)
    assert made.flag("enable.idempotence") is False
    assert "enable.idempotence is off" in caplog.text


def test_all_conflicts_are_named_at_once() -> None:
    with pytest.raises(ConfigError, match=r"acks must be all .* and retries must be at least 1"):
        make({"enable.idempotence": True, "acks": 0, "retries": 0})


def test_without_idempotence_anything_goes() -> None:
    made = make({"enable.idempotence": False, "acks": 0, "retries": 0, "max.in.flight": 100})
    assert (made.integer("acks"), made.integer("max.in.flight.requests.per.connection")) == (0, 100)


def transactional(**more: object) -> dict[str, object]:
    """The values of a transactional producer after the rules."""
    conf = {name.replace("_", "."): value for name, value in more.items()}
    values = {**make({}), "transactional.id": "t", **conf}
    config_rules.apply(values, frozenset(conf), Role.PRODUCER, lambda level, text: None)
    return values


def test_transactions_need_idempotence() -> None:
    with pytest.raises(ConfigError, match=r"transactional\.id needs enable\.idempotence"):
        transactional(enable_idempotence=False)
    with pytest.raises(ConfigError, match=r"with transactional\.id set, acks must be all"):
        transactional(acks=1)


def test_transaction_time_out_bounds_the_others() -> None:
    values = transactional(transaction_timeout_ms=5000)
    assert (values["message.timeout.ms"], values["socket.timeout.ms"]) == (5000, 4900)
    for name in ("message_timeout_ms", "socket_timeout_ms"):
        with pytest.raises(ConfigError, match="must be at most"):
            transactional(transaction_timeout_ms=5000, **{name: 6000})
    with pytest.raises(ConfigError, match=r"message\.timeout\.ms \(0\)"):
        transactional(message_timeout_ms=0)


def test_record_must_outlive_linger() -> None:
    with pytest.raises(ConfigError, match=r"message\.timeout\.ms \(1000\) must be greater than linger\.ms \(1000\)"):
        make({"message.timeout.ms": 1000, "linger.ms": 1000})
    assert make({"message.timeout.ms": 0, "linger.ms": 1000}).integer("message.timeout.ms") == 0


@pytest.mark.parametrize(("codec", "level"), [("gzip", 9), ("lz4", 12), ("zstd", 22)])
def test_level_is_cut_down_to_the_codecs_highest(codec: str, level: int) -> None:
    assert make({"compression.type": codec, "compression.level": 22}).integer("compression.level") == level


@pytest.mark.parametrize(("codec", "level"), [("gzip", 9), ("lz4", 12), ("zstd", 22)])
def test_level_under_its_name_in_java_goes_before_the_general_one(codec: str, level: int) -> None:
    """Those of other codecs count for nothing (KIP-390)."""
    everything = {"compression.gzip.level": 9, "compression.lz4.level": 17, "compression.zstd.level": 22}
    assert make({"compression.type": codec, "compression.level": 3, **everything}).integer("compression.level") == level
    del everything[f"compression.{codec}.level"]
    assert make({"compression.type": codec, "compression.level": 3, **everything}).integer("compression.level") == 3
    assert make({"compression.type": codec, **everything}).integer("compression.level") == -1
    assert make({"compression.type": "snappy", **everything}).integer("compression.level") == -1


@pytest.mark.parametrize(("codec", "level"), [("gzip", 10), ("lz4", 18), ("zstd", 23), ("zstd", -2)])
def test_level_that_a_codec_does_not_have_is_refused(codec: str, level: int) -> None:
    with pytest.raises(ConfigError, match=rf"compression\.{codec}\.level"):
        make({"compression.type": codec, f"compression.{codec}.level": level})


@pytest.mark.parametrize("prefix", ["retry", "reconnect"])
def test_longest_back_off_is_not_below_the_first(prefix: str) -> None:
    assert make({f"{prefix}.backoff.ms": 20_000}).integer(f"{prefix}.backoff.max.ms") == 20_000
    with pytest.raises(ConfigError, match=rf"{prefix}\.backoff\.max\.ms \(5\) must be at least"):
        make({f"{prefix}.backoff.ms": 20, f"{prefix}.backoff.max.ms": 5})


# ---- consumer


def test_consumer_needs_a_group() -> None:
    with pytest.raises(ConfigError, match=r"group\.id must be set"):
        parse({"bootstrap.servers": "b"}, Role.CONSUMER)


def test_heartbeat_fits_into_the_session() -> None:
    assert make({"session.timeout.ms": 1500}, Role.CONSUMER).integer("heartbeat.interval.ms") == 500
    with pytest.raises(ConfigError, match=r"heartbeat\.interval\.ms \(1500\) must be less than"):
        make({"session.timeout.ms": 1500, "heartbeat.interval.ms": 1500}, Role.CONSUMER)


def test_poll_interval_is_not_below_the_session() -> None:
    with pytest.raises(ConfigError, match=r"max\.poll\.interval\.ms \(1000\) must be at least"):
        make({"max.poll.interval.ms": 1000}, Role.CONSUMER)


def test_cooperative_is_not_mixed() -> None:
    with pytest.raises(ConfigError, match="can't be mixed"):
        make({"partition.assignment.strategy": "cooperative-sticky,range"}, Role.CONSUMER)
    made = make({"partition.assignment.strategy": ["cooperative-sticky"]}, Role.CONSUMER)
    assert made.names("partition.assignment.strategy") == ("cooperative-sticky",)


def test_response_has_room_for_a_fetch() -> None:
    made = make({"fetch.max.bytes": 200_000_000}, Role.CONSUMER)
    assert made.integer("receive.message.max.bytes") == 200_000_512
    with pytest.raises(ConfigError, match=r"receive\.message\.max\.bytes \(1000\) must be at least"):
        make({"receive.message.max.bytes": 1000}, Role.CONSUMER)


@pytest.mark.parametrize(("word", "value"), [("smallest", "earliest"), ("beginning", "earliest"), ("END", "latest")])
def test_old_words_for_offsets(word: str, value: str) -> None:
    assert make({"auto.offset.reset": word}, Role.CONSUMER).text("auto.offset.reset") == value


# ---- security


def test_kerberos_is_the_default_but_not_what_a_user_name_means() -> None:
    assert make({"security.protocol": "sasl_ssl"}).text("sasl.mechanism") == "GSSAPI"
    assert make({**CREDENTIALS, "sasl.mechanism": "GSSAPI"}).text("sasl.mechanism") == "GSSAPI"
    with pytest.raises(ConfigError, match="has no user names and passwords: set PLAIN"):
        make(dict(CREDENTIALS))


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("name", ["sasl.username", "sasl.password"])
def test_password_mechanisms_need_both(mechanism: str, name: str) -> None:
    conf: dict[str, object] = {**CREDENTIALS, "sasl.mechanism": mechanism}
    assert make(conf).text("sasl.mechanism") == mechanism
    del conf[name]
    with pytest.raises(ConfigError, match=f"{name} must be set for sasl.mechanism={mechanism}"):
        make(conf)


def test_oauth_needs_a_source_of_tokens() -> None:
    conf: dict[str, object] = {"security.protocol": "sasl_ssl", "sasl.mechanism": "oauthbearer"}
    with pytest.raises(ConfigError, match="oauth_cb must be set"):
        make(conf)
    assert make({**conf, "oauth_cb": print}).callback("oauth_cb") is print
    assert make({**conf, "enable.sasl.oauthbearer.unsecure.jwt": True}).text("sasl.mechanism") == "OAUTHBEARER"


def test_mechanism_without_sasl_is_pointed_out(caplog: pytest.LogCaptureFixture) -> None:
    make({"sasl.mechanism": "PLAIN"})
    assert "sasl.mechanism=PLAIN has no effect: security.protocol=plaintext" in caplog.text


def test_files_must_exist_where_tls_is_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    missing = tmp_path / "missing.pem"
    for name in config_rules.FILES:
        with pytest.raises(ConfigError, match=f"{name}: there is no file .*missing"):
            make({"security.protocol": "ssl", name: missing})
    make({"ssl.ca.location": missing})
    assert "'ssl.ca.location' has no effect: security.protocol=plaintext is not TLS" in caplog.text
    assert make({"security.protocol": "ssl", "ssl.ca.location": tmp_path}).text("ssl.ca.location") == str(tmp_path)
    with pytest.raises(ConfigError, match=r"ssl\.crl\.location"):
        make({"security.protocol": "ssl", "ssl.crl.location": tmp_path})


def test_probe_means_the_systems_certificates() -> None:
    assert make({"security.protocol": "ssl", "ssl.ca.location": "probe"}).optional_text("ssl.ca.location") is None


def test_certificate_and_key_belong_together(tmp_path: Path) -> None:
    pem = tmp_path / "x.pem"
    pem.write_text("x")
    with pytest.raises(ConfigError, match="a private key is set without"):
        make({"security.protocol": "ssl", "ssl.key.location": pem})
    with pytest.raises(ConfigError, match=r"set ssl\.key\.location or ssl\.key\.pem, not both"):
        make({"security.protocol": "ssl", "ssl.key.location": pem, "ssl.key.pem": "x", "ssl.certificate.pem": "y"})


def test_a_key_store_stands_alone(tmp_path: Path) -> None:
    store = tmp_path / "x.p12"
    store.write_bytes(b"x")
    conf: dict[str, object] = {"security.protocol": "ssl", "ssl.keystore.location": store}
    assert make({**conf, "ssl.keystore.password": "x"}).text("ssl.keystore.location") == str(store)
    for name in ("ssl.certificate.location", "ssl.key.location"):
        with pytest.raises(ConfigError, match=f"set ssl.keystore.location or {name}, not both"):
            make({**conf, name: store})
    for name in ("ssl.certificate.pem", "ssl.key.pem"):
        with pytest.raises(ConfigError, match=f"set ssl.keystore.location or {name}, not both"):
            make({**conf, name: "x"})
    with pytest.raises(ConfigError, match=r"a password is set without ssl\.keystore\.location"):
        make({"security.protocol": "ssl", "ssl.keystore.password": "x"})
