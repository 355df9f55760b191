from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kserdes.cli.schema.transfer.archive import Archive
from kserdes.cli.schema.transfer.exporting import save
from kserdes.cli.schema.transfer.importing import load, plan, verify
from kserdes.cli.schema.transfer.rest import Rest
from kserdes.cli.shell.unusable import Unusable
from registry.client.blocking import SchemaRegistryClient
from registry.errors import ResponseError, TransportError
from registry.models import Metadata, Schema, SchemaReference, ServerConfig
from tests.unit.kserdes.cli.schema.helpers import record, write

MONEY = json.dumps(record("Money", "x:long"))
ORDER = json.dumps(record("Order", "m:Money"))
ORDER_2 = json.dumps(record("Order", "m:Money", {"name": "n", "type": "int", "default": 0}))


def registry(request: pytest.FixtureRequest, name: str) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": f"mock://import-{name}-{request.node.name.replace('[', '-').strip(']')}"})


@pytest.fixture
def target(request: pytest.FixtureRequest) -> Rest:
    return Rest(registry(request, "target"))


@pytest.fixture
def saved(request: pytest.FixtureRequest, tmp_path: Path) -> Archive:
    """A registry with references (the name of the one referred to sorts last), gaps, deletions, settings, a context."""
    client = registry(request, "source")
    client.register_schema("unused", Schema('"boolean"'))
    client.delete_subject("unused")
    client.delete_subject("unused", permanent=True)  # ids do not start at 1
    client.register_schema("z-money", Schema(MONEY))
    reference = [SchemaReference("Money", "z-money", 1)]
    client.register_schema("orders", Schema(ORDER, references=reference))
    client.register_schema("orders", Schema(ORDER_2, "AVRO", reference, Metadata(properties={"owner": "me"})))
    client.register_schema("copy", Schema(MONEY))
    client.register_schema("gone", Schema('"int"'))
    client.register_schema(":.ctx:a", Schema('"bytes"'))
    client.delete_version("orders", 1)
    client.delete_subject("gone")
    client.set_config("orders", ServerConfig(normalize=True))
    client.set_compatibility(level="FULL")
    rest = Rest(client)
    rest.set_mode("copy", "READONLY")
    archive = Archive(tmp_path / "export")
    save(rest, archive)
    return archive


def test_a_registry_is_the_same_afterwards(saved: Archive, target: Rest, tmp_path: Path) -> None:
    ticks: list[tuple[int, int]] = []
    done = load(target, plan(saved), lambda *counts: ticks.append(counts))
    assert (done.sent, done.present, done.problems) == (6, 0, [])
    assert ticks[-1] == (6, 6)
    again = Archive(tmp_path / "again")
    save(target, again)
    for path in sorted(saved.folder.rglob("*.json")):
        assert json.loads((again.folder / path.relative_to(saved.folder)).read_text()) == json.loads(path.read_text())
    assert [path.name for path in again.folder.rglob("*")].count("1.json") == 6 - 1


def test_a_second_run_sends_nothing(saved: Archive, target: Rest) -> None:
    load(target, plan(saved))
    done = load(target, plan(saved))
    assert (done.sent, done.present, done.problems) == (0, 6, [])


