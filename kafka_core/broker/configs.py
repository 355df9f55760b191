"""Configuration of the embedded broker, its topics and its groups: names, types and defaults of a real broker.

Must not know: requests, the log. Values are text as on the wire; typed getters parse them.
Spec: https://kafka.apache.org/documentation/#topicconfigs and #brokerconfigs; values read from a running Kafka 4.3.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum
from typing import ClassVar

_LONG_MAX = str(2**63 - 1)
_INT_MAX = str(2**31 - 1)


class ConfigType(IntEnum):
    """`config_type` of DescribeConfigs."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    DOUBLE = 6
    LIST = 7


class ConfigSource(IntEnum):
    """`config_source` of DescribeConfigs."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    CLIENT_METRICS = 7
    GROUP = 8


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One property. `broker_name` is the broker property a topic property takes its default from."""

    name: str
    type: ConfigType
    default: str | None
    broker_name: str | None = None
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    read_only: bool = False

    def problem(self, value: str) -> str | None:
        """A sentence on why `value` is not allowed, None if it is."""
        number: float
        match self.type:
            case ConfigType.BOOLEAN:
                return (
                    None
                    if value.lower() in ("true", "false")
                    else self._wrong(value, "Expected value to be either true or false")
                )
            case ConfigType.INT | ConfigType.LONG:
                try:
                    number = int(value.strip())
                except ValueError:
                    return self._wrong(value, f"Not a number of type {self.type.name}")
            case ConfigType.DOUBLE:
                try:
                    number = float(value)
                except ValueError:
                    return self._wrong(value, "Not a number of type DOUBLE")
            case _:
                parts = value.split(",") if self.type is ConfigType.LIST else [value]
                bad = self.choices and [part for part in parts if part.strip() not in self.choices]
                return self._wrong(value, f"String must be one of: {', '.join(self.choices)}") if bad else None
        if self.minimum is not None and number < self.minimum:
            return self._wrong(value, f"Value must be at least {self.minimum}")
        if self.maximum is not None and number > self.maximum:
            return self._wrong(str(number), f"Value must be no more than {self.maximum}")
        return None

    def _wrong(self, value: str, why: str) -> str:
        return f"Invalid value {value} for configuration {self.name}: {why}"


_B, _S, _I, _L, _D, _A = (
    ConfigType.BOOLEAN,
    ConfigType.STRING,
    ConfigType.INT,
    ConfigType.LONG,
    ConfigType.DOUBLE,
    ConfigType.LIST,
)
_CODECS = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
_MIGRATIONS = ("bidirectional", "upgrade", "downgrade", "disabled")

