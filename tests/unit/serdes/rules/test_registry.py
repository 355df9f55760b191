"""serdes.rules.registry: executors and actions by name."""

from __future__ import annotations

import pytest

from serdes.rules import NoneAction, RuleOverride, RuleRegistry
from serdes.rules.jsonata import JsonataExecutor
from serdes.rules.registry import ACTIONS, EXECUTORS, built_in_action, built_in_executor


@pytest.fixture(autouse=True)
def _clean() -> None:
    RuleRegistry.get_global_instance().clear()


def test_added_executors_are_found_by_type_until_cleared() -> None:
    registry = RuleRegistry()
    executor, action, override = JsonataExecutor(), NoneAction(), RuleOverride("CEL", disabled=True)
    registry.register_executor(executor)
    registry.register_action(action)
    registry.register_override(override)
    assert registry.get_executor("JSONATA") is executor
    assert registry.get_action("NONE") is action
    assert registry.get_override("CEL") is override
    assert (registry.get_executors(), registry.get_actions(), registry.get_overrides()) == (
        [executor],
        [action],
        [override],
    )
    registry.clear()
    assert registry.get_executor("JSONATA") is registry.get_action("NONE") is registry.get_override("CEL") is None


def test_the_global_one_is_shared() -> None:
    JsonataExecutor.register()
    RuleRegistry.register_rule_action(NoneAction())
    RuleRegistry.register_rule_override(RuleOverride("CEL"))
    found = RuleRegistry.get_global_instance()
    assert found.get_executor("JSONATA") is not None
    assert found.get_action("NONE") is not None
    assert found.get_override("CEL") is not None
    found.clear()


@pytest.mark.parametrize("name", EXECUTORS)
def test_built_in_executors_have_the_type_they_are_found_by(name: str) -> None:
    made = built_in_executor(name)
    assert made is not None
    assert made.type() == name
    assert built_in_executor(name) is not made


@pytest.mark.parametrize("name", ACTIONS)
def test_built_in_actions_have_the_type_they_are_found_by(name: str) -> None:
    made = built_in_action(name)
    assert made is not None
    assert made.type() == name


def test_there_is_no_other() -> None:
    assert built_in_executor("NOPE") is None
    assert built_in_action("NOPE") is None


def test_users_of_a_rule_registry_are_counted() -> None:
    found = RuleRegistry()
    found.retain()
    found.retain()
    assert [found.release(), found.release()] == [False, True]