def test_a_run_that_broke_off_can_be_repeated(saved: Archive, target: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    register = Rest.register
    sent: list[str] = []

    def cut(self: Rest, subject: str, body: dict[str, Any]) -> None:
        if len(sent) == 3:
            raise TransportError(-1, -1, "cut")
        sent.append(subject)
        register(self, subject, body)

    with monkeypatch.context() as patch:
        patch.setattr(Rest, "register", cut)
        with pytest.raises(TransportError):
            load(target, plan(saved))
    done = load(target, plan(saved))
    assert (done.sent, done.present, done.problems) == (3, 3, [])


def test_schemas_come_after_what_they_need(saved: Archive) -> None:
    order = list(plan(saved).versions)
    assert order.index(("z-money", 1)) < order.index(("orders", 1)) < order.index(("orders", 2))


def test_an_alias_is_set_last_and_then_hides_the_versions(
    saved: Archive, target: Rest, request: pytest.FixtureRequest
) -> None:
    client = registry(request, "source")
    client.set_config("orders", ServerConfig(alias="z-money"))
    assert save(Rest(client), saved).hidden == ("orders",)
    for sent, present in ((6, 0), (0, 6)):
        done = load(target, plan(saved))
        assert (done.sent, done.present, done.problems) == (sent, present, [])
    assert (target.setting("config", "orders") or {})["alias"] == "z-money"


def test_another_schema_in_the_place_is_an_error(saved: Archive, target: Rest, request: pytest.FixtureRequest) -> None:
    client = registry(request, "target")
    client.register_schema("copy", Schema('"string"'))
    with pytest.raises(Unusable, match=r"copy version 1 is another schema \(id, schema\)"):
        load(target, plan(saved))
    client.delete_subject("copy")
    client.delete_subject("copy", permanent=True)
    client.set_compatibility(level="NONE")
    for kind in ("int", "long"):
        client.register_schema("gone", Schema(f'"{kind}"'))
    with pytest.raises(Unusable, match="gone"):
        load(target, plan(saved))


def test_differences_after_the_import_are_reported(saved: Archive, target: Rest) -> None:
    what = plan(saved)
    problems = verify(target, what)
    assert "orders version 1 is missing" in problems
    load(target, what)
    target.set_config(None, {"compatibility": "NONE"})
    target.set_mode("copy", "IMPORT")
    target.delete("copy", 1)
    target.set_mode("orders", "IMPORT")
    target.register("orders", {"schema": '"int"', "id": 90, "version": 9})
    target.set_config("z-money", {"compatibility": "NONE"})
    target.set_mode("orders", "READONLY")
    target.set_mode(None, "READONLY")
    text = "\n".join(verify(target, what))
    assert "orders: mode is READONLY, was None" in text
    assert "copy version 1 differs in deleted" in text
    assert "z-money: config is" in text
    assert "the registry: config is" in text
    assert "the registry: mode is READONLY, was READWRITE" in text
    assert "orders version 9 is not in the export" in text
    with pytest.raises(Unusable, match="orders has a version 9 that is not in the export"):
        load(target, what)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "is not an export of a registry"),
        ({"registry.json": {"format": "kserdes-registry/1", "complete": False}}, "is not complete"),
        (
            {
                "registry.json": {"format": "kserdes-registry/1", "complete": True},
                "subjects/a/subject.json": {"subject": "a"},
                "subjects/a/1.json": {"id": 1, "schema": "x", "references": [{"subject": "b", "version": 1}]},
            },
            "a version 1 refers to b version 1, which is not saved",
        ),
        (
            {
                "registry.json": {"format": "kserdes-registry/1", "complete": True},
                "subjects/a/subject.json": {"subject": "a"},
                "subjects/a/1.json": {"id": 1, "schema": "x", "references": [{"subject": "a", "version": 2}]},
                "subjects/a/2.json": {"id": 2, "schema": "x"},
            },
            "references form a circle",
        ),
    ],
)
def test_a_folder_that_is_no_good(tmp_path: Path, files: dict[str, object], reason: str) -> None:
    with pytest.raises(Unusable, match=reason):
        plan(Archive(write(tmp_path, files)))


@pytest.mark.parametrize(
    ("lost", "reason"),
    [
        (["orders/2.json"], r"subjects/orders/2\.json is missing, though subject\.json says that it was saved"),
        (["orders/1.json", "orders/2.json"], r"orders/1\.json, \S+orders/2\.json are missing"),
        (["orders/subject.json"], r"orders/subject\.json is missing"),
        (["gone/subject.json", "gone/1.json"], "5 subjects were saved, and 4 are there"),
    ],
    ids=["version", "versions", "subject", "folder"],
)
def test_an_export_that_has_lost_a_file_is_not_loaded(
    saved: Archive, target: Rest, lost: list[str], reason: str
) -> None:
    for name in lost:
        (saved.folder / "subjects" / name).unlink()
    with pytest.raises(Unusable, match=reason):
        load(target, plan(saved))
    assert target.subjects() == []


def test_a_version_in_anothers_place_is_not_loaded(saved: Archive) -> None:
    folder = saved.folder / "subjects" / "orders"
    (folder / "1.json").write_bytes((folder / "2.json").read_bytes())
    with pytest.raises(Unusable, match=r"orders/1\.json is damaged: it holds version 2"):
        plan(saved)