_TOPIC_KEYS = (
    ConfigKey("cleanup.policy", _A, "delete", "log.cleanup.policy", ("compact", "delete")),
    ConfigKey("compression.gzip.level", _I, "-1", "compression.gzip.level"),
    ConfigKey("compression.lz4.level", _I, "9", "compression.lz4.level"),
    ConfigKey("compression.type", _S, "producer", "compression.type", _CODECS),
    ConfigKey("compression.zstd.level", _I, "3", "compression.zstd.level"),
    ConfigKey("delete.retention.ms", _L, "86400000", "log.cleaner.delete.retention.ms", minimum=0),
    ConfigKey("file.delete.delay.ms", _L, "60000", "log.segment.delete.delay.ms", minimum=0),
    ConfigKey("flush.messages", _L, _LONG_MAX, "log.flush.interval.messages", minimum=1),
    ConfigKey("flush.ms", _L, _LONG_MAX, minimum=0),
    ConfigKey("follower.replication.throttled.replicas", _A, ""),
    ConfigKey("index.interval.bytes", _I, "4096", "log.index.interval.bytes", minimum=0),
    ConfigKey("leader.replication.throttled.replicas", _A, ""),
    ConfigKey("local.retention.bytes", _L, "-2", "log.local.retention.bytes", minimum=-2),
    ConfigKey("local.retention.ms", _L, "-2", "log.local.retention.ms", minimum=-2),
    ConfigKey("max.compaction.lag.ms", _L, _LONG_MAX, "log.cleaner.max.compaction.lag.ms", minimum=1),
    ConfigKey("max.message.bytes", _I, "1048588", "message.max.bytes", minimum=0),
    ConfigKey("message.timestamp.after.max.ms", _L, "3600000", "log.message.timestamp.after.max.ms", minimum=0),
    ConfigKey("message.timestamp.before.max.ms", _L, _LONG_MAX, "log.message.timestamp.before.max.ms", minimum=0),
    ConfigKey(
        "message.timestamp.type", _S, "CreateTime", "log.message.timestamp.type", ("CreateTime", "LogAppendTime")
    ),
    ConfigKey("min.cleanable.dirty.ratio", _D, "0.5", "log.cleaner.min.cleanable.ratio", minimum=0, maximum=1),
    ConfigKey("min.compaction.lag.ms", _L, "0", "log.cleaner.min.compaction.lag.ms", minimum=0),
    ConfigKey("min.insync.replicas", _I, "1", "min.insync.replicas", minimum=1),
    ConfigKey("preallocate", _B, "false", "log.preallocate"),
    ConfigKey("remote.log.copy.disable", _B, "false"),
    ConfigKey("remote.log.delete.on.disable", _B, "false"),
    ConfigKey("remote.storage.enable", _B, "false"),
    ConfigKey("retention.bytes", _L, "-1", "log.retention.bytes"),
    ConfigKey("retention.ms", _L, "604800000", minimum=-1),
    ConfigKey("segment.bytes", _I, "1073741824", "log.segment.bytes", minimum=1048576),
    ConfigKey("segment.index.bytes", _I, "10485760", "log.index.size.max.bytes", minimum=4),
    ConfigKey("segment.jitter.ms", _L, "0", minimum=0),
    ConfigKey("segment.ms", _L, "604800000", minimum=1),
    ConfigKey("unclean.leader.election.enable", _B, "false", "unclean.leader.election.enable"),
)

