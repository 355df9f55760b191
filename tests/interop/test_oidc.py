"""A token endpoint is asked the same by confluent_kafka and by our clients, and both refuse the same settings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

import kafka_core
from tests.contract.clusters import wait_for
from tests.identity_provider import Asked, IdentityProvider, identity_provider

pytestmark = pytest.mark.interop
confluent = pytest.importorskip("confluent_kafka")

PREFIX = "sasl.oauthbearer."
JWT = {f"{PREFIX}grant.type": "urn:ietf:params:oauth:grant-type:jwt-bearer"}
SECRET = {f"{PREFIX}client.id": "i d:+", f"{PREFIX}client.secret": "s/e c&r=et"}
AZURE = {f"{PREFIX}metadata.authentication.type": "azure_imds"}
BASE = {"security.protocol": "sasl_plaintext", "sasl.mechanism": "OAUTHBEARER", f"{PREFIX}method": "oidc"}
KEY = ec.generate_private_key(ec.SECP256R1()).private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
)


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with identity_provider() as running:
        yield running


def asked_by(core: Any, conf: dict[str, Any], provider: IdentityProvider, port: int) -> dict[str, Any]:
    """The first request of a producer, without what names the HTTP library."""
    provider.asked.clear()
    producer = core.Producer({**conf, "bootstrap.servers": f"127.0.0.1:{port}", "log_level": 0})
    wait_for(lambda: provider.asked, "a token is asked for")
    producer.poll(0)
    if core is kafka_core:
        producer.close()
    return comparable(provider.asked[0])


def comparable(asked: Asked) -> dict[str, Any]:
    form = dict(asked.form)
    if "assertion" in form and form["assertion"][0].startswith("ey"):
        form["assertion"] = ["signed"]
    names = ("authorization", "content-type", "accept", "metadata")
    headers = {name: asked.headers[name] for name in names if name in asked.headers}
    return {"how": (asked.method, asked.path, asked.query), "headers": headers, "form": form}


@pytest.mark.parametrize(
    "own",
    [
        SECRET,
        {**SECRET, f"{PREFIX}scope": "one", f"{PREFIX}extensions": "logicalCluster=lkc"},
        {**AZURE, f"{PREFIX}config": "query=api-version=2018&resource=x"},
        {**AZURE, f"{PREFIX}config": "query=a%20=b\\,c,other=1"},
        AZURE,
        {**JWT, f"{PREFIX}assertion.file": "FILE", f"{PREFIX}scope": "one"},
        {**JWT, f"{PREFIX}assertion.private.key.pem": KEY.decode(), f"{PREFIX}assertion.algorithm": "ES256"},
    ],
)
def test_the_same_is_asked(own: dict[str, str], provider: IdentityProvider, tmp_path: Path, refused_port: int) -> None:
    (tmp_path / "assertion").write_text("a.b.c")
    own = {name: str(tmp_path / "assertion") if value == "FILE" else value for name, value in own.items()}
    conf = {**BASE, f"{PREFIX}token.endpoint.url": provider.url, **own}
    ours = asked_by(kafka_core, conf, provider, refused_port)
    assert ours == asked_by(confluent, conf, provider, refused_port)


@pytest.mark.parametrize(
    "own",
    [
        {},
        SECRET,
        {f"{PREFIX}token.endpoint.url": "http://x/"},
        {f"{PREFIX}token.endpoint.url": "http://x/", f"{PREFIX}client.id": "x"},
        {f"{PREFIX}token.endpoint.url": "http://x/", **SECRET, "enable.sasl.oauthbearer.unsecure.jwt": True},
        {f"{PREFIX}token.endpoint.url": "http://x/", **JWT},
        {
            f"{PREFIX}token.endpoint.url": "http://x/",
            **JWT,
            f"{PREFIX}assertion.file": "f",
            f"{PREFIX}assertion.claim.aud": "x",
        },
        {f"{PREFIX}token.endpoint.url": "http://x/", **SECRET, "https.ca.location": "/nowhere"},
        {f"{PREFIX}token.endpoint.url": "http://x/", **SECRET, "https.ca.pem": "x", "https.ca.location": "/"},
        AZURE,
        {f"{PREFIX}metadata.authentication.type": "aws_iam"},
        {f"{PREFIX}metadata.authentication.type": "aws_iam", f"{PREFIX}config": "region=x"},
        {f"{PREFIX}metadata.authentication.type": "aws_iam", f"{PREFIX}method": "default"},
    ],
)
def test_the_same_settings_are_refused(own: dict[str, Any]) -> None:
    for core in (kafka_core, confluent):
        with pytest.raises((core.KafkaException, ValueError)):
            core.Producer({"bootstrap.servers": "127.0.0.1:1", **BASE, **own})


def test_a_callback_goes_before_the_endpoint(provider: IdentityProvider, refused_port: int) -> None:
    for core in (kafka_core, confluent):
        told: list[str] = []

        def callback(text: str, told: list[str] = told) -> tuple[str, float]:
            told.append(text)
            return "a.b.c", 4e9

        conf = {**BASE, f"{PREFIX}token.endpoint.url": provider.url, **SECRET, "oauth_cb": callback, "log_level": 0}
        producer = core.Producer({**conf, "bootstrap.servers": f"127.0.0.1:{refused_port}"})
        wait_for(partial(len, told), "the callback is called")
        if core is kafka_core:
            producer.close()
    assert provider.asked == []
