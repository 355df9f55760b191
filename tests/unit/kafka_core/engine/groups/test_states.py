"""The table of moves of a membership: every state can be left, and every one can be reached."""

from __future__ import annotations

from kafka_core.engine.groups.assignors import choose
from kafka_core.engine.groups.states import BEATING, MOVES, GroupSettings, State


def test_every_state_has_a_row_and_can_be_reached_and_left() -> None:
    assert set(MOVES) == set(State)
    assert set().union(*MOVES.values()) == set(State)
    assert all(MOVES[state] for state in State)
    assert all(state not in targets for state, targets in MOVES.items())


def test_leaving_is_possible_from_every_state_of_a_member() -> None:
    assert all(State.LEAVING in MOVES[state] for state in State if state not in (State.IDLE, State.LEAVING))
    assert {state for state in State if State.LOSING in MOVES[state]} >= BEATING


def test_a_group_is_cooperative_only_if_all_its_assignors_are() -> None:
    assert GroupSettings("g", choose(["cooperative-sticky"])).cooperative
    assert not GroupSettings("g", choose(["cooperative-sticky", "range"])).cooperative