_BROKER_KEYS = (
    ConfigKey("allow.everyone.if.no.acl.found", _B, "false", read_only=True),
    ConfigKey("authorizer.class.name", _S, "", read_only=True),
    ConfigKey("auto.create.topics.enable", _B, "true", read_only=True),
    ConfigKey("connections.max.idle.ms", _L, "600000", read_only=True),
    ConfigKey("connections.max.reauth.ms", _L, "0", read_only=True),
    ConfigKey("default.replication.factor", _I, "1", minimum=1, read_only=True),
    ConfigKey("delete.topic.enable", _B, "true", read_only=True),
    ConfigKey("fetch.max.bytes", _I, "57671680", minimum=1024, read_only=True),
    ConfigKey("group.consumer.assignment.interval.ms", _I, "1000", minimum=0, read_only=True),
    ConfigKey("group.consumer.assignors", _A, "uniform,range", choices=("uniform", "range"), read_only=True),
    ConfigKey("group.consumer.heartbeat.interval.ms", _I, "5000", minimum=1, read_only=True),
    ConfigKey("group.consumer.max.assignment.interval.ms", _I, "15000", minimum=0, read_only=True),
    ConfigKey("group.consumer.max.heartbeat.interval.ms", _I, "15000", minimum=1, read_only=True),
    ConfigKey("group.consumer.max.session.timeout.ms", _I, "60000", minimum=1, read_only=True),
    ConfigKey("group.consumer.max.size", _I, _INT_MAX, minimum=1, read_only=True),
    ConfigKey("group.consumer.migration.policy", _S, "bidirectional", choices=_MIGRATIONS, read_only=True),
    ConfigKey("group.consumer.min.assignment.interval.ms", _I, "0", minimum=0, read_only=True),
    ConfigKey("group.consumer.min.heartbeat.interval.ms", _I, "5000", minimum=1, read_only=True),
    ConfigKey("group.consumer.min.session.timeout.ms", _I, "45000", minimum=1, read_only=True),
    ConfigKey("group.consumer.session.timeout.ms", _I, "45000", minimum=1, read_only=True),
    ConfigKey("group.initial.rebalance.delay.ms", _I, "3000", minimum=0, read_only=True),
    ConfigKey("group.max.session.timeout.ms", _I, "1800000", read_only=True),
    ConfigKey("group.max.size", _I, _INT_MAX, minimum=1, read_only=True),
    ConfigKey("group.min.session.timeout.ms", _I, "6000", read_only=True),
    ConfigKey("group.share.assignment.interval.ms", _I, "1000", minimum=0, read_only=True),
    ConfigKey("group.share.delivery.count.limit", _I, "5", minimum=2, maximum=10, read_only=True),
    ConfigKey("group.share.heartbeat.interval.ms", _I, "5000", minimum=1, read_only=True),
    ConfigKey("group.share.max.assignment.interval.ms", _I, "15000", minimum=0, read_only=True),
    ConfigKey("group.share.max.delivery.count.limit", _I, "10", minimum=2, maximum=25, read_only=True),
    ConfigKey("group.share.max.heartbeat.interval.ms", _I, "15000", minimum=1, read_only=True),
    ConfigKey("group.share.max.partition.max.record.locks", _I, "4000", minimum=100, maximum=20000, read_only=True),
    ConfigKey("group.share.max.record.lock.duration.ms", _I, "60000", minimum=1000, maximum=3600000, read_only=True),
    ConfigKey("group.share.max.session.timeout.ms", _I, "60000", minimum=1, read_only=True),
    ConfigKey("group.share.max.share.sessions", _I, "2000", minimum=1, read_only=True),
    ConfigKey("group.share.max.size", _I, "200", minimum=1, maximum=1000, read_only=True),
    ConfigKey("group.share.min.assignment.interval.ms", _I, "0", minimum=0, read_only=True),
    ConfigKey("group.share.min.delivery.count.limit", _I, "2", minimum=2, read_only=True),
    ConfigKey("group.share.min.heartbeat.interval.ms", _I, "5000", minimum=1, read_only=True),
    ConfigKey("group.share.min.partition.max.record.locks", _I, "100", minimum=100, read_only=True),
    ConfigKey("group.share.min.record.lock.duration.ms", _I, "15000", minimum=1000, read_only=True),
    ConfigKey("group.share.min.session.timeout.ms", _I, "45000", minimum=1, read_only=True),
    ConfigKey("group.share.partition.max.record.locks", _I, "2000", minimum=100, read_only=True),
    ConfigKey("group.share.record.lock.duration.ms", _I, "30000", minimum=1000, read_only=True),
    ConfigKey("group.share.session.timeout.ms", _I, "45000", minimum=1, read_only=True),
    ConfigKey("group.streams.assignment.interval.ms", _I, "1000", minimum=0, read_only=True),
    ConfigKey("group.streams.heartbeat.interval.ms", _I, "5000", minimum=1, read_only=True),
    ConfigKey("group.streams.initial.rebalance.delay.ms", _I, "3000", minimum=0, read_only=True),
    ConfigKey("group.streams.max.assignment.interval.ms", _I, "15000", minimum=0, read_only=True),
    ConfigKey("group.streams.max.heartbeat.interval.ms", _I, "15000", minimum=1, read_only=True),
    ConfigKey("group.streams.max.session.timeout.ms", _I, "60000", minimum=1, read_only=True),
    ConfigKey("group.streams.max.size", _I, _INT_MAX, minimum=1, read_only=True),
    ConfigKey("group.streams.max.standby.replicas", _I, "2", minimum=0, read_only=True),
    ConfigKey("group.streams.min.assignment.interval.ms", _I, "0", minimum=0, read_only=True),
    ConfigKey("group.streams.min.heartbeat.interval.ms", _I, "5000", minimum=1, read_only=True),
    ConfigKey("group.streams.min.session.timeout.ms", _I, "45000", minimum=1, read_only=True),
    ConfigKey("group.streams.num.standby.replicas", _I, "0", minimum=0, read_only=True),
    ConfigKey("group.streams.session.timeout.ms", _I, "45000", minimum=1, read_only=True),
    ConfigKey("max.incremental.fetch.session.cache.slots", _I, "1000", minimum=0, read_only=True),
    ConfigKey("metric.reporters", _A, "org.apache.kafka.common.metrics.JmxReporter", read_only=True),
    ConfigKey("num.partitions", _I, "1", minimum=1, read_only=True),
    ConfigKey("offset.metadata.max.bytes", _I, "4096", read_only=True),
    ConfigKey("replica.selector.class", _S, None, read_only=True),
    ConfigKey("sasl.enabled.mechanisms", _A, "", read_only=True),
    ConfigKey("share.version", _I, "1", minimum=0, maximum=1, read_only=True),
    ConfigKey("socket.request.max.bytes", _I, "104857600", minimum=1, read_only=True),
    ConfigKey("super.users", _S, "", read_only=True),
    ConfigKey("telemetry.max.bytes", _I, "1048576", minimum=1, read_only=True),
    ConfigKey("transaction.max.timeout.ms", _I, "900000", minimum=1, read_only=True),
    ConfigKey("transaction.version", _I, "2", minimum=0, maximum=2, read_only=True),
)

