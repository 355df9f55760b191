"""A metric's name, its window of samples, and its quota.

Must not know values. Spec: `kafka.metrics` of kafka-python 3.0.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

__all__ = ["MetricConfig", "MetricName", "Quota"]


class MetricName:
    """A metric by its name, its group and its tags; the description does not tell metrics apart.

    Args:
        name, group: not empty.
        description: for people.
        tags: further parts of the name.

    Raises:
        ValueError: no name, no group, or tags that are no dict.
    """

    def __init__(
        self, name: str, group: str, description: str | None = None, tags: dict[str, Any] | None = None
    ) -> None:
        if not name or not group:
            raise ValueError("name and group must be non-empty.")
        if tags is not None and not isinstance(tags, dict):
            raise ValueError("tags must be a dict if present.")
        self._name, self._group, self._description = name, group, description
        self._tags = None if tags is None else dict(tags)

    @property
    def name(self) -> str:
        """Of the metric within its group."""
        return self._name

    @property
    def group(self) -> str:
        """The group of the metric."""
        return self._group

    @property
    def description(self) -> str | None:
        """For people."""
        return self._description

    @property
    def tags(self) -> dict[str, Any] | None:
        """Further parts of the name, as a copy; None if none were given."""
        return None if self._tags is None else dict(self._tags)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetricName):
            return False
        return (self._group, self._name, self._tags) == (other._group, other._name, other._tags)

    def __hash__(self) -> int:
        return hash((self._group, self._name, frozenset((self._tags or {}).items())))

    def __str__(self) -> str:
        parts = {"name": self._name, "group": self._group, "description": self._description, "tags": self._tags}
        return f"MetricName({', '.join(f'{name}={value}' for name, value in parts.items())})"


class Quota:
    """A bound that a metric is to stay within."""

    def __init__(self, bound: float, is_upper: bool) -> None:
        self._bound, self._upper = bound, is_upper

    @staticmethod
    def upper_bound(upper_bound: float) -> Quota:
        """At most so much."""
        return Quota(upper_bound, True)

    @staticmethod
    def lower_bound(lower_bound: float) -> Quota:
        """At least so much."""
        return Quota(lower_bound, False)

    def is_upper_bound(self) -> bool:
        """Whether values must be at most the bound, not at least."""
        return self._upper

    @property
    def bound(self) -> float:
        """The number itself."""
        return self._bound

    def is_acceptable(self, value: float) -> bool:
        """Whether a value keeps to it; the bound itself does."""
        return value <= self._bound if self._upper else value >= self._bound

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quota) and (self._bound, self._upper) == (other._bound, other._upper)

    def __hash__(self) -> int:
        return hash((self._bound, self._upper))


class MetricConfig:
    """The settings of a metric.

    Args:
        quota: what it may not exceed; recording beyond it raises.
        samples: how many windows it looks back, from 1 on.
        event_window: values after which a window is full.
        time_window_ms: time after which it is.
        tags: for every name made with this configuration.
    """

    def __init__(
        self,
        quota: Quota | None = None,
        samples: int = 2,
        event_window: int = sys.maxsize,
        time_window_ms: float = 30_000,
        tags: Mapping[str, Any] | None = None,
    ) -> None:
        self.quota = quota
        self._samples = samples
        self.event_window = event_window
        self.time_window_ms = time_window_ms
        self.tags = tags or {}

    @property
    def samples(self) -> int:
        """The number of windows that a metric looks back."""
        return self._samples

    @samples.setter
    def samples(self, value: int) -> None:
        if value < 1:
            raise ValueError("The number of samples must be at least 1.")
        self._samples = value
