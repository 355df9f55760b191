"""Turns the dict a user gives into a checked, complete, typed `Config`.

Knows the table (config_table.py), the reading of values (kserdes_base) and the rules between properties
(config_rules.py); nothing of clients.
Truth: librdkafka's CONFIGURATION.md, and how it reads numbers, booleans and enums from text.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar, cast

from kafka_core import config_rules
from kafka_core.config_option import Effect, Option, Role
from kafka_core.config_table import BY_NAME, OPTIONS, TABLE
from kafka_core.debug_lines import ClientLines, DebugLines, LineLogger
from kafka_core.errors import CallbackError, ConfigError
from kafka_core.hooks import Hooks
from kserdes_base.config.errors import PropertyError, PropertyTypeError
from kserdes_base.config.properties import Kind
from kserdes_base.config.reading import split, value_of
from kserdes_base.version import VERSION

__all__ = ["Config", "Role", "joined", "parse", "parse_addresses"]

T = TypeVar("T")
DEFAULT_LOGGER: Final = logging.getLogger("kafka_core")
CLIENT_LOGGER: Final = logging.getLogger("kafka_core.client")

TOPIC_CONFIG: Final = "default.topic.config"
DEFAULT_PORT: Final = 9092
ADDRESS: Final = re.compile(r"(?:[A-Za-z_]+://)?(\[[0-9A-Fa-f:.%\w]+\]|[^\s:/\[\],]+)(?::(\d{1,5}))?")
# Lines already logged in this process, however many clients there are.
said: set[str] = set()


class Config(Mapping[str, object]):
    """All properties of one client by canonical name, defaults filled in; immutable.

    Look-ups take aliases too. Secrets are shown as `***` by `repr`. A property of another role has its default here.
    The getters raise TypeError if the property is of another type and KeyError if there is none of that name: both
    are mistakes in our code, since what users give was checked before.
    """

    __slots__ = ("_given", "_values", "role")

    def __init__(self, role: Role, values: Mapping[str, object], given: frozenset[str]) -> None:
        self.role = role
        self._values = dict(values)
        self._given = given

    def __getitem__(self, name: str) -> object:
        return self._values[BY_NAME[name].name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        shown = (f"{name!r}: {'***' if BY_NAME[name].secret else repr(self[name])}" for name in sorted(self._given))
        return f"Config({self.role.value}, {{{', '.join(shown)}}})"

    def integer(self, name: str) -> int:
        """A whole number."""
        return self._typed(name, int)

    def number(self, name: str) -> float:
        """A number that may have a fraction (or a whole one)."""
        return float(self._typed(name, int) if isinstance(self[name], int) else self._typed(name, float))

    def text(self, name: str) -> str:
        """A text that is set or has a default; also words and lists as they are written."""
        return self._typed(name, str)

    def optional_text(self, name: str) -> str | None:
        """A text, or None if it is not set."""
        return None if self[name] is None else self._typed(name, str)

    def names(self, name: str) -> tuple[str, ...]:
        """The words of a list property; empty if it is not set."""
        return tuple(split(self.optional_text(name) or ""))

    def flag(self, name: str) -> bool:
        """True or false."""
        return self._typed(name, bool)

    def callback(self, name: str) -> Callable[..., Any] | None:
        """A callable, or None if it is not set."""
        value = self[name]
        if BY_NAME[name].kind is not Kind.CALLBACK or not (value is None or callable(value)):
            raise TypeError(f"{name} is not a callback")
        return value

    def seconds(self, name: str) -> float:
        """A property in milliseconds (`... .ms`), as seconds."""
        if not name.endswith(".ms"):
            raise TypeError(f"{name} is not in milliseconds")
        return self.number(name) / 1000

    def has_listeners(self) -> bool:
        """Whether callbacks or a logger wait for what happens by itself: blocking clients begin then when made."""
        listens_to_statistics = self.callback("stats_cb") is not None and self.integer("statistics.interval.ms") > 0
        return listens_to_statistics or self.callback("error_cb") is not None or self.has_lines()

    def has_lines(self) -> bool:
        """Whether there is a `logger`, or `debug` asks for lines."""
        return self["logger"] is not None or bool(self.names("debug"))

    def logger(self) -> LineLogger:
        """The logger that gets this client's lines."""
        given = self["logger"]
        return CLIENT_LOGGER if given is None else cast("LineLogger", given)

    def is_set(self, name: str) -> bool:
        """True if the user gave this property, even with its default value."""
        return BY_NAME[name].name in self._given

    def addresses(self) -> list[tuple[str, int]]:
        """(host, port) of the bootstrap brokers, in the order given; none where none are named."""
        servers = self.optional_text("bootstrap.servers")
        return [] if servers is None else parse_addresses(servers)

    def hooks(self) -> Hooks:
        """The dispatcher of the user's hooks; an empty one if there are none."""
        return self._typed("hooks", Hooks)

    def _typed(self, name: str, kind: type[T]) -> T:
        value = self[name]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise TypeError(f"{name} is {type(value).__name__}, not {kind.__name__}")
        return value


