"""The table of the registry client's properties: name, kind of value, default, range, meaning.

Must not know how they are used (config.py). Source: the properties of
`confluent_kafka.schema_registry.SchemaRegistryClient`. docs/configuration.md is generated from here.
"""

from __future__ import annotations

from math import inf
from typing import Final

from kserdes_base.config.properties import Kind, Property
from kserdes_base.config.table import Table
from registry.client.cache import MISSING_CAPACITY, MISSING_TTL_S


def _authorities(raw: object) -> str | bool | None:
    """The PEM file, or False for "check nothing"."""
    if raw is not False and not isinstance(raw, str):
        raise TypeError(raw)
    return raw or None if isinstance(raw, str) else False


TABLE: Final = Table(
    (
        Property(
            "url",
            Kind.STR,
            None,
            "Base URLs of the registry, with commas between them, tried in this order: `http://…`, `https://…`, or "
            "`mock://name` for one inside this process (`mock://` alone: one of its own, which begins with the "
            "compatibility level NONE, as confluent_kafka's compares nothing). May hold `user:password@`.",
            secret=True,
        ),
        Property(
            "ssl.ca.location",
            Kind.OBJECT,
            None,
            "PEM file with the authorities to trust; those of the system's bundle if not set. False checks nothing.",
            takes="a text or False",
            read=_authorities,
        ),
        Property("ssl.certificate.location", Kind.STR, None, "PEM file of the client's certificate."),
        Property("ssl.key.location", Kind.STR, None, "PEM file of its key; in the certificate's file if not set."),
        Property("ssl.key.password", Kind.STR, None, "Password of the key.", secret=True),
        Property("ssl.verify", Kind.BOOL, True, "Check the server's certificate. Ours.", loose=True),
        Property(
            "basic.auth.credentials.source",
            Kind.ENUM,
            None,
            "Source of user and password: the URL, in `basic.auth.user.info`, or in `sasl.username` and "
            "`sasl.password`. If not set, the first two are tried.",
            words=("URL", "USER_INFO", "SASL_INHERIT"),
        ),
        Property("basic.auth.user.info", Kind.STR, None, "`user:password`.", secret=True),
        Property("sasl.username", Kind.STR, None, "User, with SASL_INHERIT."),
        Property("sasl.password", Kind.STR, None, "Password, with SASL_INHERIT.", secret=True),
        Property(
            "bearer.auth.credentials.source",
            Kind.ENUM,
            None,
            "Source of tokens: STATIC_TOKEN if not set.",
            words=("STATIC_TOKEN", "OAUTHBEARER", "OAUTHBEARER_AZURE_IMDS", "CUSTOM"),
        ),
        Property("bearer.auth.token", Kind.STR, None, "The token, with STATIC_TOKEN; ASCII.", secret=True),
        Property("bearer.auth.client.id", Kind.STR, None, "OAuth2 client, with OAUTHBEARER."),
        Property("bearer.auth.client.secret", Kind.STR, None, "Its secret, with OAUTHBEARER.", secret=True),
        Property("bearer.auth.scope", Kind.STR, None, "Scope of tokens, with OAUTHBEARER."),
        Property(
            "bearer.auth.issuer.endpoint.url",
            Kind.STR,
            None,
            "Token endpoint, with OAUTHBEARER; with OAUTHBEARER_AZURE_IMDS the instance's metadata service if not set.",
            secret=True,
        ),
        Property(
            "bearer.auth.issuer.endpoint.query", Kind.STR, None, "Query of that URL, with OAUTHBEARER_AZURE_IMDS."
        ),
        Property(
            "bearer.auth.custom.provider.function",
            Kind.CALLBACK,
            None,
            "Function that gives the fields of a token, with CUSTOM; called with `bearer.auth.custom.provider.config`.",
        ),
        Property("bearer.auth.custom.provider.config", Kind.DICT, None, "Argument of that function.", secret=True),
        Property("bearer.auth.logical.cluster", Kind.STR, None, "Header `target-sr-cluster`, with tokens."),
        Property(
            "bearer.auth.identity.pool.id",
            Kind.LIST,
            None,
            "Identity pools, one or several: header `Confluent-Identity-Pool-Id`, with tokens.",
        ),
        Property(
            "proxy",
            Kind.STR,
            None,
            "URL of a proxy: `http://`, `https://`, `socks5://` or `socks5h://`, with `user:password@` if needed.",
            secret=True,
        ),
        Property(
            "timeout",
            Kind.FLOAT,
            30.0,
            "Bound of one try, in s: of connecting, and of all of the answer.",
            bounds=(0, inf),
            above=True,
        ),
        Property("max.retries", Kind.INT, 3, "Further rounds over all URLs after the first.", bounds=(0, inf)),
        Property("retries.wait.ms", Kind.INT, 1000, "Bound of the first pause between rounds.", bounds=(0, inf)),
        Property("retries.max.wait.ms", Kind.INT, 20_000, "Bound of every pause between rounds.", bounds=(0, inf)),
        Property("cache.capacity", Kind.INT, 1000, "Entries of each cache.", bounds=(1, inf)),
        Property(
            "cache.latest.ttl.sec",
            Kind.FLOAT,
            None,
            "Seconds for which a subject's latest version is believed; for ever if not set.",
            bounds=(0, inf),
            above=True,
        ),
        Property(
            "missing.cache.size",
            Kind.INT,
            MISSING_CAPACITY,
            "Most unknown ids that are remembered. The Java client's property.",
            bounds=(1, inf),
        ),
        Property(
            "missing.id.cache.ttl.sec",
            Kind.FLOAT,
            MISSING_TTL_S,
            "Seconds for which such an id is not asked for again; 0: it is asked for every time. The Java "
            "client's property.",
            bounds=(0, inf),
        ),
    ),
    none_is_default=True,
)
"""The properties: names, types and defaults of confluent_kafka's client, unless the text says otherwise."""
