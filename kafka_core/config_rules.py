"""Rules between properties: what contradicts what, and which values follow from others.

Knows converted values only, not how they were written. `apply` changes the values in place before they are frozen.
Truth: the checks librdkafka makes when a client is created; KIP-679 for idempotence that gives way.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from kafka_core.config_option import Role
from kafka_core.errors import ConfigError
from kafka_core.limits import MAX_NAME_BYTES

Say = Callable[[int, str], None]
Values = dict[str, Any]

FILES: Final = (
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.key.location",
    "ssl.keystore.location",
    "ssl.crl.location",
)
CLIENT_CERTIFICATE: Final = ("ssl.certificate.location", "ssl.certificate.pem", "ssl.key.location", "ssl.key.pem")
SENT: Final = ("client.id", "client.rack", "group.id", "group.instance.id", "transactional.id")
MAX_IDEMPOTENT_IN_FLIGHT: Final = 5
CODEC_LEVELS: Final = {"gzip": 9, "lz4": 12, "zstd": 22}
FETCH_OVERHEAD_BYTES: Final = 512
BROKER_SIDE: Final = {
    "session.timeout.ms": "it is defined at the broker (group.consumer.session.timeout.ms)",
    "heartbeat.interval.ms": "it is defined at the broker (group.consumer.heartbeat.interval.ms)",
    "partition.assignment.strategy": "use group.remote.assignor instead",
    "partition.assignors": "use group.remote.assignor instead",
    "group.protocol.type": "there is no such choice",
}

NOT_SHARED: Final = (
    "auto.commit.interval.ms",
    "auto.offset.reset",
    "enable.auto.commit",
    "enable.auto.offset.store",
    "enable.partition.eof",
    "fetch.error.backoff.ms",
    "group.instance.id",
    "group.protocol",
    "group.protocol.type",
    "group.remote.assignor",
    "heartbeat.interval.ms",
    "isolation.level",
    "on_commit",
    "on_truncation",
    "partition.assignment.strategy",
    "partition.assignors",
    "queued.max.messages.kbytes",
    "queued.min.messages",
    "session.timeout.ms",
)
"""Properties that share groups have at the broker or not at all: offsets, assignment, isolation."""


def apply(values: dict[str, object], given: frozenset[str], role: Role, say: Say) -> None:
    """Checks the rules of this role and fills in what follows from other properties.

    Args:
        values: canonical name → converted value, complete; changed in place.
        given: the names the user set.
        role: what kind of client it is for.
        say: (logging level, sentence) → logs it once per process.

    Raises:
        ConfigError: properties contradict each other, or a needed one is missing.
    """
    if values["bootstrap.servers"] is None:
        say(logging.WARNING, "bootstrap.servers is not set: clients without it never reach a cluster")
    check_texts(values)
    check_back_off(values, given, "retry.backoff.ms", "retry.backoff.max.ms")
    check_back_off(values, given, "reconnect.backoff.ms", "reconnect.backoff.max.ms")
    check_tls(values, say)
    check_sasl(values, given, say)
    if role is Role.PRODUCER:
        check_idempotence(values, given, say)
        check_transactions(values, given)
        check_delivery(values)
    elif role is Role.CONSUMER:
        check_group(values, given)
        check_fetch(values, given)
    elif role is Role.SHARE:
        check_share(values)
        check_fetch(values, given)


def check_role(name: str, role: Role) -> None:
    """Refuses a share consumer's properties that its group has at the broker or not at all, as librdkafka does."""
    if role is Role.SHARE and name in NOT_SHARED:
        raise refuse(f"{name} is not applicable for a share consumer", name)


def refuse(text: str, name: str) -> ConfigError:
    return ConfigError(text, property=name)


def check_texts(values: Values) -> None:
    """A text must fit a request: UTF-8 (no lone surrogates), and names under 32 KiB."""
    for name in SENT:
        value = values.get(name)
        if not isinstance(value, str):
            continue
        try:
            size = len(value.encode())
        except UnicodeEncodeError as error:
            raise refuse(f"{name} is not valid text: {error.reason} at position {error.start}", name) from None
        if size > MAX_NAME_BYTES:
            raise refuse(f"{name} has {size} bytes, and a request can carry no more than {MAX_NAME_BYTES}", name)


def check_back_off(values: Values, given: frozenset[str], base: str, highest: str) -> None:
    """The longest wait can't be shorter than the first one."""
    if values[base] > values[highest]:
        if highest in given:
            raise refuse(f"{highest} ({values[highest]}) must be at least {base} ({values[base]})", highest)
        values[highest] = values[base]


