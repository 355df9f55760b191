from __future__ import annotations

from pathlib import Path

import pytest

from kserdes.cli.shell.connection import connect, properties
from kserdes.cli.shell.settings import LintSettings, Settings, load
from kserdes.cli.shell.unusable import Unusable
from tests.unit.kserdes.cli.schema.helpers import write

FULL = """
paths = ["schemas"]
root = "schemas"
exclude = ["drafts/*"]
subject = "{stem}-value"
level = "FULL"
policy = "LENIENT"
registry = "http://localhost:8081"
[subjects]
"orders/*.avsc" = "orders-value"
[levels]
"orders-*" = "BACKWARD_TRANSITIVE"
[types]
"legacy/*" = "AVRO"
[client]
"ssl.ca.location" = "ca.pem"
[lint]
disable = ["avro-doc"]
enable = ["avro-field-doc"]
field_case = "camel"
"""


def test_all_keys_are_read(tmp_path: Path) -> None:
    write(tmp_path, {"kserdes.toml": FULL})
    found = load(start=tmp_path)
    assert found == Settings(
        origin=tmp_path / "kserdes.toml",
        paths=("schemas",),
        root="schemas",
        exclude=("drafts/*",),
        subject="{stem}-value",
        subjects={"orders/*.avsc": "orders-value"},
        types={"legacy/*": "AVRO"},
        level="FULL",
        levels={"orders-*": "BACKWARD_TRANSITIVE"},
        policy="LENIENT",
        registry="http://localhost:8081",
        client={"ssl.ca.location": "ca.pem"},
        lint=LintSettings(("avro-doc",), ("avro-field-doc",), "camel"),
    )
    assert found.folder == tmp_path


def test_the_file_is_looked_for_upwards_to_the_repositorys_top(tmp_path: Path) -> None:
    write(
        tmp_path, {"kserdes.toml": 'level = "NONE"', "repo/.git/HEAD": "", "repo/a/b/x": "", "repo/pyproject.toml": ""}
    )
    assert load(start=tmp_path / "repo" / "a" / "b") == Settings()
    write(tmp_path / "repo", {"pyproject.toml": '[tool.kserdes]\nlevel = "FULL"'})
    assert load(start=tmp_path / "repo" / "a" / "b").level == "FULL"
    write(tmp_path / "repo", {"kserdes.toml": 'level = "FORWARD"'})
    assert load(start=tmp_path / "repo" / "a" / "b").level == "FORWARD"


def test_a_named_file_must_be_there_and_be_ours(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="can't be read"):
        load(tmp_path / "nope.toml")
    write(tmp_path, {"pyproject.toml": "[tool.other]"})
    with pytest.raises(Unusable, match=r"has no \[tool.kserdes\]"):
        load(tmp_path / "pyproject.toml")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("levle = 'FULL'", "unknown key 'levle'; did you mean 'level'"),
        ("zzz = 1", "unknown key 'zzz'; known are paths"),
        ("level = 'ful'", "level must be one of NONE"),
        ("paths = 'a'", "paths must be a list of strings"),
        ("subjects = 1", "subjects must be a table of strings"),
        ("[levels]\na = 'X'", "levels must be a table with values out of"),
        ("client = 1", "client must be a table"),
        ("subject = 3", "subject must be a string"),
        ("[lint]\nfield_case = 'x'", r"\[lint\]: field_case must be one of snake"),
        ("[lint]\ndisabel = []", "did you mean 'disable'"),
        ("a = ", "is not TOML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, reason: str) -> None:
    write(tmp_path, {"kserdes.toml": text})
    with pytest.raises(Unusable, match=reason):
        load(start=tmp_path)


def test_choices_may_be_written_in_any_case(tmp_path: Path) -> None:
    path = tmp_path / "kserdes.toml"
    path.write_text(
        'level = "backward"\npolicy = "Lenient"\n[levels]\n"a" = "full"\n[types]\n"b" = "avro"\n'
        '[lint]\nfield_case = "CAMEL"\n'
    )
    found = load(path)
    assert (found.level, found.policy, found.levels, found.types) == (
        "BACKWARD",
        "LENIENT",
        {"a": "FULL"},
        {"b": "AVRO"},
    )
    assert found.lint.field_case == "camel"


def test_tool_kserdes_that_is_no_table_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\nkserdes = 3\n")
    with pytest.raises(Unusable, match=r"tool\.kserdes must be a table, not 3"):
        load(start=tmp_path)


# ---- from settings to a client

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
def test_mistakes_of_the_command_line_are_named(url: str | None, given: list[str], reason: str) -> None:
    with pytest.raises(Unusable, match=reason):
        properties(Settings(), url, given, {})


def test_a_client_is_made_and_its_mistakes_are_ours() -> None:
    with connect(Settings(), "mock://test_connection", []) as client:
        assert client.get_subjects() == []
    with pytest.raises(Unusable, match="can't be configured"):
        connect(Settings(), "http://r", ["tiemout=3"])
