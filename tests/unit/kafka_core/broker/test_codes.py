"""Error codes."""

from __future__ import annotations

from kafka_core.broker.codes import Code
from kafka_core.errors import KafkaError


def test_every_code_is_known_to_the_client_and_used_once() -> None:
    assert len({int(code) for code in Code}) == len(Code)
    known = {
        value for name in dir(KafkaError) if name.isupper() and isinstance(value := getattr(KafkaError, name), int)
    }
    assert {int(code) for code in Code if code > 0} <= known | {int(Code.FETCH_SESSION_TOPIC_ID_ERROR)}


def test_codes_that_share_their_name_with_the_client_share_their_number() -> None:
    shared = [code for code in Code if isinstance(getattr(KafkaError, code.name, None), int)]
    assert len(shared) > 30
    assert all(getattr(KafkaError, code.name) == code for code in shared)