def check_tls(values: Values, say: Say) -> None:
    """Files must be there and key and certificate belong together, if TLS is used at all."""
    if values["ssl.ca.location"] == "probe":  # librdkafka's word for "look where the system has them"
        values["ssl.ca.location"] = None
    if values["security.protocol"] not in ("ssl", "sasl_ssl"):
        for name in FILES:
            if values[name] is not None:
                say(
                    logging.WARNING,
                    f"{name!r} has no effect: security.protocol={values['security.protocol']} is not TLS",
                )
        return
    if values["ssl.context"] is not None:
        return  # the others do not count
    for name in FILES:
        path = values[name]
        if path is not None and not (Path(path).is_file() or (name == "ssl.ca.location" and Path(path).is_dir())):
            raise refuse(f"{name}: there is no file {path!r}", name)
    for kind in ("ssl.ca", "ssl.certificate", "ssl.key"):
        if values[f"{kind}.location"] is not None and values[f"{kind}.pem"] is not None:
            raise refuse(f"set {kind}.location or {kind}.pem, not both", f"{kind}.pem")
    if values["ssl.keystore.location"] is not None:
        for name in CLIENT_CERTIFICATE:
            if values[name] is not None:
                raise refuse(f"set ssl.keystore.location or {name}, not both", name)
    elif values["ssl.keystore.password"] is not None:
        raise refuse("a password is set without ssl.keystore.location", "ssl.keystore.password")
    has_key = values["ssl.key.location"] is not None or values["ssl.key.pem"] is not None
    has_certificate = values["ssl.certificate.location"] is not None or values["ssl.certificate.pem"] is not None
    if has_key and not has_certificate:
        raise refuse("a private key is set without ssl.certificate.location (or .pem)", "ssl.certificate.location")


def check_sasl(values: Values, given: frozenset[str], say: Say) -> None:
    """Checks a mechanism's properties; one set without a SASL protocol is most likely a mistake."""
    mechanism = values["sasl.mechanism"]
    if not values["security.protocol"].startswith("sasl_"):
        if "sasl.mechanism" in given:
            protocol = values["security.protocol"]
            say(
                logging.WARNING,
                f"sasl.mechanism={mechanism} has no effect: security.protocol={protocol}; "
                "use sasl_ssl (or sasl_plaintext)",
            )
        return
    if mechanism == "GSSAPI":
        if "sasl.mechanism" not in given and not given.isdisjoint(("sasl.username", "sasl.password")):
            raise refuse(
                "sasl.mechanism is GSSAPI (Kerberos) unless it is set, and that has no user names and passwords: "
                "set PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512",
                "sasl.mechanism",
            )
    elif mechanism == "OAUTHBEARER":
        check_oauth(values)
    else:
        for name in ("sasl.username", "sasl.password"):
            if values[name] is None:
                raise refuse(f"{name} must be set for sasl.mechanism={mechanism}", name)


def check_oauth(values: Values) -> None:
    """There must be one source of tokens; `oauth_cb` goes before a provider, as in librdkafka."""
    unsecured = "enable.sasl.oauthbearer.unsecure.jwt"
    cloud = values["sasl.oauthbearer.metadata.authentication.type"]
    if values["sasl.oauthbearer.method"] == "oidc":
        if values[unsecured]:
            raise refuse(f"{unsecured} and sasl.oauthbearer.method=oidc are mutually exclusive", unsecured)
        if values["oauth_cb"] is None:
            check_provider(values, cloud)
    elif cloud != "none":
        name = "sasl.oauthbearer.metadata.authentication.type"
        raise refuse(f"{name}={cloud} requires sasl.oauthbearer.method=oidc", name)
    elif values["oauth_cb"] is None and not values[unsecured]:
        raise refuse("oauth_cb must be set for sasl.mechanism=OAUTHBEARER, or sasl.oauthbearer.method=oidc", "oauth_cb")


def check_provider(values: Values, cloud: object) -> None:
    """The request for a token has all its parts, each said once."""
    prefix = "sasl.oauthbearer."
    jwt = values[prefix + "grant.type"] != "client_credentials"
    if cloud == "none":
        wanted = ["token.endpoint.url", *(() if jwt else ("client.id", "client.secret"))]
        for name in wanted:
            if values[prefix + name] is None:
                raise refuse(f"{prefix}{name} is mandatory when sasl.oauthbearer.method=oidc is set", prefix + name)
        if jwt:
            check_assertion(values)
    elif cloud == "azure_imds" and values[prefix + "token.endpoint.url"] is values[prefix + "config"] is None:
        name = prefix + "token.endpoint.url"
        raise refuse(f"{name} is mandatory for azure_imds when sasl.oauthbearer.config has no query=…", name)
    elif cloud == "aws_iam" and not values[prefix + "config"]:
        name = prefix + "config"
        raise refuse(f"{name} is mandatory for aws_iam: region=…,audience=…", name)
    check_alone(values, "https.ca.location", "https.ca.pem")


def check_assertion(values: Values) -> None:
    """An assertion comes from a file, or is signed with one private key."""
    prefix = "sasl.oauthbearer.assertion."
    own = ["private.key.file", "private.key.pem", "claim.aud", "claim.iss", "claim.sub", "jwt.template.file"]
    if values[prefix + "file"] is not None:
        check_alone(values, prefix + "file", *(prefix + name for name in own))
    elif values[prefix + own[0]] is values[prefix + own[1]] is None:
        raise refuse(f"{prefix}file, {prefix}{own[0]} or {prefix}{own[1]} is mandatory for this grant", prefix + own[0])
    check_alone(values, prefix + own[0], prefix + own[1])


