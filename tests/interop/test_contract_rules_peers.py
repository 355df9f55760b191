"""Rules beside confluent-kafka: modes, order, actions, overrides, migrations and dead letters come out alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from registry import Metadata, Rule, RuleKind, RuleMode, ServerConfig
from serdes import MessageField
from serdes.rules import DlqAction, RuleOverride, RuleRegistry
from tests.interop.contract_peers import (
    ADA,
    BOTH,
    FAILED,
    KEYS,
    KINDS,
    TEXTS,
    VALUES,
    Both,
    Setup,
    T,
    copy,
    peer_dlq,
    peer_registry,
    peer_rules,
    rule,
)

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]
C = RuleKind.CONDITION
TEXT = "typeName == 'STRING' ; value + '%s'"


def adds(name: str, letter: str, mode: RuleMode = BOTH, **more: Any) -> Rule:
    """A transform that appends a letter to all text."""
    return rule(name, "CEL_FIELD", T, mode, expr=TEXT % letter, **more)


def fails(mode: RuleMode = BOTH, **more: Any) -> Rule:
    return rule("fails", "CEL", C, mode, expr="message.age > 40", **more)


def breaks(mode: RuleMode = BOTH, **more: Any) -> Rule:
    return rule("breaks", "CEL", T, mode, expr="message.missing.more", **more)


SCENARIOS: dict[str, list[Rule]] = {
    "order": [adds("a", "a"), adds("b", "b"), adds("c", "c")],
    "ways": [adds("w", "w", RuleMode.WRITE), adds("r", "r", RuleMode.READ), adds("b", "b")],
    "disabled": [adds("a", "a", disabled=True), adds("b", "b"), fails(disabled=True)],
    "twins": [adds("a", "a", tags=["PII"]), adds("b", "b", tags=["PII"])],
    "twins for one way": [adds("a", "a", RuleMode.WRITE, tags=["PII"]), adds("b", "b", RuleMode.WRITE, tags=["PII"])],
    "no twins": [adds("a", "a", tags=["PII"]), adds("b", "b", tags=["PII", "X"])],
    "tags of nothing": [adds("a", "a", tags=["OTHER"])],
    "type in small letters": [rule("a", "cel_field", T, BOTH, expr=TEXT % "a")],
    "fails": [adds("a", "a"), fails()],
    "fails at reading": [adds("a", "a"), fails(RuleMode.READ)],
    "fails and goes on": [fails(on_failure="NONE"), adds("a", "a")],
    "breaks": [breaks(), adds("a", "a")],
    "breaks and goes on": [breaks(on_failure="NONE"), adds("a", "a")],
    "forgiven when writing": [fails(on_failure="NONE,ERROR")],
    "forgiven when reading": [fails(on_failure="ERROR,NONE")],
    "forgiven both ways": [fails(on_failure="NONE,NONE"), adds("a", "a")],
    "success is refused": [adds("a", "a", on_success="ERROR")],
    "success is refused when reading": [adds("a", "a", on_success="NONE,ERROR")],
    "an empty action": [adds("a", "a", on_success="", on_failure=""), fails(on_failure="")],
    "an action nobody has": [fails(on_failure="NOPE")],
    "an executor nobody has": [rule("n", "NOPE", T, RuleMode.WRITE, expr="x")],
    "a pair for one way": [fails(RuleMode.WRITE, on_failure="NONE,ERROR")],
    "no expression": [rule("n", "CEL", T, BOTH)],
    "encryption in between": [
        adds("a", "a", RuleMode.WRITE),
        rule("enc", "ENCRYPT", tags=["PII"], params=KEYS),
        adds("b", "b", RuleMode.READ),
    ],
    "encryption of all text": [rule("enc", "ENCRYPT", tags=["PII", "OTHER"], params=KEYS)],
    "a parameter that is none": [
        rule("enc", "ENCRYPT", tags=["PII"], params={**KEYS, "encrypt.dek.expiry.days": "-1"})
    ],
    "no kek": [rule("enc", "ENCRYPT", tags=["PII"], params={})],
}


@KINDS
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_rules_do_the_same(both: Both, kind: str, scenario: str) -> None:
    both.register(kind, domain_rules=SCENARIOS[scenario])
    ours, theirs = both.ours(kind), both.theirs(kind)
    assert ours.outcome(VALUES[kind]) == theirs.outcome(VALUES[kind])


@pytest.mark.parametrize("where", [None, "ALL", "CLIENT", "SERVER"])
def test_rules_run_where_they_are_to(both: Both, where: str | None) -> None:
    both.register("AVRO", domain_rules=[adds("a", "a")], enable_at=where)
    ours, theirs = (side("AVRO").outcome(VALUES["AVRO"]) for side in (both.ours, both.theirs))
    assert ours == theirs
    assert ours is not None
    assert (ours == VALUES["AVRO"]) is (where == "SERVER")


@pytest.mark.parametrize(
    "changes",
    [
        {"disabled": True},
        {"disabled": False},
        {"on_failure": "NONE"},
        {"on_failure": "ERROR,NONE"},
        {"on_success": "ERROR"},
        {},
    ],
)
@pytest.mark.parametrize("disabled", [None, True])
def test_overrides_do_the_same(both: Both, changes: dict[str, Any], disabled: bool | None) -> None:
    both.register("AVRO", domain_rules=[fails(disabled=disabled), adds("a", "a")])
    ours, theirs = RuleRegistry(), peer_registry(encrypts=False)
    ours.register_override(RuleOverride("CEL", **changes))
    given = [changes.get(name) for name in ("on_success", "on_failure", "disabled")]
    theirs.register_override(peer_rules.RuleOverride("CEL", *given))
    setup = Setup(ours=ours, theirs=theirs)
    assert both.ours("AVRO", setup).outcome(VALUES["AVRO"]) == both.theirs("AVRO", setup).outcome(VALUES["AVRO"])


PATTERNS: dict[str, dict[str, str]] = {
    "AVRO": {"t.Person.age": "int", "t.*.name": "one", "**.nicks": "all", "Person.name": "none"},
    "JSON": {"$.age": "int", "$.*": "one", "**.nicks": "all", "Person.name": "none"},
    "PROTOBUF": {"t.Person.age": "int", "t.*.name": "one", "**.nicks": "all", "Person.name": "none"},
}


@KINDS
@pytest.mark.parametrize("tag", ["int", "one", "all", "none", "PII"])
def test_tags_of_the_metadata_choose_the_same_fields(both: Both, kind: str, tag: str) -> None:
    tags: Mapping[str, Any] = {pattern: [name] for pattern, name in PATTERNS[kind].items()}
    text = TEXTS[kind].replace('"PII"', '"INLINE"') if tag == "PII" else None
    field = rule("t", "CEL_FIELD", T, RuleMode.WRITE, tags=[tag], expr="typeName == 'INT' ; value + 1")
    letters = rule("u", "CEL_FIELD", T, RuleMode.WRITE, tags=[tag, "x"], expr=TEXT % "!")
    both.register(kind, text, Metadata(tags=tags), domain_rules=[field, letters])
    assert both.ours(kind).outcome(VALUES[kind]) == both.theirs(kind).outcome(VALUES[kind])


def test_the_metadata_s_properties_are_parameters_for_both(both: Both) -> None:
    properties = {**KEYS, "encrypt.dek.algorithm": "AES256_SIV"}
    enc = rule("enc", "ENCRYPT", tags=["PII"], params={"encrypt.dek.algorithm": "AES128_GCM"})
    both.register("AVRO", None, Metadata(properties=properties), domain_rules=[enc])
    ours, theirs = both.ours("AVRO"), both.theirs("AVRO")
    assert theirs.read(ours.write(VALUES["AVRO"])) == ours.read(theirs.write(copy(VALUES["AVRO"]))) == VALUES["AVRO"]


RICH = """
syntax = "proto3";
package t;
import "confluent/meta.proto";
import "google/protobuf/timestamp.proto";
message Person {
  enum Mood { SAD = 0; GLAD = 1; }
  message Pet { string call = 1 [(confluent.field_meta) = { tags: "PII" }]; int32 age = 2; }
  string name = 1 [(confluent.field_meta) = { tags: ["PII", "X"] }];
  uint32 tall = 2;
  uint64 far = 3;
  float warm = 4;
  bool old = 5;
  Mood mood = 6;
  Pet pet = 7;
  repeated Pet pets = 8;
  map<string, Pet> by_name = 9;
  oneof choice { string one = 10 [(confluent.field_meta) = { tags: "PII" }]; int64 other = 11; }
  optional string maybe = 12;
  google.protobuf.Timestamp at = 13;
  repeated Mood moods = 14;
}
"""
RICH_VALUE = {
    "name": "Ada Lovelace",
    "tall": 170,
    "far": "5",
    "warm": 36.5,
    "old": True,
    "mood": "GLAD",
    "one": "x",
    "pet": {"call": "Rex", "age": 3},
    "pets": [{"call": "Tom"}],
    "by_name": {"k": {"call": "Kim", "age": 1}},
    "at": "2026-01-01T00:00:00.123456789Z",
    "moods": ["SAD", "GLAD"],
}


@pytest.mark.parametrize(
    "expr",
    [
        "typeName == 'STRING' ; value + '|' + fullName + '|' + name + '|' + string(size(tags))",
        "name == 'tall' ; typeName == 'INT' ? value + 1u : 0u",
        "name == 'far' ; typeName == 'LONG' ? value + 1u : 0u",
        "typeName == 'FLOAT' ; value + 1.0",
        "typeName == 'INT' && name == 'age' ; value + message.age",
        "typeName == 'BOOLEAN' ; !value",
        "'PII' in tags ; 'T'",
        "name == 'at' ; value",
        "name == 'at' ; value + duration('1s')",
        "name == 'name' ; string(has(message.maybe)) + string(has(message.one)) + string(has(message.pet))",
        "name == 'name' ; string(message.mood) + string(size(message.pets)) + message.by_name['k'].call",
        "name == 'name' ; string(message.at) + string(message.warm) + '%d'.format([message.tall])",
        "typeName == 'ENUM' ; 0",
        "name == 'call' ; message.call + '!'",
    ],
)
@pytest.mark.parametrize("mode", [RuleMode.WRITE, RuleMode.READ])
def test_all_kinds_of_fields_of_protobuf_are_seen_alike(both: Both, expr: str, mode: RuleMode) -> None:
    both.register("PROTOBUF", RICH, domain_rules=[rule("t", "CEL_FIELD", T, mode, expr=expr)])
    setup = Setup(text=RICH, as_json=True)
    ours, theirs = (side("PROTOBUF", setup).outcome(RICH_VALUE) for side in (both.ours, both.theirs))
    assert ours is not None
    assert ours == theirs


# --- migrations

WITHOUT = {**ADA, "raw": None}
"""JSONata takes no bytes."""


def renamed(kind: str, name: str) -> str:
    """The schema with another name for `age`."""
    return TEXTS[kind].replace('"age"', f'"{name}"').replace("int32 age = 4", f"int32 {name} = {4 + len(name)}")


def moves(old: str, new: str) -> list[Rule]:
    """Renames a field, with a mark that says so, and back."""
    merge = "$merge([$sift($, function($v, $k) { $k != '%s' }), {'%s': %s %s, 'name': name & '%s'}])"
    return [
        rule("up", "JSONATA", T, RuleMode.UPGRADE, expr=merge % (old, new, old, "+ 1", "+")),
        rule("down", "JSONATA", T, RuleMode.DOWNGRADE, expr=merge % (new, old, new, "- 1", "-")),
        rule("both", "JSONATA", T, RuleMode.UPDOWN, expr=f"$merge([$, {{'nicks': $append(nicks, '{new}')}}])"),
    ]


@KINDS
@pytest.mark.parametrize("mark", ["1", "2", "3"])
def test_migrations_do_the_same(both: Both, kind: str, mark: str) -> None:
    """Values of each of three versions, read as each of them."""
    both.client.set_config(f"{both.topic}-value", ServerConfig(compatibility="NONE"))
    names = ["age", "years", "summers"]
    frames = []
    for number, name in enumerate(names, 1):
        rules = moves(names[number - 2], name) if number > 1 else []
        both.register(kind, renamed(kind, name), Metadata(properties={"v": str(number)}), migration_rules=rules)
        both.client.clear_caches()
        value = {name if key == "age" else key: item for key, item in (ADA if kind == "JSON" else WITHOUT).items()}
        frames.append(both.ours(kind, Setup(text=renamed(kind, name))).write(value))
    setup = Setup(conf={"use.latest.with.metadata": {"v": mark}}, text=renamed(kind, names[int(mark) - 1]))
    ours = both.ours(kind, setup)
    for number, frame in enumerate(frames, 1):
        found = ours.read(frame)
        # a reader of the peer's is good for one frame: it keeps versions in between as text, and reads them as base64
        assert found == both.theirs(kind, setup).read(frame)
        assert found[names[int(mark) - 1]] == 36 + int(mark) - number
        assert found["name"] == "Ada Lovelace" + ("+" if int(mark) > number else "-") * abs(int(mark) - number)


# --- dead letters


class Outbox:
    """A producer that keeps what it is given."""

    def __init__(self) -> None:
        self.sent: list[tuple[Any, ...]] = []
        self.raw: list[tuple[bytes | None, bytes | None]] = []

    def produce(self, topic: str, value: Any = None, key: Any = None, headers: Any = None, **_: Any) -> None:
        self.sent.append((topic, key, value if value is None else _loaded(value), sorted(headers)))
        self.raw.append((key, value))

    def poll(self, timeout: float) -> None:
        return

    def flush(self, timeout: float = 0) -> int:
        return 0


def _loaded(value: bytes) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


@KINDS
@pytest.mark.parametrize("mode", [RuleMode.WRITE, RuleMode.READ])
@pytest.mark.parametrize("field", [MessageField.VALUE, MessageField.KEY])
def test_dead_letters_are_the_same(both: Both, kind: str, mode: RuleMode, field: MessageField) -> None:
    enc = rule("enc", "ENCRYPT", tags=["PII"], params=KEYS)
    both.register(kind, domain_rules=[enc, fails(mode, on_failure="DLQ", params={"dlq.topic": "dead"})])
    if field is MessageField.KEY:
        both.client.register_schema(f"{both.topic}-key", both.client.get_latest_version(f"{both.topic}-value").schema)
    boxes = Outbox(), Outbox()
    ours, theirs = RuleRegistry(), peer_registry()
    ours.register_action(DlqAction({"producer": boxes[0]}))
    theirs.register_action(peer_dlq.DlqAction({"producer": boxes[1]}))
    setup = Setup(ours=ours, theirs=theirs, field=field)
    sides = both.ours(kind, setup), both.theirs(kind, setup)
    frame = None if mode is RuleMode.WRITE else sides[0].write(VALUES[kind])
    for side in sides:
        with pytest.raises(FAILED):
            side.write(copy(VALUES[kind])) if frame is None else side.read(frame)
    assert len(boxes[0].sent) == 1
    assert boxes[0].sent == boxes[1].sent
    if frame is not None:
        assert boxes[0].raw == [(frame, None) if field is MessageField.KEY else (None, frame)]


@KINDS
def test_a_dead_letter_never_has_the_key_of_an_earlier_record(both: Both, kind: str) -> None:
    """The peer's has: what it saw last on this thread, even of another topic. Such a letter names a wrong record."""
    both.register(kind, domain_rules=[fails(RuleMode.READ, on_failure="DLQ", params={"dlq.topic": "dead"})])
    both.client.register_schema(f"{both.topic}-key", both.client.get_latest_version(f"{both.topic}-value").schema)
    boxes = Outbox(), Outbox()
    ours, theirs = RuleRegistry(), peer_registry(encrypts=False)
    ours.register_action(DlqAction({"producer": boxes[0]}))
    theirs.register_action(peer_dlq.DlqAction({"producer": boxes[1]}))
    frames = {}
    for field in (MessageField.KEY, MessageField.VALUE):
        setup = Setup(ours=ours, theirs=theirs, field=field)
        sides = both.ours(kind, setup), both.theirs(kind, setup)
        frames[field] = sides[0].write(VALUES[kind])
        for side in sides:
            with pytest.raises(FAILED):
                side.read(frames[field])
    key, value = frames[MessageField.KEY], frames[MessageField.VALUE]
    assert boxes[0].raw == [(key, None), (None, value)]
    assert boxes[1].raw == [(key, None), (key, value)]
