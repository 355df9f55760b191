"""Quantities that can be measured, and a metric: one of them under a name.

Must not know sensors. Times are milliseconds of `time.monotonic`, or of whatever clock the caller records with.
Spec: `kafka.metrics` of kafka-python 3.0.
"""

from __future__ import annotations

import abc
import time
from collections.abc import Callable

from kserdes.compat.kafka.metrics.describing import MetricConfig, MetricName

__all__ = [
    "AbstractCompoundStat",
    "AbstractMeasurable",
    "AbstractMeasurableStat",
    "AbstractStat",
    "AnonMeasurable",
    "KafkaMetric",
    "NamedMeasurable",
]


class AbstractStat(abc.ABC):
    """Something that is computed from the values that a sensor records."""

    @abc.abstractmethod
    def record(self, config: MetricConfig, value: float, time_ms: float) -> None:
        """Takes a value into account."""


class AbstractMeasurable(abc.ABC):
    """Something that has a value at every moment."""

    @abc.abstractmethod
    def measure(self, config: MetricConfig, now: float) -> float:
        """The value at a time."""


class AbstractMeasurableStat(AbstractStat, AbstractMeasurable, abc.ABC):
    """A statistic that is one number."""


class AnonMeasurable(AbstractMeasurable):
    """A function as a quantity; it is called with the configuration and the time."""

    def __init__(self, measure_fn: Callable[[MetricConfig, float], float]) -> None:
        self._measure_fn = measure_fn

    def measure(self, config: MetricConfig, now: float) -> float:
        """The function's value, as a float."""
        return float(self._measure_fn(config, now))


class NamedMeasurable:
    """One of the quantities of a compound statistic, with the metric's name for it."""

    def __init__(self, metric_name: MetricName, measurable_stat: AbstractMeasurable) -> None:
        self._name, self._stat = metric_name, measurable_stat

    @property
    def name(self) -> MetricName:
        """Of the metric."""
        return self._name

    @property
    def stat(self) -> AbstractMeasurable:
        """The quantity."""
        return self._stat


class AbstractCompoundStat(AbstractStat, abc.ABC):
    """A statistic that is several numbers, such as percentiles."""

    @abc.abstractmethod
    def stats(self) -> list[NamedMeasurable]:
        """All of them."""


class KafkaMetric:
    """A quantity under a name.

    Raises:
        ValueError: no name, or no quantity.
    """

    def __init__(self, metric_name: MetricName, measurable: AbstractMeasurable, config: MetricConfig) -> None:
        if not metric_name:
            raise ValueError("metric_name must be non-empty")
        if not measurable:
            raise ValueError("measurable must be non-empty")
        self._metric_name, self._measurable, self.config = metric_name, measurable, config

    @property
    def metric_name(self) -> MetricName:
        """The metric's name."""
        return self._metric_name

    @property
    def measurable(self) -> AbstractMeasurable:
        """The object that measures."""
        return self._measurable

    def value(self, time_ms: float | None = None) -> float:
        """The value at a time; without one, now."""
        return self._measurable.measure(self.config, time.monotonic() * 1000 if time_ms is None else time_ms)
