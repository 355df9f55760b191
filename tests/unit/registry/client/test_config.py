from __future__ import annotations

import math
from typing import Any

import pytest

from kserdes_base.oauth.requests import TokenRequest
from registry.client.aio import AsyncSchemaRegistryClient
from registry.client.blocking import SchemaRegistryClient
from registry.client.config import ClientConfig


def test_defaults() -> None:
    config = ClientConfig.parse({"url": "http://sr:8081/"})
    assert config.urls == ("http://sr:8081",)
    assert (config.max_retries, config.retries_wait_ms, config.retries_max_wait_ms) == (3, 1000, 20_000)
    assert config.latest_ttl_s == math.inf
    assert (config.missing_capacity, config.missing_ttl_s) == (10_000, 60.0)
    assert ClientConfig.parse({"url": "http://a", "missing.id.cache.ttl.sec": 0}).missing_ttl_s == 0
    assert config.verify is True
    assert config.mock_name is None


def test_unknown_key_names_the_nearest() -> None:
    with pytest.raises(ValueError, match=r": max\.retry; did you mean 'max\.retries'"):
        ClientConfig.parse({"url": "http://a", "max.retry": 1})


@pytest.mark.parametrize("url", ["", None, "sr:8081", "ftp://x", "http://"])
def test_bad_urls(url: str | None) -> None:
    with pytest.raises(ValueError, match="url"):
        ClientConfig.parse({"url": url})


def test_several_urls_and_user_info_in_one() -> None:
    config = ClientConfig.parse({"url": "http://al%40ice:se%3Acret@a:1/base/, https://b"})
    assert config.urls == ("http://a:1/base", "https://b")
    assert config.basic_user_info == ("al@ice", "se:cret")


def test_mock_name() -> None:
    assert ClientConfig.parse({"url": "mock://team/a"}).mock_name == "team/a"


@pytest.mark.parametrize(
    "conf",
    [
        {"basic.auth.user.info": "alice:pa:ss"},
        {"basic.auth.user.info": "alice:pa:ss", "basic.auth.credentials.source": "USER_INFO"},
        {"basic.auth.credentials.source": "SASL_INHERIT", "sasl.username": "alice", "sasl.password": "pa:ss"},
    ],
)
def test_basic_credentials(conf: dict[str, object]) -> None:
    assert ClientConfig.parse({"url": "http://a", **conf}).basic_user_info == ("alice", "pa:ss")


def test_bearer_token_with_headers() -> None:
    conf = {"bearer.auth.token": "t", "bearer.auth.logical.cluster": "lsrc", "bearer.auth.identity.pool.id": "p"}
    config = ClientConfig.parse({"url": "http://a", **conf})
    assert config.bearer_token == "t"
    assert config.bearer_headers == {"target-sr-cluster": "lsrc", "Confluent-Identity-Pool-Id": "p"}


