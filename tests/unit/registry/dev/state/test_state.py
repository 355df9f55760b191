from __future__ import annotations

from registry.compat import Level
from registry.dev.state.settings import Settings
from registry.dev.state.state import Association, State, Version
from registry.models import Schema

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
