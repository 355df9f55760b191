from __future__ import annotations

import json
import os
import xml.etree.ElementTree as tree
from pathlib import Path

import pytest

from registry.client.blocking import SchemaRegistryClient
from registry.models import Schema, SchemaReference
from tests.unit.kserdes.cli.schema.helpers import answering, commit, git, record, repository, run, run_json, write

ORDER = record("Order", "id:long")
BROKEN = record("Order", "id:long", "email:string")


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    repository(tmp_path, {"schemas/order.avsc": ORDER, "schemas/money.avsc": record("Money", "x:long"), "x.txt": ""})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def statuses(*arguments: object) -> dict[str, str]:
    return {item["path"]: item["status"] for item in run_json("check", *arguments)["files"]}


# --- against git


def test_an_untouched_tree_is_compatible(repo: Path) -> None:
    result = run("check", "schemas", "--against", "main")
    assert (result.exit_code, result.stdout) == (0, "2 schema files: 2 ok\n")
    assert "OK" in run("check", "schemas", "--against", "main", "-v").stdout


def test_an_incompatible_change_is_shown_with_its_line(repo: Path) -> None:
    write(repo, {"schemas/order.avsc": BROKEN})
    result = run("check", "schemas", "--against", "HEAD")
    assert result.exit_code == 1
    assert "INCOMPATIBLE schemas/order.avsc" in result.stdout
    assert "schemas/order.avsc:9:5 READER_FIELD_MISSING_DEFAULT_VALUE" in result.stdout
    assert "can't read data of the version in HEAD" in " ".join(result.stdout.split())
    assert "1 incompatible, 1 ok" in result.stdout
    assert result.stderr == ""


def test_it_works_from_a_folder_below_and_for_single_files(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repo, {"schemas/order.avsc": BROKEN})
    monkeypatch.chdir(repo / "schemas")
    assert statuses(".", "--against", "main") == {"order.avsc": "incompatible", "money.avsc": "ok"}
    assert statuses("money.avsc", "--against", "main") == {"money.avsc": "ok"}
    assert statuses(repo / "schemas" / "order.avsc", "--against", "main") == {"order.avsc": "incompatible"}
    monkeypatch.chdir("/")
    assert set(statuses(repo, "--against", "main").values()) == {"incompatible", "ok"}


def test_renamed_deleted_and_new_files_are_told(repo: Path) -> None:
    (repo / "schemas/order.avsc").rename(repo / "schemas/purchase.avsc")
    (repo / "schemas/money.avsc").unlink()
    write(repo, {"schemas/purchase.avsc": BROKEN, "schemas/new.json": "{"})
    found = run_json("check", "schemas", "--against", "main")
    files = {item["path"]: item for item in found["files"]}
    assert files["schemas/purchase.avsc"]["renamed_from"] == "schemas/order.avsc"
    assert files["schemas/purchase.avsc"]["status"] == "incompatible"
    assert files["schemas/money.avsc"]["status"] == "deleted"
    assert files["schemas/new.json"]["findings"][0]["kind"] == "NOT_JSON"
    assert found["exit_code"] == 2


def test_a_deletion_is_a_note_or_an_error(repo: Path) -> None:
    (repo / "schemas/money.avsc").unlink()
    assert run("check", "schemas", "--against", "main").exit_code == 0
    assert run("check", "schemas", "--against", "main", "--fail-on-deleted").exit_code == 1
    assert "deleted" not in run("check", "schemas/order.avsc", "--against", "main", "--fail-on-deleted").stdout