@pytest.mark.parametrize(
    ("conf", "text"),
    [
        ({"basic.auth.user.info": "alice"}, r"in the form of \{username\}:\{password\}"),
        ({"basic.auth.user.info": ""}, "it is empty"),
        ({"basic.auth.credentials.source": "MAGIC"}, "must be one of URL, USER_INFO, SASL_INHERIT, not 'MAGIC'"),
        ({"basic.auth.credentials.source": "USER_INFO"}, "is missing"),
        ({"basic.auth.credentials.source": "SASL_INHERIT"}, "needs sasl.username"),
        ({"basic.auth.user.info": "a:b", "bearer.auth.token": "t"}, "use one"),
        ({"url": "http://x:y@a", "basic.auth.user.info": "a:b"}, "use one"),
        (
            {"bearer.auth.credentials.source": "OAUTHBEARER"},
            "Missing required OAuth configuration properties: bearer.auth.client.id, ",
        ),
        ({"bearer.auth.credentials.source": "MAGIC"}, "must be one of STATIC_TOKEN, OAUTHBEARER, "),
        ({"bearer.auth.credentials.source": "STATIC_TOKEN"}, "Missing bearer.auth.token"),
        (
            {"bearer.auth.credentials.source": "OAUTHBEARER_AZURE_IMDS"},
            "bearer.auth.issuer.endpoint.query must be provided",
        ),
        ({"bearer.auth.credentials.source": "CUSTOM"}, "properties: bearer.auth.custom.provider.function, bearer"),
        ({"bearer.auth.logical.cluster": "c"}, "Missing bearer.auth.token"),
        ({"ssl.key.location": "k"}, "ssl.certificate.location required when .*; ssl.key.location is set without it"),
        ({"timeout": 0}, "a number above 0, not 0"),
        ({"max.retries": -1}, "a whole number from 0, not -1"),
    ],
)
def test_contradictions_and_ranges(conf: dict[str, object], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        ClientConfig.parse({"url": "http://a", **conf})


@pytest.mark.parametrize(
    "conf", [{"timeout": "5"}, {"max.retries": 1.5}, {"cache.capacity": True}, {"proxy": 1}, {"ssl.verify": "maybe"}]
)
def test_wrong_types(conf: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        ClientConfig.parse({"url": "http://a", **conf})


@pytest.mark.parametrize(("value", "verify"), [("false", False), ("True", True), (False, False)])
def test_flags_may_be_text(value: object, verify: bool) -> None:
    assert ClientConfig.parse({"url": "http://a", "ssl.verify": value}).verify is verify


def test_no_secret_in_repr() -> None:
    secrets = {"basic.auth.user.info": "alice:geheim", "ssl.key.password": "geheim", "proxy": "http://u:geheim@p"}
    secrets["ssl.certificate.location"] = "client.pem"
    assert "geheim" not in repr(ClientConfig.parse({"url": "http://a", **secrets}))
    assert "geheim" not in repr(ClientConfig.parse({"url": "http://a", "bearer.auth.token": "geheim"}))
    assert "geheim" not in repr(ClientConfig.parse({"url": "http://alice:geheim@a"}))


def test_no_secret_of_a_token_endpoint_is_in_repr() -> None:
    names = ("client.id", "client.secret", "scope")
    conf = {"bearer.auth.credentials.source": "OAUTHBEARER", **{f"bearer.auth.{name}": "x" for name in names}}
    url = "https://user:geheim@issuer/token?key=geheim"
    config = ClientConfig.parse({"url": "http://a", **conf, "bearer.auth.issuer.endpoint.url": url})
    assert "geheim" not in repr(config)
    assert "https://issuer/token" in repr(config)


def test_a_bad_url_is_not_repeated_in_the_error() -> None:
    with pytest.raises(ValueError) as caught:
        ClientConfig.parse({"url": "htp://alice:geheim@a"})
    assert "geheim" not in str(caught.value)


def test_a_token_request_has_its_settings() -> None:
    conf = {
        "url": "http://a",
        "bearer.auth.credentials.source": "oauthbearer",
        "bearer.auth.client.id": "c",
        "bearer.auth.client.secret": "geheim",
        "bearer.auth.scope": "s",
        "bearer.auth.issuer.endpoint.url": "https://issuer",
        "bearer.auth.identity.pool.id": ["p", "q"],
    }
    config = ClientConfig.parse(conf)
    assert config.token_request == TokenRequest("https://issuer", "c", "geheim", "s")
    assert config.bearer_headers == {"Confluent-Identity-Pool-Id": "p,q"}
    assert "geheim" not in repr(config)
    with pytest.raises(ValueError, match="use one"):
        ClientConfig.parse({**conf, "basic.auth.user.info": "a:b"})


@pytest.mark.parametrize(
    "conf",
    [
        {"bearer.auth.identity.pool.id": ["p", 1], "bearer.auth.token": "t"},
        {"bearer.auth.identity.pool.id": 5, "bearer.auth.token": "t"},
        {
            "bearer.auth.credentials.source": "CUSTOM",
            "bearer.auth.custom.provider.function": "f",
            "bearer.auth.custom.provider.config": {},
        },
        {
            "bearer.auth.credentials.source": "CUSTOM",
            "bearer.auth.custom.provider.function": print,
            "bearer.auth.custom.provider.config": "c",
        },
    ],
)
def test_tokens_of_wrong_types(conf: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        ClientConfig.parse({"url": "http://a", **conf})


def test_ca_location_false_checks_nothing_as_in_confluent_kafka() -> None:
    config = ClientConfig.parse({"url": "http://a", "ssl.ca.location": False})
    assert (config.verify, config.ca_location) == (False, None)


@pytest.mark.parametrize("conf", ["http://localhost:8081", None, [("url", "http://a")]])
@pytest.mark.parametrize("client", [SchemaRegistryClient, AsyncSchemaRegistryClient])
def test_a_configuration_that_is_no_dict_is_refused(client: Any, conf: Any) -> None:
    with pytest.raises(TypeError, match=r"a dict of properties is needed, like \{'url': 'http://…'\}, not "):
        client(conf)


def test_a_mock_without_a_name_is_a_registry_of_its_own() -> None:
    first, second = (ClientConfig.parse({"url": "mock://"}) for _ in range(2))
    assert first.mock_name != second.mock_name
    assert first.base_urls == ("http://mock",)
