"""A change in a type that several places use is one finding, at the type, with its users; nothing is lost by it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as tree
from pathlib import Path
from typing import Any

import pytest

from tests.unit.kserdes.cli.schema.helpers import commit, record, repository, run, run_json, write


def order(*fields: str, defined: bool = True) -> dict[str, object]:
    money: object = record("Money", *fields) if defined else "Money"
    union = {"name": "tax", "type": ["null", "Money"]}
    return record("Order", {"name": "price", "type": money}, "fee:Money", union)


def schema(kind: str) -> dict[str, object]:
    use = {"$ref": "#/$defs/Money"}
    return {
        "$defs": {"Money": {"type": "object", "properties": {"amount": {"type": kind}}}},
        "type": "object",
        "properties": {"price": use, "fee": use, "tax": {"oneOf": [{"type": "null"}, use]}},
    }


def proto(kind: str) -> str:
    return (
        f'syntax = "proto3";\npackage shop;\nmessage Order {{\n  Money price = 1;\n  map<string, Money> fees = 2;\n}}\n'
        f"message Money {{\n  {kind} amount = 1;\n}}\n"
    )


CHANGES = {
    "o.avsc": (order("amount:int"), order("amount:int", "currency:string")),
    "o.json": (schema("number"), schema("string")),
    "o.proto": (proto("string"), proto("int32")),
}
CAUSES = {
    "o.avsc": ("#/fields/0/type/fields/1", {"Order.price", "Order.fee", "Order.tax"}),
    "o.json": (
        "#/$defs/Money/properties/amount",
        {"#/properties/price", "#/properties/fee", "#/properties/tax/oneOf/1"},
    ),
    "o.proto": ("#/Money/1", {"Order.price", "Order.fees"}),
}
LINES = {"o.avsc": '"name": "currency"', "o.json": '"amount"', "o.proto": "amount"}


def changed(
    folder: Path, before: dict[str, object], after: dict[str, object], level: str = "BACKWARD"
) -> dict[str, Any]:
    repository(folder, before)
    write(folder, after)
    found = run_json("check", folder, "--against", "main", "--level", level)["files"]
    return {Path(item["path"]).name: item for item in found}


def line(folder: Path, item: dict[str, Any]) -> str:
    return (folder / Path(item["path"] or "")).read_text().splitlines()[item["line"] - 1]


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("level", ["BACKWARD", "FORWARD"])
def test_one_change_in_a_shared_type_is_one_finding_at_the_type(name: str, level: str, tmp_path: Path) -> None:
    before, after = CHANGES[name] if level == "BACKWARD" or name != "o.avsc" else reversed(CHANGES[name])
    (result,) = changed(tmp_path, {name: before}, {name: after}, level).values()
    assert result["status"] == "incompatible"
    (finding,) = result["findings"]
    text = (tmp_path / name).read_text().splitlines()[finding["line"] - 1]
    if level == "BACKWARD":
        assert finding["cause"]["pointer"].endswith(CAUSES[name][0].removeprefix("#"))
        assert LINES[name] in text or name == "o.avsc"
    assert {item["name"] for item in finding["users"] if item["name"]} == CAUSES[name][1]


@pytest.mark.parametrize(
    ("draft", "anchor", "reference"),
    [
        ("2020-12", "$anchor", "$ref"),
        ("2020-12", "$dynamicAnchor", "$dynamicRef"),
        ("2019-09", "$anchor", "$ref"),
    ],
)
def test_a_shared_type_that_is_referred_to_by_an_anchor_is_one_finding_too(
    draft: str, anchor: str, reference: str, tmp_path: Path
) -> None:
    def anchored(kind: str) -> dict[str, object]:
        made = json.loads(json.dumps(schema(kind)).replace('"$ref": "#/$defs/Money"', f'"{reference}": "#money"'))
        made["$defs"]["Money"][anchor] = "money"
        return {"$schema": f"https://json-schema.org/draft/{draft}/schema", **made}

    (result,) = changed(tmp_path, {"o.json": anchored("number")}, {"o.json": anchored("string")}).values()
    (finding,) = result["findings"]
    assert finding["cause"]["pointer"] == CAUSES["o.json"][0]
    assert {item["name"] for item in finding["users"] if item["name"]} == CAUSES["o.json"][1]


def test_differences_that_a_cause_explains_are_kept_with_their_messages(tmp_path: Path) -> None:
    (finding,) = changed(tmp_path, {"o.avsc": CHANGES["o.avsc"][0]}, {"o.avsc": CHANGES["o.avsc"][1]})["o.avsc"][
        "findings"
    ]
    assert finding["kind"] == "READER_FIELD_MISSING_DEFAULT_VALUE"
    (folded,) = [item for item in finding["users"] if item["kind"]]
    assert (folded["kind"], folded["pointer"]) == ("MISSING_UNION_BRANCH", "/fields/2/type")
    assert "has no branch that reads Money" in folded["message"]


def test_two_changes_are_two_findings(tmp_path: Path) -> None:
    before, after = order("amount:int"), order("amount:int", "currency:string", "cents:int")
    after["fields"].append({"name": "new", "type": "int"})  # type: ignore[attr-defined]
    findings = changed(tmp_path, {"o.avsc": before}, {"o.avsc": after})["o.avsc"]["findings"]
    assert [item["kind"] for item in findings] == ["READER_FIELD_MISSING_DEFAULT_VALUE"] * 3


def test_a_change_of_the_place_itself_is_not_put_down_to_the_type(tmp_path: Path) -> None:
    before, after = order("amount:int"), order("amount:int", "currency:string")
    after["fields"][2]["type"] = ["string", "Money"]  # type: ignore[index]
    findings = changed(tmp_path, {"o.avsc": before}, {"o.avsc": after})["o.avsc"]["findings"]
    kinds = {(item["kind"], item["pointer"]) for item in findings}
    assert ("MISSING_UNION_BRANCH", "/fields/2/type") in kinds


def shared(*fields: str) -> dict[str, object]:
    return {
        "money.avsc": record("Money", *fields),
        "a.avsc": record("A", "price:Money", "fee:Money"),
        "b.avsc": record("B", "price:Money", "other:int"),
        "c.avsc": record("C", "x:int"),
    }


def test_a_change_in_a_file_that_others_use_is_told_once_with_that_file(tmp_path: Path) -> None:
    found = changed(tmp_path, shared("x:int"), shared("x:int", "y:int"))
    assert [item["status"] for item in found.values()] == ["incompatible", "incompatible", "ok", "incompatible"]
    (finding,) = found["money.avsc"]["findings"]
    assert found["a.avsc"]["findings"] == found["b.avsc"]["findings"] == []
    assert [Path(item["path"]).name for item in found["a.avsc"]["causes"]] == ["money.avsc"]
    named = {(Path(item["path"]).name, item["name"]) for item in finding["users"] if item["name"]}
    assert named == {("a.avsc", "A.price"), ("a.avsc", "A.fee"), ("b.avsc", "B.price")}
    folded = {Path(item["path"]).name: item for item in finding["users"] if item["kind"]}
    assert {name: item["subject"] for name, item in folded.items()} == {"a.avsc": "a", "b.avsc": "b"}
    assert all(item["kind"] == finding["kind"] and "can't read data" in item["message"] for item in folded.values())


def test_if_the_file_of_the_cause_is_not_checked_its_first_user_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository(tmp_path, shared("x:int")))
    write(tmp_path, shared("x:int", "y:int"))
    words = ("check", "a.avsc", "b.avsc", "--against", "main", "--root", ".")
    first, second = run_json(*words)["files"]
    (finding,) = first["findings"]
    assert (finding["path"], second["findings"], second["status"]) == ("money.avsc", [], "incompatible")
    assert '"y"' in "".join(
        (tmp_path / "money.avsc").read_text().splitlines()[finding["line"] - 2 : finding["line"] + 1]
    )


def test_json_and_protobuf_files_that_others_use(tmp_path: Path) -> None:
    def files(kind: str, proto_kind: str) -> dict[str, object]:
        use = {"type": "object", "properties": {"p": {"$ref": "money.json"}}}
        text = 'syntax = "proto3";\nimport "money.proto";\nmessage {} {{ Money m = 1; }}\n'
        return {
            "money.json": {"type": "object", "properties": {"x": {"type": kind}}},
            "a.json": use,
            "b.json": use,
            "money.proto": f'syntax = "proto3";\nmessage Money {{ {proto_kind} x = 1; }}\n',
            "c.proto": text.format("C"),
            "d.proto": text.format("D"),
        }

    found = changed(tmp_path, files("number", "string"), files("string", "int32"))
    assert {name for name, item in found.items() if item["findings"]} == {"money.json", "money.proto"}
    for name, users in (("money.json", {"a.json", "b.json"}), ("money.proto", {"c.proto", "d.proto"})):
        (finding,) = found[name]["findings"]
        assert {Path(item["path"]).name for item in finding["users"] if item["kind"]} == users
    assert {item["status"] for item in found.values()} == {"incompatible"}


def test_every_form_of_the_report_names_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository(tmp_path, shared("x:int")))
    write(tmp_path, shared("x:int", "y:int"))
    texts = {
        form: run("check", "--against", "main", "--format", form, ".").stdout
        for form in ("text", "github", "junit", "sarif")
    }
    for form, text in texts.items():
        words = " ".join(text.split())
        assert "used by a.avsc: A.price" in words, form
        assert text.count("READER_FIELD_MISSING_DEFAULT_VALUE") >= 1
    assert texts["github"].count("::error") == 1
    suite = tree.fromstring(texts["junit"].encode())
    failures = {case.get("file"): case.find("failure") for case in suite.iter("testcase")}
    assert {name for name, failure in failures.items() if failure is not None} == {"a.avsc", "b.avsc", "money.avsc"}
    assert len(json.loads(texts["sarif"])["runs"][0]["results"]) == 1
    assert "told with money.avsc" in texts["text"]


def test_a_cut_list_of_users_says_how_many_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wide(*fields: str) -> dict[str, object]:
        first: object = {"name": "f0", "type": record("Money", *fields)}
        return {"o.avsc": record("Order", first, *[f"f{at}:Money" for at in range(1, 30)])}

    monkeypatch.chdir(repository(tmp_path, wide("x:int")))
    commit(write(tmp_path, wide("x:int", "y:int")))
    for form in ("text", "github"):
        words = " ".join(run("check", "--against", "HEAD~1", "--format", form, ".").stdout.split())
        assert "Order.f9 and 20 more" in words
    (result,) = run_json("check", "--against", "HEAD~1", ".")["files"]
    assert len([item for item in result["findings"][0]["users"] if item["name"]]) == 30
    assert "Order.f9 and 20 more" in " ".join(run("diff", "HEAD~1:o.avsc", "o.avsc").stdout.split())


@pytest.mark.parametrize("name", CHANGES)
def test_diff_tells_a_cause_once_with_its_users(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository(tmp_path, {name: CHANGES[name][0]}))
    write(tmp_path, {name: CHANGES[name][1]})
    (item,) = run_json("diff", f"main:{name}", name)["backward"]["differences"]
    assert item["cause"] == CAUSES[name][0]
    assert {user["name"] for user in item["users"] if "name" in user} == CAUSES[name][1]
    assert len([user for user in item["users"] if "message" in user]) == (name != "o.proto")
    text = " ".join(run("diff", f"main:{name}", name).stdout.split())
    assert f"the change is at {item['cause']}, used by" in text


def test_diff_tells_a_change_in_an_imported_message_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def files(kind: str) -> dict[str, object]:
        money = f'syntax = "proto3";\npackage shop;\nmessage Money {{ {kind} x = 1; }}\n'
        fields = "".join(f"  shop.Money m{number} = {number};\n" for number in range(1, 4))
        order = f'syntax = "proto3";\nimport "money.proto";\nmessage Order {{\n{fields}}}\n'
        return {"money.proto": money, "order.proto": order}

    monkeypatch.chdir(repository(tmp_path, files("string")))
    write(tmp_path, files("int32"))
    for direction in ("backward", "forward"):
        found = run_json("diff", "main:order.proto", "order.proto")[direction]
        (item,) = found["differences"]
        assert (found["compatible"], item["cause"]) == (False, "#/Money/1")
        assert {user["name"] for user in item["users"] if "name" in user} == {"Order.m1", "Order.m2", "Order.m3"}
    text = " ".join(run("diff", "main:order.proto", "order.proto").stdout.split())
    assert "the change is at #/Money/1, used by Order.m1, Order.m2, Order.m3" in text


def test_diff_tells_two_changes_of_a_message_as_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'syntax = "proto3";\nmessage M {{\n  {0} a = 1;\n  {0} b = 2;\n}}\n'
    monkeypatch.chdir(repository(tmp_path, {"m.proto": text.format("string")}))
    write(tmp_path, {"m.proto": text.format("int32")})
    items = run_json("diff", "main:m.proto", "m.proto")["backward"]["differences"]
    assert [(item["cause"], item["users"]) for item in items] == [("#/M/1", []), ("#/M/2", [])]


def test_a_recursive_type_ends(tmp_path: Path) -> None:
    def node(*fields: str) -> dict[str, object]:
        return record("Node", {"name": "next", "type": ["null", "Node"]}, *fields)

    (finding,) = changed(tmp_path, {"n.avsc": node()}, {"n.avsc": node("x:int")})["n.avsc"]["findings"]
    assert finding["kind"] == "READER_FIELD_MISSING_DEFAULT_VALUE"
