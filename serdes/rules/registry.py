"""The registry of rule executors and actions by name: your own, and those that are built in.

Must not know what they do. Names are those of `confluent_kafka.schema_registry.rule_registry`; unlike there, the
built-in ones need not be registered: each serializer has its own, made when a rule first asks for it.
"""

from __future__ import annotations

import importlib
import threading
from dataclasses import dataclass
from typing import Any, Final

from serdes.rules.model import RuleAction, RuleExecutor

EXECUTORS: Final = {
    "CEL": ("serdes.rules.cel.executor", "CelExecutor"),
    "CEL_FIELD": ("serdes.rules.cel.executor", "CelFieldExecutor"),
    "JSONATA": ("serdes.rules.jsonata", "JsonataExecutor"),
    "ENCRYPT": ("serdes.encryption.executor", "FieldEncryptionExecutor"),
    "ENCRYPT_PAYLOAD": ("serdes.encryption.executor", "EncryptionExecutor"),
}
ACTIONS: Final = {
    "ERROR": ("serdes.rules.model", "ErrorAction"),
    "NONE": ("serdes.rules.model", "NoneAction"),
    "DLQ": ("serdes.rules.dlq", "DlqAction"),
}


@dataclass(frozen=True, slots=True)
class RuleOverride:
    """Overrides for all rules of a type; None leaves the rule's own setting.

    Attributes:
        type: the rules' type.
        on_success: action after a rule that held.
        on_failure: action after one that did not.
        disabled: whether they run at all.
    """

    type: str
    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool | None = None


class RuleRegistry:
    """Executors, actions and overrides by name. Threads may share it.

    Serializers use the global one unless they are given another.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executors: dict[str, RuleExecutor] = {}
        self._actions: dict[str, RuleAction] = {}
        self._overrides: dict[str, RuleOverride] = {}
        self._users = 0

    def retain(self) -> None:
        """Counts one more serializer that uses this registry."""
        with self._lock:
            self._users += 1

    def release(self) -> bool:
        """Counts one serializer less.

        Returns:
            Whether that was the last one: what stands here may be closed.
        """
        with self._lock:
            self._users -= 1
            return self._users == 0

    def register_executor(self, rule_executor: RuleExecutor) -> None:
        """Adds an executor; it replaces one of the same type, also a built-in one."""
        with self._lock:
            self._executors[rule_executor.type()] = rule_executor

    def get_executor(self, name: str) -> RuleExecutor | None:
        """The executor added for a type."""
        with self._lock:
            return self._executors.get(name)

    def get_executors(self) -> list[RuleExecutor]:
        """All added ones."""
        with self._lock:
            return list(self._executors.values())

    def register_action(self, rule_action: RuleAction) -> None:
        """Adds an action; it replaces one of the same type, also a built-in one."""
        with self._lock:
            self._actions[rule_action.type()] = rule_action

    def get_action(self, name: str) -> RuleAction | None:
        """The action added under a name."""
        with self._lock:
            return self._actions.get(name)

    def get_actions(self) -> list[RuleAction]:
        """All added ones."""
        with self._lock:
            return list(self._actions.values())

    def register_override(self, rule_override: RuleOverride) -> None:
        """Adds an override."""
        with self._lock:
            self._overrides[rule_override.type] = rule_override

    def get_override(self, name: str) -> RuleOverride | None:
        """The override for a type."""
        with self._lock:
            return self._overrides.get(name)

    def get_overrides(self) -> list[RuleOverride]:
        """All overrides."""
        with self._lock:
            return list(self._overrides.values())

    def clear(self) -> None:
        """Removes all added executors, actions and overrides."""
        with self._lock:
            self._executors.clear()
            self._actions.clear()
            self._overrides.clear()

    @staticmethod
    def get_global_instance() -> RuleRegistry:
        """The registry that serializers use by default."""
        return _GLOBAL

    @staticmethod
    def register_rule_executor(rule_executor: RuleExecutor) -> None:
        """Adds an executor to the global registry."""
        _GLOBAL.register_executor(rule_executor)

    @staticmethod
    def register_rule_action(rule_action: RuleAction) -> None:
        """Adds an action to the global registry."""
        _GLOBAL.register_action(rule_action)

    @staticmethod
    def register_rule_override(rule_override: RuleOverride) -> None:
        """Adds an override to the global registry."""
        _GLOBAL.register_override(rule_override)


_GLOBAL = RuleRegistry()


def built_in_executor(name: str) -> RuleExecutor | None:
    """A new executor of a built-in type, None if there is none of that name."""
    made: RuleExecutor | None = _make(EXECUTORS, name)
    return made


def built_in_action(name: str) -> RuleAction | None:
    """A new action of a built-in type, None if there is none of that name."""
    made: RuleAction | None = _make(ACTIONS, name)
    return made


def _make(known: dict[str, tuple[str, str]], name: str) -> Any:
    if name not in known:
        return None
    module, kind = known[name]
    return getattr(importlib.import_module(module), kind)()
