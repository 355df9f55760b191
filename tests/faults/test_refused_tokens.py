"""A broker that refuses a token before its end: the client asks for another one, and goes on."""

from __future__ import annotations

import time
from typing import Any

import pytest

from kafka_core import KafkaException
from kafka_core.admin import AdminClient
from kafka_core.broker import EmbeddedCluster, SaslSettings
from tests.identity_provider import unsigned_jwt

LIMIT_S = 60.0


def test_a_client_whose_token_is_withdrawn_gets_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kserdes_base.oauth.renewal.NEW_S", 0.0)
    given: list[str] = []

    def token(_: Any) -> tuple[str, float]:
        given.append("no.token." if len(given) < 2 else unsigned_jwt())
        return given[-1], time.time() + 3600

    settings = SaslSettings(mechanisms=("OAUTHBEARER",))
    with EmbeddedCluster(sasl=settings) as cluster:
        conf: dict[str, Any] = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "security.protocol": "sasl_plaintext",
            "sasl.mechanism": "OAUTHBEARER",
            "oauth_cb": token,
        }
        admin = AdminClient(conf)
        refused = 0
        while True:  # a call says at once that nobody lets it in; a later one comes with another token
            try:
                assert admin.list_topics(timeout=LIMIT_S).brokers
                break
            except KafkaException:
                refused += 1
                assert refused < 100, given
        admin.close()
    assert len(given) == 3