def parse(conf: Mapping[str, object], role: Role) -> Config:
    """Checks and completes a configuration.

    Args:
        conf: property → value as confluent_kafka takes them: numbers and booleans also as text, callbacks as
            callables, `default.topic.config` as a nested dict (it wins over properties beside it). Of two spellings of
            one property the later wins. Not changed.
        role: what kind of client it is for. Properties of other roles are checked, logged once, and have no effect.

    Raises:
        ConfigError: unknown property, wrong type, out of range, at odds with another one, or missing.
    """
    if not isinstance(conf, Mapping):
        raise TypeError(f"configuration must be a dict, not {type(conf).__name__}")
    values: dict[str, object] = {option.name: option.default_for(role) for option in OPTIONS}
    values["hooks"] = Hooks()
    given: set[str] = set()
    properties = list(flatten(conf))
    try:
        TABLE.check_names(name for name, _ in properties)
    except PropertyError as error:
        raise refusal(error) from None
    for name, raw in properties:
        option = find(name)
        value = convert(option, raw, name)
        config_rules.check_role(option.name, role)
        notice(option, name, value, role)
        if role in option.roles and value is not None:
            values[option.name] = value
            given.add(option.name)
    config_rules.apply(values, frozenset(given), role, say)
    config = Config(role, values, frozenset(given))
    config.addresses()  # a malformed address is refused here, not when it is first needed
    return with_lines(config, frozenset(given)) if config.has_lines() else config


def with_lines(config: Config, given: frozenset[str]) -> Config:
    """The same configuration, with a hook that writes the lines of `debug` to the client's logger."""
    contexts = config.names("debug")
    lines = (DebugLines if contexts else ClientLines)(
        config.logger(),
        contexts,
        client_id=config.text("client.id"),
        role=config.role.value,
        log_level=config.integer("log_level"),
        thread_names=config.flag("log.thread.name"),
        closed=config.flag("log.connection.close"),
    )
    shown = {name: "***" if BY_NAME[name].secret else config[name] for name in sorted(given)}
    lines.begin(VERSION, shown, len(config.addresses()))
    values: dict[str, object] = {**config, "hooks": config.hooks().plus(lines)}
    return Config(config.role, values, given)


def joined(conf: Mapping[str, object] | None, properties: Mapping[str, object]) -> dict[str, object]:
    """The dict a client was given with the properties given by name.

    Raises:
        TypeError: neither was given, or the first is no dict.
    """
    if conf is None and not properties:
        raise TypeError("expected configuration dict")
    if conf is not None and not isinstance(conf, Mapping):
        raise TypeError(f"expected configuration dict, not {type(conf).__name__}")
    return {**(conf or {}), **properties}


def flatten(conf: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The properties with those of `default.topic.config` after all others, so that they win."""
    for name, value in conf.items():
        if name != TOPIC_CONFIG:
            yield name, value
    nested = conf.get(TOPIC_CONFIG)
    if nested is not None:
        if not isinstance(nested, Mapping):
            raise ConfigError(f"{TOPIC_CONFIG} must be a dict, not {type(nested).__name__}")
        yield from nested.items()


def find(name: object) -> Option:
    """The row of a property by any of its spellings.

    Raises:
        ConfigError: there is none; the text names the nearest one.
    """
    try:
        return TABLE.find(name)
    except PropertyError as error:
        raise refusal(error) from None


def refusal(error: PropertyError) -> ConfigError:
    """The error as one of this package."""
    kind = CallbackError if isinstance(error, PropertyTypeError) and error.accepted == "callable" else ConfigError
    return kind(str(error), property=error.property, accepted=error.accepted, nearest=error.nearest)


def notice(option: Option, name: str, value: object, role: Role) -> None:
    """Says once what a property won't do, or refuses it."""
    if value is None or value == option.default_for(role):
        return
    if option.effect is Effect.REFUSED:
        shown = "" if option.secret or option.kind is Kind.STR else f"={value}"
        raise ConfigError(f"{name}{shown} is not supported: {option.why}", property=name)
    if role not in option.roles:
        owners = " and ".join(sorted(owner.value for owner in option.roles))
        say(logging.WARNING, f"{name!r} is a {owners} property: it has no effect on this {role.value}")
    elif option.effect is Effect.IGNORED:
        say(logging.INFO, f"{name!r} is accepted but has no effect: {option.why}")


def say(level: int, sentence: str) -> None:
    """Logs a sentence, but only the first time in this process."""
    if sentence not in said:
        said.add(sentence)
        DEFAULT_LOGGER.log(level, "%s", sentence)


def convert(option: Option, raw: object, name: str) -> object:
    """A user's value as the property's type; None is "not set" where that makes sense.

    Raises:
        ConfigError: ill-typed or out of range; the text says what is allowed and hides secrets.
    """
    try:
        return value_of(option, raw, name)
    except PropertyError as error:
        raise refusal(error) from None


def parse_addresses(value: str) -> list[tuple[str, int]]:
    """`host[:port]` with commas between them → (host, port); `[::1]:9092` for IPv6; port 9092 if left out.

    Raises:
        ConfigError: an entry is malformed, or there is none.
    """
    addresses = []
    for entry in split(value):
        match = ADDRESS.fullmatch(entry)
        port = int(match[2] or DEFAULT_PORT) if match else 0
        if match is None or not 0 < port < 65536:
            raise ConfigError(f"bootstrap.servers: {entry!r} is not host:port", property="bootstrap.servers")
        addresses.append((match[1].strip("[]"), port))
    if not addresses:
        raise ConfigError("bootstrap.servers: no broker is named", property="bootstrap.servers")
    return addresses
