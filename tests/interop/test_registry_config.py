"""Configurations of registry clients: what confluent_kafka refuses is refused here, by the same kind of error and in
its words first; what it takes is taken. `DIFFERENT` says where not, with the reason."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

import registry

pytestmark = pytest.mark.interop
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # authlib warns of httpx when it is imported
    peer = pytest.importorskip("confluent_kafka.schema_registry", exc_type=ImportError)

URL: Final = {"url": "http://localhost:1"}
B, C = "bearer.auth.", "bearer.auth.custom.provider."
TOKEN: Final = {
    **URL,
    f"{B}credentials.source": "STATIC_TOKEN",
    f"{B}token": "t",
    f"{B}logical.cluster": "l",
    f"{B}identity.pool.id": "p",
}
OAUTH: Final = {
    **{name: value for name, value in TOKEN.items() if name != f"{B}token"},
    f"{B}credentials.source": "OAUTHBEARER",
    f"{B}client.id": "c",
    f"{B}client.secret": "s",
    f"{B}scope": "x",
    f"{B}issuer.endpoint.url": "http://i",
}
CUSTOM: Final = {**URL, f"{B}credentials.source": "CUSTOM", f"{C}function": dict, f"{C}config": {}}


def without(conf: dict[str, Any], name: str) -> dict[str, Any]:
    return {known: value for known, value in conf.items() if known != name}


AZURE: Final = {**without(TOKEN, f"{B}token"), f"{B}credentials.source": "OAUTHBEARER_AZURE_IMDS"}

CONFIGURATIONS: Final[list[dict[Any, Any]]] = [
    {},
    {"url": ""},
    {"url": None},
    {"url": 5},
    {"url": "x"},
    {"url": "ftp://x"},
    {"url": ","},
    {"url": ["http://x"]},
    URL,
    {"url": "http://x/"},
    {"url": "http://x, http://y/"},
    {"url": "mock://"},
    {"url": "mock://a"},
    {"url": "http://u:p@x"},
    {"url": "http://u@x"},
    {"url": "http://u:p@x", "basic.auth.user.info": "a:b"},
    *({**URL, "basic.auth.user.info": value} for value in ("", "a", "a:b", "a:", ":b")),
    *({**URL, "ssl.ca.location": value} for value in ("/nowhere", "NO_PEM", "", None)),
    *({**URL, "ssl.certificate.location": value} for value in ("/nowhere", "NO_PEM")),
    *({**URL, name: "x"} for name in ("ssl.key.location", "ssl.key.password")),
    {**URL, "ssl.certificate.location": "/nowhere", "ssl.key.location": "/nowhere"},
    TOKEN,
    without(TOKEN, f"{B}token"),
    without(TOKEN, f"{B}identity.pool.id"),
    *({**TOKEN, f"{B}{name}": 5} for name in ("token", "logical.cluster", "identity.pool.id")),
    OAUTH,
    *(without(OAUTH, f"{B}{name}") for name in ("client.id", "client.secret", "scope", "issuer.endpoint.url")),
    {**OAUTH, f"{B}identity.pool.id": ["p", "q"]},
    CUSTOM,
    without(CUSTOM, f"{C}function"),
    without(CUSTOM, f"{C}config"),
    {**CUSTOM, f"{C}function": 5},
    {**CUSTOM, f"{C}config": 5},
    AZURE,
    {**AZURE, f"{B}issuer.endpoint.url": "http://i"},
    {**AZURE, f"{B}issuer.endpoint.query": "a=b"},
    *({**URL, "timeout": value} for value in (5, 2.5, None)),
    *({**URL, "max.retries": value} for value in (0, 5, "5")),
    *({**URL, "retries.wait.ms": value} for value in (0, 5, "5")),
    *({**URL, "retries.max.wait.ms": value} for value in (5, "5")),
    *({**URL, "cache.capacity": value} for value in (5, "5", -5)),
    *({**URL, "cache.latest.ttl.sec": value} for value in (5, "5", None)),
    {**URL, "proxy": "http://p:1"},
    {**URL, "invalid": 1},
    {**URL, "user.agent": "x"},
    {**URL, 5: 6},
]
WORDS_APART: Final = r"must be a |maxsize|sequence item|No such file|X509|PEM lib"
"""Texts about types and files are ours."""

DIFFERENT: Final[list[tuple[dict[Any, Any], str]]] = [
    (without(TOKEN, f"{B}logical.cluster"), "other registries than Confluent Cloud's take tokens, too"),
    (without(OAUTH, f"{B}logical.cluster"), "other registries than Confluent Cloud's take tokens, too"),
    ({**URL, f"{B}token": "t"}, "a token is enough to say where the token comes from"),
    ({**TOKEN, "basic.auth.user.info": "a:b"}, "two ways to authenticate contradict each other"),
    ({**TOKEN, f"{B}token": ""}, "an empty token is none"),
    ({**URL, "basic.auth.credentials.source": "URL"}, "a property of Java's client"),
    ({"url": "HTTP://x"}, "schemes are not case-sensitive"),
    ({**URL, "timeout": 0}, "every call would fail"),
    ({**URL, "timeout": "x"}, "every call would fail"),
    ({**URL, "max.retries": -1}, "no call would be made"),
    ({**URL, "cache.capacity": 0}, "an engine without a cache asks the registry for every record"),
    ({**URL, "cache.latest.ttl.sec": 0}, "as above"),
]


def refusal(package: ModuleType, conf: dict[Any, Any], folder: Path) -> Exception | None:
    wrong = folder / "wrong.pem"
    wrong.write_text("no certificate")
    filled = {name: str(wrong) if value == "NO_PEM" else value for name, value in conf.items()}
    try:
        package.SchemaRegistryClient(filled)
    except (ValueError, TypeError, OSError) as error:
        return error
    return None


@pytest.mark.parametrize("conf", CONFIGURATIONS, ids=str)
def test_the_same_is_taken_and_refused(conf: dict[Any, Any], tmp_path: Path) -> None:
    theirs, ours = refusal(peer, conf, tmp_path), refusal(registry, conf, tmp_path)
    if theirs is None:
        assert ours is None
        return
    assert isinstance(ours, type(theirs)), ours
    words = "Invalid url" if str(theirs).startswith("Invalid url") else str(theirs).partition(". ")[0]
    assert re.search(WORDS_APART, words) or str(ours).startswith(words), (str(ours), str(theirs))


@pytest.mark.parametrize(("conf", "why"), DIFFERENT, ids=str)
def test_known_differences_in_configuration_remain(conf: dict[Any, Any], why: str, tmp_path: Path) -> None:
    assert (refusal(peer, conf, tmp_path) is None) != (refusal(registry, conf, tmp_path) is None), why