_GROUP_KEYS = (
    ConfigKey("consumer.assignment.interval.ms", _I, "1000", "group.consumer.assignment.interval.ms", minimum=0),
    ConfigKey("consumer.heartbeat.interval.ms", _I, "5000", "group.consumer.heartbeat.interval.ms", minimum=1),
    ConfigKey("consumer.session.timeout.ms", _I, "45000", "group.consumer.session.timeout.ms", minimum=1),
    ConfigKey("share.assignment.interval.ms", _I, "1000", "group.share.assignment.interval.ms", minimum=0),
    ConfigKey("share.auto.offset.reset", _S, "latest"),
    ConfigKey("share.delivery.count.limit", _I, "5", "group.share.delivery.count.limit", minimum=2),
    ConfigKey("share.heartbeat.interval.ms", _I, "5000", "group.share.heartbeat.interval.ms", minimum=1),
    ConfigKey("share.isolation.level", _S, "read_uncommitted", choices=("read_committed", "read_uncommitted")),
    ConfigKey("share.partition.max.record.locks", _I, "2000", "group.share.partition.max.record.locks", minimum=100),
    ConfigKey("share.record.lock.duration.ms", _I, "30000", "group.share.record.lock.duration.ms", minimum=1000),
    ConfigKey("share.renew.acknowledge.enable", _B, "true"),
    ConfigKey("share.session.timeout.ms", _I, "45000", "group.share.session.timeout.ms", minimum=1),
    ConfigKey("streams.assignment.interval.ms", _I, "1000", "group.streams.assignment.interval.ms", minimum=0),
    ConfigKey("streams.heartbeat.interval.ms", _I, "5000", "group.streams.heartbeat.interval.ms", minimum=1),
    ConfigKey("streams.initial.rebalance.delay.ms", _I, "3000", "group.streams.initial.rebalance.delay.ms", minimum=0),
    ConfigKey("streams.num.standby.replicas", _I, "0", "group.streams.num.standby.replicas", minimum=0),
    ConfigKey("streams.session.timeout.ms", _I, "45000", "group.streams.session.timeout.ms", minimum=1),
)

_METRICS_KEYS = (
    ConfigKey("interval.ms", _I, "300000", minimum=100, maximum=3_600_000),
    ConfigKey("match", _A, ""),
    ConfigKey("metrics", _A, ""),
)
_MATCHES = frozenset(
    {
        *("client_instance_id", "client_id", "client_software_name", "client_software_version"),
        *("client_source_address", "client_source_port"),
    }
)


def _broker_table() -> dict[str, ConfigKey]:
    table = {key.name: key for key in _BROKER_KEYS}
    for key in _TOPIC_KEYS:
        if key.broker_name is not None:
            table[key.broker_name] = ConfigKey(
                key.broker_name,
                key.type,
                key.default,
                choices=key.choices,
                minimum=key.minimum,
                maximum=key.maximum,
            )
    return dict(sorted(table.items()))


