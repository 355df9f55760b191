from __future__ import annotations

import pytest

from registry.compat import Level
from registry.dev.state.settings import Settings, merged_metadata, merged_rules, with_version
from registry.dev.state.state import Association, State, Version
from registry.dev.state.tables import Journal, Row, Table
from registry.models import Metadata, Rule, RuleSet, Schema

INT, LONG = Schema('"int"'), Schema('"long"')


def copied(state: State) -> State:
    return State(state.journal.rows())


def test_everything_survives_its_rows() -> None:
    state = State()
    state.put("a", Version(1, 1), INT)
    state.put(":.eu:a", Version(3, 7), LONG)
    state.mark_deleted("a", Version(1, 1))
    state.configs[("a",)] = Settings(Level.FULL)
    state.modes[("",)] = "READONLY"
    association = Association("a", "g", "n", "ns", "id", "topic", "value", "WEAK")
    state.associations[("id", "topic", "value")] = association
    state.extra("keks")[("k",)] = {"name": "k"}
    other = copied(state)
    assert other.subjects() == [":.eu:a", "a"]
    assert other.versions("a", deleted=True) == [Version(1, 1, deleted=True)]
    assert other.places(".eu", 7) == [(":.eu:a", Version(3, 7))]
    assert (other.id_of(".", INT), other.id_of(".eu", LONG)) == (1, 7)
    assert (other.next_id("."), other.next_id(".eu"), other.next_id(".us")) == (2, 8, 1)
    assert other.settings("a").level is Level.FULL
    assert other.mode("a") == "READONLY"
    assert other.associations.items() == [(("id", "topic", "value"), association)]
    assert other.extra("keks").items() == [(("k",), {"name": "k"})]
    assert (".eu",) in other.contexts


def test_undo_is_undo() -> None:
    state = State()
    state.put("a", Version(1, 1), INT)
    state.journal.clear()
    state.remove("a", Version(1, 1))
    state.put("b", Version(1, 2), LONG)
    state.undo()
    assert state.subjects() == ["a"]
    assert (state.id_of(".", INT), state.id_of(".", LONG)) == (1, None)
    assert state.next_id(".") == 2


def test_ids_are_never_used_again_even_when_all_is_gone() -> None:
    state = State()
    state.put("a", Version(1, 9), INT)
    state.remove("a", Version(1, 9))
    assert copied(state).next_id(".") == 10
    assert (".", 9) not in state.contents


def test_a_schema_stays_while_one_version_holds_it() -> None:
    state = State()
    state.put("a", Version(1, 1), INT)
    state.put("b", Version(1, 1), INT)
    state.remove("a", Version(1, 1))
    assert state.id_of(".", INT) == 1
    state.remove("b", Version(1, 1))
    assert state.id_of(".", INT) is None


def test_settings_are_looked_for_outwards_and_not_mixed() -> None:
    state = State()
    state.configs[("",)] = Settings(Level.FULL, group="g")
    state.configs[(":.eu:",)] = Settings(normalize=True)
    assert state.settings("a") == Settings(Level.FULL, group="g")
    assert state.settings(":.eu:a") == Settings(Level.BACKWARD, normalize=True)
    assert state.settings(":.us:a") == Settings(Level.BACKWARD)
    state.configs[(":.__GLOBAL:",)] = Settings(Level.NONE)
    assert state.settings(":.us:a") == Settings(Level.NONE)


def test_the_override_counts_everywhere() -> None:
    state = State()
    state.modes[("a",)] = "IMPORT"
    state.modes[("",)] = "READONLY"
    assert (state.mode("a"), state.mode("b"), state.mode(":.eu:a")) == ("IMPORT", "READONLY", "READWRITE")
    state.modes[("",)] = "READONLY_OVERRIDE"
    assert (state.mode("a"), state.mode(":.eu:a")) == ("READONLY_OVERRIDE", "READONLY_OVERRIDE")


def test_a_context_has_what_its_subjects_have() -> None:
    state = State()
    state.put(":.eu:a", Version(1, 1), INT)
    assert state.has(":.eu:")
    assert not state.has(":.us:")
    assert state.has("")
    state.mark_deleted(":.eu:a", Version(1, 1))
    assert not state.has(":.eu:")
    assert state.has(":.eu:", deleted=True)


# ---- settings


LOW = Metadata(tags={"a": ["x"], "b": ["y"]}, properties={"p": "1", "q": "2"}, sensitive=["p"])
HIGH = Metadata(tags={"b": ["z"]}, properties={"q": "3"}, sensitive=["q"])


def test_metadata_of_the_upper_layer_counts() -> None:
    both = merged_metadata(LOW, HIGH)
    assert both == Metadata(tags={"a": ["x"], "b": ["z"]}, properties={"p": "1", "q": "3"}, sensitive=["p", "q"])
    assert merged_metadata(None, HIGH) == HIGH
    assert merged_metadata(LOW, None) == LOW
    assert merged_metadata(None, None) is None


def test_rules_of_one_name_are_replaced() -> None:
    low = RuleSet(domain_rules=[Rule("a", expr="1"), Rule("b", expr="2")], enable_at="x")
    high = RuleSet(domain_rules=[Rule("a", expr="3")], migration_rules=[Rule("m")])
    both = merged_rules(low, high)
    assert both == RuleSet(
        migration_rules=[Rule("m")], domain_rules=[Rule("b", expr="2"), Rule("a", expr="3")], enable_at="x"
    )
    assert merged_rules(None, high) is high
    assert merged_rules(low, None) is low


def test_the_version_becomes_a_property() -> None:
    assert with_version(None, 3).properties == {"confluent:version": "3"}
    assert with_version(LOW, 3).properties == {"p": "1", "q": "2", "confluent:version": "3"}


def test_settings_survive_their_json() -> None:
    settings = Settings(
        Level.FULL, "LENIENT", "major", "other", True, False, LOW, HIGH, RuleSet(domain_rules=[Rule("a")]), None
    )
    assert Settings.from_dict(settings.to_dict()) == settings
    assert Settings.from_dict({}) == Settings()
    assert settings.adds_to_schemas
    assert not Settings(Level.FULL).adds_to_schemas


def test_none_unsets() -> None:
    assert Settings(Level.FULL, alias="a").updated({"alias": None}) == Settings(Level.FULL)


# ---- tables


@pytest.fixture
def table() -> Table[int]:
    return Table("numbers", Journal(), lambda value: [value], lambda value: value[0])


def journal(table: Table[int]) -> Journal:
    return table._journal


def test_changed_rows_are_what_they_are_now(table: Table[int]) -> None:
    table[("a", 1)] = 1
    table[("a", 1)] = 2
    table[("b", 1)] = 3
    del table[("b", 1)]
    assert journal(table).rows() == [Row("numbers", '["a", 1]', "[2]"), Row("numbers", '["b", 1]', None)]
    journal(table).clear()
    assert not journal(table)


def test_undo_puts_back_what_was_first(table: Table[int]) -> None:
    table[("a",)] = 1
    journal(table).clear()
    table[("a",)] = 2
    table[("b",)] = 3
    table.pop(("a",))
    assert table.pop(("none",)) is None
    journal(table).undo()
    assert table.items() == [(("a",), 1)]
    assert not journal(table)


def test_rows_are_read_back(table: Table[int]) -> None:
    table.load('["ä", 7]', "[5]")
    assert table[("ä", 7)] == 5
    assert ("ä", 7) in table
    assert list(table) == [("ä", 7)]
    assert len(table) == 1
    assert not journal(table)
