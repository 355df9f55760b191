"""Those who are told which metrics there are.

Must not know sensors. Spec: `kafka.metrics.metrics_reporter`, `.dict_reporter` of kafka-python 3.0.
"""

from __future__ import annotations

import abc
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from kserdes.compat.kafka.metrics.measuring import KafkaMetric

__all__ = ["AbstractMetricsReporter", "DictReporter"]


class AbstractMetricsReporter(abc.ABC):
    """Hears of metrics that come and go."""

    @abc.abstractmethod
    def init(self, metrics: list[KafkaMetric]) -> None:
        """Those that are there already."""

    @abc.abstractmethod
    def metric_change(self, metric: KafkaMetric) -> None:
        """A new one, or one that is another now."""

    @abc.abstractmethod
    def metric_removal(self, metric: KafkaMetric) -> Any:
        """One that is no more."""

    @abc.abstractmethod
    def configure(self, configs: Mapping[str, Any]) -> None:
        """Settings."""

    @abc.abstractmethod
    def close(self) -> None:
        """The registry is closed."""


class DictReporter(AbstractMetricsReporter):
    """Metrics by category and name.

    Args:
        prefix: begins every category.
    """

    def __init__(self, prefix: str | None = "") -> None:
        self._lock = threading.Lock()
        self._prefix = prefix or ""
        self._store: dict[str, dict[str, KafkaMetric]] = {}

    def snapshot(self) -> dict[str, dict[str, float]]:
        """Category to name to value, now."""
        with self._lock:
            held = {category: dict(metrics) for category, metrics in self._store.items()}
        return {category: {name: metric.value() for name, metric in each.items()} for category, each in held.items()}

    def init(self, metrics: Iterable[KafkaMetric]) -> None:
        """Takes all of them."""
        for metric in metrics:
            self.metric_change(metric)

    def metric_change(self, metric: KafkaMetric) -> None:
        """Takes it, in the place of one of that name."""
        with self._lock:
            self._store.setdefault(self.get_category(metric), {})[metric.metric_name.name] = metric

    def metric_removal(self, metric: KafkaMetric) -> KafkaMetric | None:
        """Forgets it, and its category with the last one; the metric that was forgotten."""
        with self._lock:
            category = self.get_category(metric)
            held = self._store.get(category, {})
            removed = held.pop(metric.metric_name.name, None)
            if not held:
                self._store.pop(category, None)
            return removed

    def get_category(self, metric: KafkaMetric) -> str:
        """Prefix, group and tags (`a=1,b=2`), with dots between; what is empty is left out."""
        tags = ",".join(f"{name}={value}" for name, value in sorted((metric.metric_name.tags or {}).items()))
        return ".".join(part for part in (self._prefix, metric.metric_name.group, tags) if part)

    def configure(self, configs: Mapping[str, Any]) -> None:
        """There is nothing to set."""

    def close(self) -> None:
        """Reports the metrics it still has."""