def test_references_within_a_context(tmp_path: Path) -> None:
    files: dict[str, object] = {
        "registry.json": {"format": "kserdes-registry/1", "complete": True},
    }
    archive = Archive(write(tmp_path, files))
    for subject in (":.ctx:a", ":.ctx:b"):
        archive.write_subject(subject, None, None, ())
    archive.write_version(":.ctx:a", 1, {"id": 1, "schema": "x", "references": [{"subject": "b", "version": 1}]})
    archive.write_version(":.ctx:b", 1, {"id": 2, "schema": "y"})
    assert list(plan(archive).versions) == [(":.ctx:b", 1), (":.ctx:a", 1)]


@pytest.mark.parametrize(
    ("kind", "saved", "there", "same"),
    [
        ("AVRO", '{"type": "int"}', '{"type":"int"}', True),
        ("JSON", '{"a": 1, "b": 2}', '{"b":2,"a":1}', True),
        ("AVRO", '{"type": "int"}', '{"type":"long"}', False),
        ("AVRO", "int", '"int"', False),
        ("PROTOBUF", "message A {}", "// one\nmessage  A\n{}", True),
        ("PROTOBUF", "message A {}", "message B {}", False),
    ],
)
def test_layout_is_no_difference(tmp_path: Path, kind: str, saved: str, there: str, same: bool) -> None:
    files = {
        "registry.json": {"format": "kserdes-registry/1", "complete": True},
        "subjects/a/subject.json": {"subject": "a"},
    }
    archive = Archive(write(tmp_path, files))
    archive.write_version("a", 1, {"id": 1, "schema": saved, "schemaType": kind})
    answer = {"id": 1, "schema": there, "schemaType": kind, "version": 1}

    class Answers(Rest):
        def versions(self, subject: str, deleted: bool) -> list[int]:
            return [1]

        def version(self, subject: str, number: int) -> dict[str, Any]:
            return answer

        def setting(self, kind: str, subject: str | None) -> dict[str, Any] | None:
            return None

    with SchemaRegistryClient({"url": "mock://layout"}) as client:
        assert (verify(Answers(client), plan(archive)) == []) is same


# --- however an import ends, no subject stays in IMPORT mode


def modes(rest: Rest) -> dict[str, object]:
    return {name: (rest.setting("mode", name) or {}).get("mode") for name in rest.subjects()}