TOPIC_CONFIGS: Mapping[str, ConfigKey] = {key.name: key for key in _TOPIC_KEYS}
BROKER_CONFIGS: Mapping[str, ConfigKey] = _broker_table()
GROUP_CONFIGS: Mapping[str, ConfigKey] = {key.name: key for key in _GROUP_KEYS}
METRICS_CONFIGS: Mapping[str, ConfigKey] = {key.name: key for key in _METRICS_KEYS}


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One effective value, where it comes from, and the chain of values behind it (the effective one first)."""

    key: ConfigKey
    value: str | None
    source: ConfigSource
    synonyms: tuple[tuple[str, str | None, ConfigSource], ...]


class BrokerConfig:
    """Effective broker properties: what was given at the start, changed at run time, or the default."""

    def __init__(self, given: Mapping[str, str]) -> None:
        for name, value in given.items():
            key = BROKER_CONFIGS.get(name)
            problem = f"unknown broker property {name!r}" if key is None else key.problem(value)
            if problem is not None:
                raise ValueError(problem)
        self._given = dict(given)
        #: Changed at run time for one broker (brokers share their values here) and for the cluster. A new KRaft
        #: cluster has this one entry (KIP-966).
        self.dynamic: dict[str, str] = {}
        self.cluster_default: dict[str, str] = {"min.insync.replicas": given.get("min.insync.replicas", "1")}

    def text(self, name: str) -> str:
        """The effective value as text; KeyError for an unknown name."""
        return self.entry(name).value or ""

    def integer(self, name: str) -> int:
        """The effective value as a whole number."""
        return int(self.text(name))

    def flag(self, name: str) -> bool:
        """The effective value as a bool."""
        return self.text(name).lower() == "true"

    def entry(self, name: str) -> ConfigEntry:
        """The effective value with its source."""
        key = BROKER_CONFIGS[name]
        chain: list[tuple[str, str | None, ConfigSource]] = []
        if name in self.dynamic:
            chain.append((name, self.dynamic[name], ConfigSource.DYNAMIC_BROKER))
        if name in self.cluster_default:
            chain.append((name, self.cluster_default[name], ConfigSource.DYNAMIC_DEFAULT_BROKER))
        if name in self._given:
            chain.append((name, self._given[name], ConfigSource.STATIC_BROKER))
        chain.append((name, key.default, ConfigSource.DEFAULT))
        return ConfigEntry(key, chain[0][1], chain[0][2], tuple(chain))

    def entries(self) -> Iterator[ConfigEntry]:
        """All properties in the order of their names."""
        return (self.entry(name) for name in BROKER_CONFIGS)


class _OwnConfig:
    """Effective properties of one topic or group: its own, else the broker's."""

    keys: ClassVar[Mapping[str, ConfigKey]]
    source: ClassVar[ConfigSource]
    #: Whether the default of a property that no broker property stands behind is told as the last of its values.
    tells_default: ClassVar[bool]

    def __init__(self, broker: BrokerConfig, own: Mapping[str, str] | None = None) -> None:
        self._broker = broker
        self.own: dict[str, str] = dict(own or {})

    def text(self, name: str) -> str:
        """The effective value as text; KeyError for an unknown name."""
        own = self.own.get(name)
        if own is not None:
            return own
        key = self.keys[name]
        return self._broker.text(key.broker_name) if key.broker_name else key.default or ""

    def integer(self, name: str) -> int:
        """The effective value as a whole number."""
        return int(self.text(name))

    def entry(self, name: str) -> ConfigEntry:
        """The effective value with its source."""
        key = self.keys[name]
        chain: list[tuple[str, str | None, ConfigSource]] = []
        if name in self.own:
            chain.append((name, self.own[name], self.source))
        if key.broker_name is not None:
            chain.extend(self._broker.entry(key.broker_name).synonyms)
        elif self.tells_default:
            chain.append((name, key.default, ConfigSource.DEFAULT))
        value, source = (chain[0][1], chain[0][2]) if chain else (key.default, ConfigSource.DEFAULT)
        return ConfigEntry(key, value, source, tuple(chain))

    def entries(self) -> Iterator[ConfigEntry]:
        """All properties in the order of their names."""
        return (self.entry(name) for name in self.keys)


class TopicConfig(_OwnConfig):
    """Effective properties of one topic: its own, else the broker's."""

    keys = TOPIC_CONFIGS
    source = ConfigSource.TOPIC
    tells_default = False


