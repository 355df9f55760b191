from __future__ import annotations

import base64

from registry.auth import Anonymous, Basic, Bearer, Credentials, credentials
from registry.config import ClientConfig
from tests.unit.registry.driving import Driver


def headers(source: Credentials) -> dict[str, str]:
    return dict(Driver([]).run(source.authorize()))


def configured(**conf: str) -> Credentials:
    return credentials(ClientConfig.parse({"url": "http://a", **conf}))


def test_basic() -> None:
    token = headers(configured(**{"basic.auth.user.info": "alice:pä:ss"}))["Authorization"]
    assert token.startswith("Basic ")
    assert base64.b64decode(token[6:]).decode() == "alice:pä:ss"


def test_bearer() -> None:
    source = configured(**{"bearer.auth.token": "t", "bearer.auth.logical.cluster": "c"})
    assert headers(source) == {"Authorization": "Bearer t", "target-sr-cluster": "c"}


def test_nothing() -> None:
    assert isinstance(configured(), Anonymous)
    assert headers(configured()) == {}


def test_no_secret_in_repr() -> None:
    assert "geheim" not in repr(Basic("alice", "geheim")) + repr(Bearer("geheim"))
    assert base64.b64encode(b"alice:geheim").decode() not in repr(Basic("alice", "geheim"))