@pytest.mark.parametrize(
    "error",
    [TransportError(-1, -1, "cut"), KeyboardInterrupt(), ResponseError(500, 50001, "store"), RuntimeError("ours")],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("step", ["register", "delete", "set_config"])
def test_an_import_that_breaks_off_leaves_the_modes_as_they_were(
    saved: Archive, target: Rest, monkeypatch: pytest.MonkeyPatch, error: BaseException, step: str
) -> None:
    target.set_mode("copy", "READWRITE")
    work, calls = getattr(Rest, step), []

    def broken(self: Rest, *arguments: Any) -> None:
        calls.append(arguments)
        if len(calls) == (3 if step == "register" else 1):
            raise error
        work(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Rest, step, broken)
        with pytest.raises(type(error)):
            load(target, plan(saved))
    assert target.subjects()
    assert "IMPORT" not in modes(target).values()
    assert modes(target).get("copy") in (None, "READWRITE", "READONLY")
    assert modes(target).get("orders") is None
    assert (target.setting("mode", None) or {}).get("mode") == "READWRITE"
    assert load(target, plan(saved)).problems == []


def test_modes_that_can_not_be_put_back_are_named(
    saved: Archive, target: Rest, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_mode = Rest.set_mode

    def away(self: Rest, *arguments: Any) -> None:
        raise TransportError(-1, -1, "cut")

    def last_words(self: Rest, subject: str | None, mode: str) -> None:
        set_mode(self, subject, mode)
        if subject == "orders":
            monkeypatch.setattr(Rest, "delete_mode", away)
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Rest, "set_mode", last_words)
        with pytest.raises(KeyboardInterrupt) as caught:
            load(target, plan(saved))
    (note,) = caught.value.__notes__
    assert "may be left in IMPORT mode" in note
    assert "orders (was unset)" in note
    assert "DELETE /mode/SUBJECT" in note


def test_a_subject_deleted_softly_that_takes_no_versions_any_more_is_told_so(
    target: Rest, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = registry(request, "source")
    source.register_schema("orders", Schema(MONEY))
    source.register_schema(
        "orders", Schema(json.dumps(record("Money", "x:long", {"name": "n", "type": "int", "default": 0})))
    )
    source.delete_version("orders", 1)
    archive = Archive(tmp_path / "export")
    save(Rest(source), archive)
    there = plan(archive)
    client = registry(request, "target")
    rest = Rest(client)
    rest.set_mode("orders", "IMPORT")
    rest.register("orders", {**there.versions["orders", 1], "version": 1, "id": 1})
    rest.delete_mode("orders")
    client.delete_subject("orders")

    def refuse(self: Rest, subject: str, body: dict[str, Any]) -> None:
        raise ResponseError(404, 40401, "No artifact with ID 'orders' in group 'default' was found.")

    with monkeypatch.context() as patched:
        patched.setattr(Rest, "register", refuse)
        done = load(target, there)
    (why,) = done.refused
    assert why.startswith("orders version 2: the subject was deleted softly there (it had the versions 1)")
    assert "DELETE /subjects/orders?permanent=true" in why
    assert "No artifact with ID" in why
    assert load(target, there).refused == [], "the embedded registry takes it, as Confluent's does"


def test_a_refusal_is_named_and_the_rest_goes_on(saved: Archive, target: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    register = Rest.register

    def choosy(self: Rest, subject: str, body: dict[str, Any]) -> None:
        if subject == "z-money":
            raise ResponseError(422, 42201, "not here")
        register(self, subject, body)

    monkeypatch.setattr(Rest, "register", choosy)
    done = load(target, plan(saved))
    assert [text.partition(": ")[0] for text in done.refused] == [
        "z-money version 1",
        "orders version 1",
        "orders version 2",
    ]
    assert "not here" in done.refused[0]
    assert "it refers to z-money version 1, which is refused" in done.refused[1]
    assert done.sent == 3
    assert "IMPORT" not in modes(target).values()
    assert "z-money version 1 is missing" in done.problems


def test_all_that_is_otherwise_there_is_named_before_anything_is_written(
    saved: Archive, target: Rest, request: pytest.FixtureRequest
) -> None:
    client = registry(request, "target")
    client.register_schema("copy", Schema('"string"'))
    client.register_schema("gone", Schema('"boolean"'))
    with pytest.raises(Unusable, match="nothing was written") as caught:
        load(target, plan(saved))
    assert "copy version 1 is another schema" in caught.value.message
    assert "gone version 1 is another schema" in caught.value.message
    assert target.subjects() == ["copy", "gone"]
    done = load(target, plan(saved), skip_refused=True)
    assert {text.partition(":")[0] for text in done.refused} >= {"copy version 1", "gone version 1"}
    assert client.get_latest_version("copy").schema.schema_str == '"string"'
    assert "IMPORT" not in modes(target).values()


def test_replaced_settings_are_reported(saved: Archive, target: Rest) -> None:
    load(target, plan(saved))
    target.set_config("z-money", {"compatibility": "NONE"})
    target.set_config("orders", {"compatibility": "NONE", "normalize": False})
    target.set_mode("orders", "READONLY")
    target.set_config(None, {"compatibility": "NONE"})
    told = "\n".join(load(target, plan(saved)).replaced)
    assert "orders: config was {'normalize': False, 'compatibilityLevel': 'NONE'}, is " in told
    assert "orders: mode was READONLY, is unset now" in told
    assert "the registry: config was {'compatibilityLevel': 'NONE'}" in told


def test_a_registry_that_takes_modes_and_does_nothing_gets_nothing(
    saved: Archive, target: Rest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Rest, "set_mode", lambda self, subject, mode: None)
    with pytest.raises(Unusable, match="has no IMPORT mode"):
        load(target, plan(saved))
    assert target.subjects() == []


def test_a_registry_without_modes_takes_an_import_of_what_it_has(target: Rest, tmp_path: Path) -> None:
    """As Apicurio, which answers 405 to `DELETE /mode/SUBJECT`: there is nothing to put back."""
    target._client.register_schema("a", Schema('"int"'))
    archive = Archive(tmp_path / "plain")
    save(target, archive)
    target.delete_mode = lambda subject: pytest.fail(f"DELETE /mode/{subject}")  # type: ignore[method-assign]
    assert load(target, plan(archive)).replaced == []