def check_alone(values: Values, name: str, *others: str) -> None:
    """Refuses the property if any of the others is set too."""
    for other in others:
        if values[name] is not None and values[other] is not None:
            raise refuse(f"{name} and {other} are mutually exclusive", other)


def check_idempotence(values: Values, given: frozenset[str], say: Say) -> None:
    """Checks the requirements of idempotence; unless it was asked for, it gives way and logs that (KIP-679)."""
    conflicts = [
        text
        for text, wrong in (
            ("acks must be all (-1)", values["acks"] != -1),
            ("retries must be at least 1", values["retries"] < 1),
            (
                f"max.in.flight.requests.per.connection must be at most {MAX_IDEMPOTENT_IN_FLIGHT}",
                values["max.in.flight.requests.per.connection"] > MAX_IDEMPOTENT_IN_FLIGHT,
            ),
        )
        if wrong
    ]
    if not conflicts or not values["enable.idempotence"]:
        return
    if "enable.idempotence" in given or values["transactional.id"] is not None:
        wish = "enable.idempotence" if "enable.idempotence" in given else "transactional.id"
        raise refuse(f"with {wish} set, {' and '.join(conflicts)}", wish)
    values["enable.idempotence"] = False
    say(logging.INFO, f"enable.idempotence is off: for it, {' and '.join(conflicts)}")


def check_transactions(values: Values, given: frozenset[str]) -> None:
    """A transaction's time-out bounds those of its records and requests."""
    if values["transactional.id"] is None:
        return
    if not values["enable.idempotence"]:
        raise refuse("transactional.id needs enable.idempotence=true", "enable.idempotence")
    limit = values["transaction.timeout.ms"]
    for name, longest in (("message.timeout.ms", limit), ("socket.timeout.ms", limit - 100)):
        current = values[name]
        if name not in given:
            values[name] = min(current, longest)
        elif current > longest or current == 0:
            raise refuse(f"{name} ({current}) must be at most {longest}, as transaction.timeout.ms is {limit}", name)


def check_delivery(values: Values) -> None:
    """A record must outlive its batch's linger; a codec's level must exist."""
    timeout, linger = values["message.timeout.ms"], values["linger.ms"]
    if 0 < timeout <= linger:
        raise refuse(
            f"message.timeout.ms ({timeout}) must be greater than linger.ms ({linger:g})", "message.timeout.ms"
        )
    codec = values["compression.type"]
    if codec in CODEC_LEVELS:
        own = values[f"compression.{codec}.level"]
        values["compression.level"] = min(own if own >= 0 else values["compression.level"], CODEC_LEVELS[codec])


def check_group(values: Values, given: frozenset[str]) -> None:
    """A consumer has a group, and its time-outs are in order."""
    if values["group.id"] is None:
        raise refuse("group.id must be set", "group.id")
    if values["group.protocol"] == "consumer":
        check_consumer_protocol(given)
        return
    session, heartbeat = values["session.timeout.ms"], values["heartbeat.interval.ms"]
    if heartbeat >= session:
        if "heartbeat.interval.ms" in given:
            raise refuse(
                f"heartbeat.interval.ms ({heartbeat}) must be less than session.timeout.ms ({session}), "
                "ideally a third of it",
                "heartbeat.interval.ms",
            )
        values["heartbeat.interval.ms"] = max(1, session // 3)
    if values["max.poll.interval.ms"] < session:
        raise refuse(
            f"max.poll.interval.ms ({values['max.poll.interval.ms']}) must be at least session.timeout.ms ({session})",
            "max.poll.interval.ms",
        )
    strategies = values["partition.assignment.strategy"].split(",")
    if "cooperative-sticky" in strategies and len(strategies) > 1:
        raise refuse(
            "partition.assignment.strategy: cooperative-sticky can't be mixed with the others",
            "partition.assignment.strategy",
        )


def check_share(values: Values) -> None:
    """A share consumer has a group."""
    if values["group.id"] is None:
        raise refuse("group.id must be set", "group.id")


def check_consumer_protocol(given: frozenset[str]) -> None:
    """Refuses properties that the broker decides on with KIP-848."""
    for name, instead in BROKER_SIDE.items():
        if name in given:
            raise refuse(f"{name} is not supported for group.protocol=consumer: {instead}", name)


def check_fetch(values: Values, given: frozenset[str]) -> None:
    """Checks that a response has room for a fetch."""
    needed = values["fetch.max.bytes"] + FETCH_OVERHEAD_BYTES
    if values["receive.message.max.bytes"] < needed:
        if "receive.message.max.bytes" in given:
            raise refuse(
                f"receive.message.max.bytes ({values['receive.message.max.bytes']}) must be at least "
                f"fetch.max.bytes + {FETCH_OVERHEAD_BYTES} ({needed})",
                "receive.message.max.bytes",
            )
        values["receive.message.max.bytes"] = needed