class GroupConfig(_OwnConfig):
    """Effective properties of one group: its own, else the broker's."""

    keys = GROUP_CONFIGS
    source = ConfigSource.GROUP
    tells_default = True

    def flag(self, name: str) -> bool:
        """The effective value as a bool."""
        return self.text(name).lower() == "true"

    def assignment_interval_s(self, kind: str) -> float:
        """Seconds that a group (`consumer`, `share`) rests after an assignment; 0 where nobody has set an interval.

        The default, a second, is only told: every test of a second member would wait for it.
        """
        entry = self.entry(f"{kind}.assignment.interval.ms")
        return 0.0 if entry.source is ConfigSource.DEFAULT else int(entry.value or 0) / 1000

    def problem(self, name: str, value: str) -> str | None:
        """Why a property of the group can't be set so, None if it can. Its broker's bounds count, too."""
        key = self.keys.get(name)
        if key is None:
            return f"Unknown group config name: {name}"
        if name == "share.auto.offset.reset":
            return _reset_problem(value)
        problem = key.problem(value)
        if problem is None and key.broker_name is not None:
            problem = self._bounds_problem(name, key.broker_name, int(value))
        return problem

    def _bounds_problem(self, name: str, broker_name: str, value: int) -> str | None:
        group, kind, rest = broker_name.split(".", 2)
        for bound, words in (("min", "greater"), ("max", "less")):
            other = f"{group}.{kind}.{bound}.{rest.removeprefix('num.')}"
            if other not in BROKER_CONFIGS:
                continue
            limit = self._broker.integer(other)
            if value < limit if bound == "min" else value > limit:
                return f"{name} must be {words} than or equal to {other}"
        return None

    def whole_problem(self) -> str | None:
        """Why the properties do not fit together, None if they do."""
        for kind in ("consumer", "share", "streams"):
            session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
            if not self.own.keys().isdisjoint((session, heartbeat)) and self.integer(session) <= self.integer(
                heartbeat
            ):
                return f"{session} must be greater than {heartbeat}"
        return None


class MetricsConfig(_OwnConfig):
    """A subscription to clients' metrics (KIP-714): which ones, of whom, and how often."""

    keys = METRICS_CONFIGS
    source = ConfigSource.CLIENT_METRICS
    tells_default = True

    @property
    def metrics(self) -> list[str]:
        """Prefixes of names."""
        return _items(self.text("metrics"))

    def matches(self, facts: Mapping[str, str]) -> bool:
        """Whether a client is meant, of which these facts are known."""
        return all(re.fullmatch(pattern, facts[name]) for name, pattern in map(_pattern, _items(self.text("match"))))

    def refusal(self) -> str | None:
        """Why there can't be such a subscription (INVALID_REQUEST), None if there can."""
        for name in self.own:
            if name not in self.keys:
                return f"Unknown client metrics configuration: {name}"
        interval_ms, key = self.text("interval.ms"), self.keys["interval.ms"]
        if _number(interval_ms) is not None and key.problem(interval_ms) is not None:
            return f"Invalid value {interval_ms} for interval.ms, interval must be between 100 and 3600000 (1 hour)"
        return None

    def problem(self) -> str | None:
        """Why a value can't be so (INVALID_CONFIG), None if all can."""
        if _number(self.text("interval.ms")) is None:
            return self.keys["interval.ms"].problem(self.text("interval.ms"))
        for item in _items(self.text("match")):
            name, pattern = _pattern(item)
            try:
                re.compile(pattern)
            except re.error:
                name = ""
            if name not in _MATCHES or item.count("=") != 1 or not pattern:
                return f"Illegal client matching pattern: {item}"
        return None


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _pattern(item: str) -> tuple[str, str]:
    name, _, pattern = item.partition("=")
    return name.strip(), pattern.strip()


_DURATION = re.compile(
    r"P(?:(?P<days>\d+)D)?(?:T(?=.)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d*)?)S)?)?",
    re.IGNORECASE,
)
_BY_DURATION = "by_duration:"


def reset_age(value: str) -> timedelta | None:
    """The age in `by_duration:…` of `share.auto.offset.reset`; None for other values."""
    found = _DURATION.fullmatch(value.removeprefix(_BY_DURATION)) if value.startswith(_BY_DURATION) else None
    parts = {name: float(number) for name, number in found.groupdict().items() if number} if found else {}
    return timedelta(**parts) if parts else None


def _reset_problem(value: str) -> str | None:
    if value in ("earliest", "latest") or reset_age(value) is not None:
        return None
    name = "share.auto.offset.reset"
    return (
        f"Invalid value {value} for configuration {name}: Invalid value `{value}` for configuration {name}. The value "
        "must be either 'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'."
    )


def topic_config_problem(name: str, value: str | None) -> str | None:
    """Why a topic property can't be set so, None if it can."""
    key = TOPIC_CONFIGS.get(name)
    if key is None:
        return f"Unknown topic config name: {name}"
    if value is None:
        return f"Null value not supported for topic configs: {name}"
    return key.problem(value)