def test_all_versions_of_a_path_count_if_asked_for(repo: Path) -> None:
    commit(write(repo, {"schemas/order.avsc": record("Order")}))
    write(repo, {"schemas/order.avsc": record("Order", {"name": "id", "type": "string", "default": ""})})
    assert statuses("schemas/order.avsc", "--against", "main") == {"schemas/order.avsc": "ok"}
    assert statuses("schemas/order.avsc", "--against", "main", "--all-versions") == {
        "schemas/order.avsc": "incompatible"
    }


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["schemas", "--against", "nope"], "git knows no revision 'nope'"),
        (["schemas", "--against", "--help"], "git knows no revision '--help'"),
        (["nope", "--against", "main"], "there is no such file or folder"),
        (["schemas", "--against", "main", "--registry", "mock://x"], "give one of --against"),
        (["schemas"], "compare with what? Give --against, --against-folder, or: which registry?"),
        (["empty", "--against", "main"], "no schema files"),
        (["schemas", "--against", "main", "--subject", "{topic}"], "has {topic}"),
        (["schemas", "--against", "main", "--config", "nope.toml"], "can't be read"),
        (["schemas", "--against", "main", "--output", "x"], "--output needs a --format"),
        (["schemas", "--against", "main", "--format", "json", "--output", "no/x"], "can't be written"),
        (["schemas", "empty", "--against-folder", "empty"], "needs one folder"),
    ],
)
def test_unusable_input_is_a_sentence_and_status_2(repo: Path, arguments: list[str], text: str) -> None:
    (repo / "empty").mkdir()
    result = run("check", *arguments)
    assert result.exit_code == 2
    assert text in result.output


def test_no_repository_and_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a.avsc": '"int"'})
    result = run("check", tmp_path, "--against", "main")
    assert (result.exit_code, "is not in a git repository" in result.stderr) == (2, True)
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run("check", tmp_path, "--against", "main")
    assert (result.exit_code, "git is not installed" in result.stderr) == (2, True)


# --- against folders


def test_version_folders_within_one_folder(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "orders/v1.avsc": ORDER,
            "orders/v2.avsc": record("Order", "id:long", {"name": "n", "type": "int", "default": 0}),
            "clicks/1.avsc": ORDER,
            "clicks/2.avsc": BROKEN,
        },
    )
    result = run("check", tmp_path, "--against-folder", tmp_path)
    assert result.exit_code == 1
    assert "clicks/2.avsc" in result.stdout
    assert "against" in result.stdout
    assert result.stdout.endswith("4 schema files: 1 incompatible, 3 ok\n")


def test_a_folder_with_another_one(tmp_path: Path) -> None:
    write(tmp_path / "old", {"a.avsc": ORDER, "b.avsc": record("B")})
    write(tmp_path / "new", {"a.avsc": BROKEN, "b.avsc": record("B")})
    result = run("check", tmp_path / "new", "--against-folder", tmp_path / "old", "--format", "json")
    assert [item["status"] for item in json.loads(result.stdout)["files"]] == ["incompatible", "ok"]
    forward = run("check", tmp_path / "new", "--against-folder", tmp_path / "old", "--level", "forward")
    assert forward.exit_code == 0


# --- against a registry


def test_the_registrys_level_counts_and_references_are_found_there(tmp_path: Path) -> None:
    url = "mock://test_command_check"
    with SchemaRegistryClient({"url": url}) as client:
        money = json.dumps(record("Money", "x:long"))
        client.register_schema("money", Schema(money))
        order = json.dumps(record("Order", "m:Money"))
        client.register_schema("order-value", Schema(order, references=[SchemaReference("Money", "money", 1)]))
        client.set_compatibility("order-value", "FORWARD")
    more = record("Order", "m:Money", "n:int")
    write(tmp_path, {"order.avsc": more, "money.avsc": record("Money", "x:long"), "new.avsc": '"int"'})
    write(tmp_path, {"kserdes.toml": '[subjects]\n"order.avsc" = "order-value"'})
    arguments = ["check", tmp_path, "--registry", url, "--config", tmp_path / "kserdes.toml"]
    found = json.loads(run(*arguments, "--format", "json").stdout)
    assert {item["subject"]: (item["status"], item["level"]) for item in found["files"]} == {
        "order-value": ("ok", "FORWARD"),
        "money": ("ok", "BACKWARD"),
        "new": ("new", "BACKWARD"),
    }
    result = run(*arguments, "--level", "BACKWARD")
    assert (result.exit_code, "order-value version 1" in result.stdout) == (1, True)


