from __future__ import annotations

import pytest

from registry.cli.findings import Unusable
from registry.cli.shell.connection import connect, properties
from registry.cli.shell.settings import Settings

FILE = Settings(registry="http://file", client={"timeout": 5, "ssl.verify": True})


def test_the_command_line_wins_over_the_environment_over_the_file() -> None:
    environment = {"SCHEMA_REGISTRY_URL": "http://env", "SCHEMA_REGISTRY_TIMEOUT": "7", "SCHEMA_REGISTRY_OTHER": "x"}
    assert properties(FILE, None, [], {}) == {"url": "http://file", "timeout": 5, "ssl.verify": True}
    assert properties(FILE, None, [], environment) == {"url": "http://env", "timeout": 7, "ssl.verify": True}
    assert properties(FILE, "http://option", ["timeout=2.5", "ssl.verify=false"], environment) == {
        "url": "http://option",
        "timeout": 2.5,
        "ssl.verify": False,
    }


def test_credentials_come_from_the_environment() -> None:
    environment = {"SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO": "me:se=cret", "SCHEMA_REGISTRY_URL": "http://r"}
    assert properties(Settings(), None, [], environment)["basic.auth.user.info"] == "me:se=cret"
    found = properties(Settings(), "http://r", ["basic.auth.user.info=me:a=b"], {})
    assert found["basic.auth.user.info"] == "me:a=b"


@pytest.mark.parametrize(
    ("url", "given", "reason"),
    [
        (None, [], "which registry"),
        ("http://r", ["timeout"], "is not key=value"),
        ("http://r", ["timeout=soon"], "timeout must be a number"),
    ],
)
def test_mistakes_are_named(url: str | None, given: list[str], reason: str) -> None:
    with pytest.raises(Unusable, match=reason):
        properties(Settings(), url, given, {})


def test_a_client_is_made_and_its_mistakes_are_ours() -> None:
    with connect(Settings(), "mock://test_connection", []) as client:
        assert client.get_subjects() == []
    with pytest.raises(Unusable, match="can't be configured"):
        connect(Settings(), "http://r", ["tiemout=3"])
