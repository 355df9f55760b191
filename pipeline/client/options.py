"""The options `kafka.…`: configuration of the Kafka client, in librdkafka's names or in Java's.

Spark hands the names of options over in lower case. Must not know of Spark or open anything.
Sources: Java's configuration (kafka.apache.org/documentation/#configuration), KIP-651 (PEM).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from kafka_core.config import Role
from kafka_core.config_table import TABLE
from kserdes_base.config.errors import PropertyError
from kserdes_base.config.properties import Kind
from kserdes_base.config.reading import value_of
from kserdes_base.config.table import nearest
from kserdes_base.key_store import trusted_pem

PREFIX: Final = "kafka."

REFUSED: Final = {
    "auto.offset.reset": 'offsets are planned by the driver: use "startingOffsets" and "failOnDataLoss"',
    "enable.auto.commit": 'nothing is committed by readers; "commitProgressToGroup" commits a stream\'s progress',
    "interceptor.classes": "there is no Java here to run it",
    "key.deserializer": 'keys come as bytes; "key.format" decodes them',
    "value.deserializer": 'values come as bytes; "value.format" decodes them',
    "key.serializer": 'keys are bytes or text; "key.format" encodes structs',
    "value.serializer": 'values are bytes or text; "value.format" encodes structs',
    "partitioner.class": 'name one of librdkafka\'s in "kafka.partitioner"',
    "transactional.id": "the sink makes its own: one for each task",
}
"""Property without a meaning here → the advice what to use instead."""

RENAMED: Final = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "max.request.size": "message.max.bytes",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
}
"""Java's name → librdkafka's, where the value means the same."""

WITHOUT_EFFECT: Final = frozenset(
    {
        "default.api.timeout.ms",
        "max.poll.records",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "metric.reporters",
        "exclude.internal.topics",
        "sasl.login.callback.handler.class",
        "sasl.client.callback.handler.class",
        "ssl.protocol",
        "ssl.enabled.protocols",
        "ssl.provider",
        "ssl.trustmanager.algorithm",
        "ssl.keymanager.algorithm",
        "ssl.secure.random.implementation",
        "sasl.jaas.config",
        "ssl.truststore.type",
        "ssl.keystore.type",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.keystore.location",
        "ssl.keystore.password",
    }
)
"""Java's properties that are read elsewhere in this module, or only concern the JVM."""

LOGIN_MODULE: Final = re.compile(r"\s*([\w.$]+)\s+(?:required|requisite|sufficient|optional)\b(.*?);?\s*$", re.DOTALL)
LOGIN_OPTION: Final = re.compile(r"""([\w.]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;"']+))""")
OAUTH: Final = {
    "clientId": "sasl.oauthbearer.client.id",
    "clientSecret": "sasl.oauthbearer.client.secret",
    "scope": "sasl.oauthbearer.scope",
}


def client_properties(given: Mapping[str, str]) -> dict[str, str]:
    """The client's configuration of the options `kafka.…`.

    Args:
        given: names without the prefix, as the user wrote them or in lower case, and values.

    Raises:
        PropertyError: an unknown name, with the nearest one; a value that does not do; or a property that has no
            meaning here.
    """
    found: dict[str, str] = {}
    names = {name.lower(): value for name, value in given.items()}
    for name, value in names.items():
        shown = f"{PREFIX}{name}"
        if name in REFUSED:
            raise PropertyError(f"option {shown!r} has no meaning here: {REFUSED[name]}", property=shown)
        if name in WITHOUT_EFFECT:
            continue
        own, text = _translated(name, value)
        _check(name, own, text)
        found[own] = text
    for own, text in (*_stores(names), *_login(names)):
        found.setdefault(own, text)
    return found


def for_role(client: Mapping[str, str], role: Role) -> dict[str, object]:
    """The part of a configuration that clients of this kind use: the others would only log that they do not."""
    return {name: value for name, value in client.items() if role in TABLE.find(name).roles}


def _translated(name: str, value: str) -> tuple[str, str]:
    """A property as librdkafka calls it, and its value as librdkafka writes it."""
    if name == "buffer.memory" and value.isdecimal():
        return "queue.buffering.max.kbytes", str(max(1, int(value) // 1024))
    if name == "ssl.endpoint.identification.algorithm" and not value:
        return name, "none"
    if name == "sasl.mechanism" and value == "":
        return name, "PLAIN"
    return RENAMED.get(name, name), value


def _check(name: str, own: str, value: str) -> None:
    """Refuses a name or a value that the client would refuse, in the words of the option."""
    shown = f"{PREFIX}{name}"
    try:
        value_of(TABLE.find(own), value, shown)
    except PropertyError as error:
        if error.accepted is not None:
            raise
        known = nearest(name, (row.name for row in TABLE.rows if row.kind is not Kind.CALLBACK))
        near = None if known is None else f"{PREFIX}{known}"
        hint = "" if near is None else f"; did you mean {near!r}?"
        raise PropertyError(f"unknown option {shown!r}{hint}", property=shown, nearest=near) from None


def _stores(names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Java's stores: PEM files are read as they are, PKCS#12 here (trusted certificates) or by the client (its own)."""
    location = names.get("ssl.truststore.location")
    if location is not None:
        if _is_pem(names, "ssl.truststore"):
            yield "ssl.ca.location", location
        else:
            password = names.get("ssl.truststore.password")
            yield "ssl.ca.pem", trusted_pem(location, password, _truststore_error)
    location = names.get("ssl.keystore.location")
    if location is not None:
        if _is_pem(names, "ssl.keystore"):
            yield "ssl.certificate.location", location
        else:
            yield "ssl.keystore.location", location
            if "ssl.keystore.password" in names:
                yield "ssl.keystore.password", names["ssl.keystore.password"]


def _is_pem(names: Mapping[str, str], prefix: str) -> bool:
    return names.get(f"{prefix}.type", "").upper() == "PEM"


def _truststore_error(text: str) -> PropertyError:
    shown = f"{PREFIX}ssl.truststore.location"
    return PropertyError(f"option {shown!r}: {text}; or give PEM with '{PREFIX}ssl.ca.location'", property=shown)


def _login(names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The properties in `sasl.jaas.config`: user and password, or the client of OAuth."""
    text = names.get("sasl.jaas.config")
    if text is None:
        return
    shown = f"{PREFIX}sasl.jaas.config"
    module = LOGIN_MODULE.match(text)
    if module is None:  # the text has a password: it is not shown
        wanted = '…PlainLoginModule required username="…" password="…";'
        raise PropertyError(f"{shown} must look like {wanted!r}", property=shown, accepted=wanted)
    kind = module[1].rpartition(".")[2]
    options = {name: _unescaped(a or b or c) for name, a, b, c in LOGIN_OPTION.findall(module[2])}
    reader = LOGINS.get(kind)
    if reader is None:
        raise PropertyError(
            f"{shown} names the login module {kind!r}, which is not known here: {', '.join(LOGINS)} are", property=shown
        )
    yield from reader(options)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _user(options: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield from ((f"sasl.{name}", options[name]) for name in ("username", "password") if name in options)


def _oauth(options: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if "clientId" in options:
        yield "sasl.oauthbearer.method", "oidc"
    yield from ((OAUTH[name], value) for name, value in options.items() if name in OAUTH)


LOGINS: Final[dict[str, Callable[[Mapping[str, str]], Iterator[tuple[str, str]]]]] = {
    "PlainLoginModule": _user,
    "ScramLoginModule": _user,
    "OAuthBearerLoginModule": _oauth,
}