def test_a_registry_that_does_not_answer_is_one_sentence(tmp_path: Path) -> None:
    write(tmp_path, {f"{number}.avsc": '"int"' for number in range(30)})
    result = run("check", tmp_path, "--registry", "http://127.0.0.1:1", "-X", "max.retries=0")
    assert result.exit_code == 2
    assert result.stderr.count("Error:") == 1
    assert "the registry does not answer" in result.stderr
    assert result.stdout == ""


# --- configuration


HTML = b"<!doctype html><title>Sign in</title>" + b"x" * 3000
FOREIGN = {
    "any server's 404": (404, b"nothing here", {}),
    "a bare 404": (404, b"", {}),
    "a page's 404": (404, HTML, {"content_type": "text/html"}),
    "another service's 404": (404, b'{"status": 404, "error": "Not Found"}', {}),
    "a registry's 404 for a wrong path": (404, b'{"error_code": 404, "message": "HTTP 404 Not Found"}', {}),
    "a login page": (200, HTML, {"content_type": "text/html"}),
    "a redirect to one": (302, b"", {"location": "https://login.example/?next=x"}),
    "nothing": (200, b"", {}),
    "no content": (204, b"", {}),
    "an object": (200, b'{"status": "up"}', {}),
    "a list": (200, b"[]", {}),
    "a text": (200, b'"hello"', {}),
    "null": (200, b"null", {}),
    "a proxy's 502": (502, HTML, {"content_type": "text/html"}),
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("level", ["BACKWARD", "FULL_TRANSITIVE", None])
def test_answers_that_no_registry_gives_judge_no_file(tmp_path: Path, name: str, level: str | None) -> None:
    write(tmp_path, {"s/order.avsc": ORDER, "s/money.avsc": record("Money", "x:long")})
    status, body, headers = FOREIGN[name]
    with answering(status, body, **headers) as url:
        asked = ["check", tmp_path / "s", "--registry", f"{url}/wrong", "-X", "max.retries=0"]
        result = run(*asked, *([] if level is None else ["--level", level]))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{url}/wrong/" in result.stderr
    assert "<" not in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_paths_levels_and_registry_come_from_the_configuration(repo: Path) -> None:
    write(repo, {"schemas/order.avsc": record("Order"), "other/bad.avsc": "{"})
    text = '[tool.kserdes]\npaths = ["schemas"]\nlevel = "FULL"\n[tool.kserdes.levels]\n"mon*" = "NONE"\n'
    write(repo, {"pyproject.toml": text})
    found = run_json("check", "--against", "main")
    assert {item["path"]: (item["level"], item["status"]) for item in found["files"]} == {
        "schemas/order.avsc": ("FULL", "incompatible"),
        "schemas/money.avsc": ("NONE", "ok"),
    }


# --- formats


def test_all_formats_of_one_report(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repo, {"schemas/order.avsc": BROKEN})
    monkeypatch.chdir(repo / "schemas")
    arguments = ["check", ".", "--against", "main"]
    github = run(*arguments, "--format", "github")
    assert github.exit_code == 1
    assert github.stdout.startswith("::error file=schemas/order.avsc,line=9,col=5,title=READER_FIELD_MISSING")
    junit = tree.fromstring(run(*arguments, "--format", "junit").stdout.encode())
    assert (junit.get("tests"), junit.get("failures")) == ("2", "1")
    sarif = json.loads(run(*arguments, "--format", "sarif").stdout)
    place = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "schemas/order.avsc"
    assert place["region"]["startLine"] == 9


def test_a_report_may_go_to_a_file_beside_the_text(repo: Path) -> None:
    write(repo, {"schemas/order.avsc": BROKEN})
    result = run("check", "schemas", "--against", "main", "--format", "sarif", "--output", "out.sarif")
    assert result.exit_code == 1
    assert "INCOMPATIBLE" in result.stdout
    assert json.loads((repo / "out.sarif").read_text())["version"] == "2.1.0"


# --- hostile input


def test_a_folder_of_everything_bad_is_reported_file_by_file(tmp_path: Path) -> None:
    root = write(
        tmp_path / "root",
        {
            "binary.avsc": b"\x00\x01",
            "empty.json": "",
            "latin.avsc": '{"doc": "ä"}'.encode("latin-1"),
            "deep.json": "[" * 100_000 + "]" * 100_000,
            "out.json": {"$ref": "../secret.json"},
            "ok.avsc": '"int"',
            "a/same.avsc": '"int"',
            "b/same.avsc": '"int"',
        },
    )
    write(tmp_path, {"secret.json": "{}"})
    (root / "loop").symlink_to(root, target_is_directory=True)
    (root / "link.json").symlink_to(tmp_path / "secret.json")
    os.mkfifo(root / "pipe.avsc")
    (tmp_path / "old").mkdir()
    result = run("check", root, "--against-folder", tmp_path / "old", "--format", "json")
    found = json.loads(result.stdout)
    kinds = {
        Path(item["path"]).relative_to(root).as_posix(): [entry["kind"] for entry in item["findings"]]
        for item in found["files"]
    }
    assert result.exit_code == 2
    assert kinds == {
        "a/same.avsc": [],
        "b/same.avsc": [],
        "binary.avsc": ["BINARY_FILE"],
        "deep.json": ["NOT_JSON"],
        "empty.json": ["EMPTY_FILE"],
        "latin.avsc": ["NOT_UTF8"],
        "link.json": ["OUTSIDE_FOLDER"],
        "ok.avsc": [],
        "out.json": ["UNRESOLVED_REFERENCE"],
        "pipe.avsc": ["UNUSABLE_FILE"],
    }


# --- the other formats

PROTO = """syntax = "proto3";
package shop;
import "common/money.proto";

message Order {
  string id = 1;
  Money total = 2;
}
"""


def test_json_schema_and_protobuf_with_references(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order = {"type": "object", "properties": {"id": {"type": "integer"}, "m": {"$ref": "common/money.json"}}}
    repository(
        tmp_path,
        {
            "order.json": order,
            "common/money.json": {"type": "object", "properties": {"cents": {"type": "integer"}}},
            "order.proto": PROTO,
            "common/money.proto": 'syntax = "proto3";\npackage shop;\nmessage Money {\n  int64 cents = 1;\n}\n',
            "broken.proto": 'syntax = "proto3";\nmessage B {}\n',
        },
    )
    monkeypatch.chdir(tmp_path)
    assert run("check", ".", "--against", "main").stdout == "5 schema files: 5 ok\n"
    write(tmp_path, {"order.json": json.dumps(order, indent=1).replace("integer", "string")})
    write(
        tmp_path, {"order.proto": PROTO.replace("string id", "bool id"), "broken.proto": 'syntax = "proto3";\n\noops'}
    )
    write(
        tmp_path, {"common/money.proto": 'syntax = "proto3";\npackage shop;\nmessage Money {\n  string cents = 1;\n}\n'}
    )
    found = {item["path"]: item for item in run_json("check", ".", "--against", "main")["files"]}
    places = {path: [(entry["kind"], entry["line"]) for entry in item["findings"]] for path, item in found.items()}
    assert places.pop("order.json") == [("TYPE_CHANGED", 4)]
    assert places.pop("broken.proto") == [("INVALID_SCHEMA", 3)]
    assert ("FIELD_SCALAR_KIND_CHANGED", 4) in places.pop("common/money.proto")
    order_places = places.pop("order.proto")
    assert ("FIELD_SCALAR_KIND_CHANGED", 6) in order_places
    assert {line for _, line in order_places} == {6}
    money = [entry for entry in found["common/money.proto"]["findings"] if entry["kind"] == "FIELD_SCALAR_KIND_CHANGED"]
    assert "order.proto" in {user["path"] for user in money[0]["users"]}  # line 7 there has a field of this type
    assert places == {"common/money.json": []}


def test_the_policy_for_json_schema_is_a_setting(tmp_path: Path) -> None:
    write(tmp_path / "old", {"o.json": {"type": "object", "properties": {"a": {}}}})
    write(tmp_path / "new", {"o.json": {"type": "object", "properties": {"a": {}, "b": {"type": "string"}}}})
    arguments = ["check", tmp_path / "new", "--against-folder", tmp_path / "old"]
    assert run(*arguments, "--policy", "strict").exit_code == 1
    assert run(*arguments, "--policy", "lenient").exit_code == 0


# --- a check that checked nothing does not pass


def test_a_folder_without_schema_files_is_named_though_others_have_some(repo: Path) -> None:
    (repo / "empty").mkdir()
    result = run("check", "schemas", "empty", "--against", "main")
    assert (result.exit_code, "no schema files" in result.stdout) == (2, True)
    assert statuses("schemas", "empty", "--against", "main")["empty"] == "unusable"
    assert run("lint", "schemas", "empty", "--disable", "all").exit_code == 2
    assert run("register", "empty", "--registry", "mock://", "--format", "json").exit_code == 2


def test_a_folder_whose_files_all_are_gone_is_not_compatible(repo: Path, tmp_path: Path) -> None:
    (repo / "empty").mkdir()
    result = run("check", "empty", "--against-folder", "schemas")
    assert (result.exit_code, "no schema files" in result.stdout) == (2, True)
    for file in (repo / "schemas").iterdir():
        file.unlink()
    found = statuses("schemas", "--against", "main")
    assert found == {"schemas": "unusable", "schemas/money.avsc": "deleted", "schemas/order.avsc": "deleted"}


def test_deletions_count_in_each_folder_that_is_named_whatever_its_root_is(repo: Path) -> None:
    commit(write(repo, {"other/x.avsc": record("X"), "schemas/sub/y.avsc": record("Y"), "schemas/sub/z.avsc": "1"}))
    (repo / "schemas/sub/z.avsc").unlink()
    (repo / "other/x.avsc").unlink()
    options = ("--root", ".", "--against", "main", "--fail-on-deleted")
    assert statuses("schemas/sub", *options) == {"schemas/sub/y.avsc": "ok", "schemas/sub/z.avsc": "deleted"}
    assert run("check", "schemas/sub", *options).exit_code == 1
    assert run("check", "schemas/order.avsc", *options).exit_code == 0
    assert len(statuses("schemas/sub", ".", *options)) == 5


def test_files_that_types_lists_are_schema_files_in_folders_and_in_revisions(repo: Path) -> None:
    write(repo, {"kserdes.toml": '[types]\n"*.schema" = "AVRO"\n"schemas/raw/*" = "AVRO"\n"raw/*" = "AVRO"\n'})
    commit(write(repo, {"schemas/x.schema": record("X", "id:long"), "schemas/raw/y": record("Y", "id:long")}))
    write(repo, {"schemas/x.schema": record("X", "id:string"), "schemas/raw/y": record("Y", "id:string")})
    expected = {"schemas/raw/y": "incompatible", "schemas/x.schema": "incompatible"}
    expected |= {"schemas/money.avsc": "ok", "schemas/order.avsc": "ok"}
    assert statuses("schemas", "--against", "main") == expected
    assert statuses(".", "--against", "main") == expected
    assert statuses("schemas/x.schema", "--against", "main") == {"schemas/x.schema": "incompatible"}
    assert run("diff", "main:schemas/x.schema", "schemas/x.schema").exit_code == 0
    (repo / "schemas/x.schema").unlink()
    assert statuses("schemas", "--against", "main")["schemas/x.schema"] == "deleted"


def test_a_file_that_came_from_another_folder_is_compared_with_what_it_was(repo: Path) -> None:
    base = {
        "schemas/order.avsc": record("Order", "id:Money"),
        "schemas/sub/title.json": '{"title": "T", "type": "object"}',
    }
    commit(write(repo, base))
    (repo / "schemas").rename(repo / "moved")
    assert statuses("moved", "--against", "main") == dict.fromkeys(
        ["moved/money.avsc", "moved/order.avsc", "moved/sub/title.json"], "ok"
    )
    write(
        repo,
        {"moved/money.avsc": record("Money", "x:string"), "moved/sub/title.json": '{"title": "T", "type": "array"}'},
    )
    found = {item["path"]: item for item in run_json("check", "moved", "--against", "main")["files"]}
    assert {path: item["status"] for path, item in found.items()} == dict.fromkeys(found, "incompatible")
    assert found["moved/money.avsc"]["renamed_from"] == "schemas/money.avsc"
    assert found["moved/order.avsc"]["against"] == ["main:schemas/order.avsc"]
    assert found["moved/sub/title.json"]["against"] == ["main:schemas/sub/title.json"]


def test_all_versions_count_of_a_file_that_came_from_another_folder(repo: Path) -> None:
    commit(write(repo, {"schemas/order.avsc": record("Order")}))
    (repo / "moved").mkdir()
    (repo / "schemas/order.avsc").rename(repo / "moved/order.avsc")
    write(repo, {"moved/order.avsc": record("Order", {"name": "id", "type": "string", "default": ""})})
    assert statuses("moved", "--against", "main") == {"moved/order.avsc": "ok"}
    assert statuses("moved", "--against", "main", "--all-versions") == {"moved/order.avsc": "incompatible"}


def test_a_copy_of_a_file_that_is_still_there_is_new(repo: Path) -> None:
    write(repo, {"copy/order.avsc": BROKEN})
    assert statuses("copy", "--against", "main") == {"copy/order.avsc": "new"}


def test_files_that_git_ignores_have_no_earlier_version_and_that_is_told(repo: Path) -> None:
    write(repo, {".gitignore": "build\n", "schemas/build/made.avsc": ORDER, "schemas/fresh.avsc": record("Fresh")})
    files = {item["path"]: item for item in run_json("check", "schemas", "--against", "main")["files"]}
    assert [item["kind"] for item in files["schemas/build/made.avsc"]["findings"]] == ["IGNORED_BY_GIT"]
    assert files["schemas/fresh.avsc"]["findings"] == []
    assert run("check", "schemas", "--against", "main").exit_code == 0
    alone = run("check", "schemas/build", "--against", "main")
    assert (alone.exit_code, "no revision has an earlier version" in " ".join(alone.stdout.split())) == (2, True)


def test_files_of_a_submodule_are_not_taken_for_new(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    inner = repository(tmp_path_factory.mktemp("inner"), {"x.avsc": ORDER})
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "schemas/sub")
    commit(repo)
    write(repo, {"schemas/sub/x.avsc": BROKEN})
    result = run("check", "schemas", "--against", "main")
    assert (result.exit_code, "submodule" in result.stdout) == (2, True)
    assert statuses("schemas/sub", "--against", "main") == {"schemas/sub/x.avsc": "incompatible"}


def test_a_folder_that_can_not_be_listed_is_an_error(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / "schemas/sub").mkdir()
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("sub"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    result = run("check", "schemas", "--against", "main")
    assert (result.exit_code, "schemas/sub can't be listed: Permission denied" in result.output) == (2, True)


def test_a_subject_that_is_called_otherwise_in_the_registry_is_told(repo: Path) -> None:
    url = "mock://test_command_other_subject"
    with SchemaRegistryClient({"url": url}) as client:
        for subject in ("Order-value", "order_key", "other-value"):
            client.register_schema(subject, Schema('"string"'))
        files = {item["path"]: item for item in run_json("check", "schemas", "--registry", url)["files"]}
        assert {item["status"] for item in files.values()} == {"new"}
        assert files["schemas/money.avsc"]["findings"] == []
        (note,) = files["schemas/order.avsc"]["findings"]
        assert (note["kind"], note["severity"]) == ("OTHER_SUBJECT", "note")
        assert "no subject order, so nothing was compared; it has Order-value, order_key" in note["message"]
        client.register_schema("order", Schema(json.dumps(ORDER)))
        assert statuses("schemas/order.avsc", "--registry", url) == {"schemas/order.avsc": "ok"}
