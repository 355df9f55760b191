"""Sensors, and the registry of sensors and metrics.

Must not know statistics. Spec: `kafka.metrics.metrics`, `kafka.metrics.stats.sensor` of kafka-python 3.0.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

from kserdes.compat.kafka.errors import QuotaViolationError
from kserdes.compat.kafka.metrics.describing import MetricConfig, MetricName
from kserdes.compat.kafka.metrics.measuring import (
    AbstractCompoundStat,
    AbstractMeasurable,
    AbstractMeasurableStat,
    AbstractStat,
    AnonMeasurable,
    KafkaMetric,
)
from kserdes.compat.kafka.metrics.reporting import AbstractMetricsReporter

__all__ = ["Metrics", "Sensor"]

logger: Final = logging.getLogger("kserdes.compat")
EXPIRY_PERIOD_S: Final = 30.0


class Sensor:
    """Records numbers for the statistics that were added to it; `Metrics.sensor` makes one.

    Raises:
        ValueError: no name, or it is its own parent.
    """

    def __init__(
        self,
        registry: Metrics,
        name: str,
        parents: Sequence[Sensor] | None,
        config: MetricConfig,
        inactive_sensor_expiration_time_seconds: float,
    ) -> None:
        if not name:
            raise ValueError("name must be non-empty")
        self._lock = threading.RLock()
        self._registry = registry
        self._name = name
        self._parents = parents or []
        self._metrics: list[KafkaMetric] = []
        self._stats: list[AbstractStat] = []
        self._config = config
        self._inactive_sensor_expiration_time_ms = inactive_sensor_expiration_time_seconds * 1000
        self._last_record_time = time.monotonic() * 1000
        self._check_forest(set())

    def _check_forest(self, sensors: set[Sensor]) -> None:
        if self in sensors:
            raise ValueError(f"Circular dependency in sensors: {self.name} is its own parent.")
        sensors.add(self)
        for parent in self._parents:
            parent._check_forest(sensors)

    @property
    def name(self) -> str:
        """Its name in the registry."""
        return self._name

    @property
    def metrics(self) -> tuple[KafkaMetric, ...]:
        """Those that were added."""
        return tuple(self._metrics)

    def record(self, value: float = 1.0, time_ms: float | None = None) -> None:
        """Takes a number into all statistics, and into those of its parents.

        Raises:
            QuotaViolationError: a metric is beyond its quota now; the number counts nevertheless, not for parents.
        """
        when_ms = time.monotonic() * 1000 if time_ms is None else time_ms
        self._last_record_time = when_ms
        with self._lock:
            for stat in self._stats:
                stat.record(self._config, value, when_ms)
            self._check_quotas(when_ms)
        for parent in self._parents:
            parent.record(value, when_ms)

    def _check_quotas(self, time_ms: float) -> None:
        for metric in self._metrics:
            quota = metric.config.quota if metric.config else None
            if quota is not None:
                value = metric.value(time_ms)
                if not quota.is_acceptable(value):
                    raise QuotaViolationError(
                        f"'{metric.metric_name}' violated quota. Actual: {int(value)}, Threshold: {int(quota.bound)}"
                    )

    def add_compound(self, compound_stat: AbstractCompoundStat, config: MetricConfig | None = None) -> None:
        """Adds a statistic that makes several metrics.

        Raises:
            ValueError: no statistic, or one of its metrics is registered already.
        """
        if not compound_stat:
            raise ValueError("compound stat must be non-empty")
        self._stats.append(compound_stat)
        for each in compound_stat.stats():
            self._keep(KafkaMetric(each.name, each.stat, config or self._config))

    def add(self, metric_name: MetricName, stat: AbstractMeasurableStat, config: MetricConfig | None = None) -> None:
        """Adds a statistic as a metric; without a configuration it has the sensor's.

        Raises:
            ValueError: a metric of that name is registered already.
        """
        with self._lock:
            self._keep(KafkaMetric(metric_name, stat, config or self._config))
            self._stats.append(stat)

    def _keep(self, metric: KafkaMetric) -> None:
        self._registry.register_metric(metric)
        self._metrics.append(metric)

    def has_expired(self) -> bool:
        """Whether nothing was recorded for as long as it may be idle."""
        return time.monotonic() * 1000 - self._last_record_time > self._inactive_sensor_expiration_time_ms


class Metrics:
    """All sensors and metrics of a program, or of a part of it.

    Args:
        default_config: for those without a configuration of their own.
        reporters: are told of metrics.
        enable_expiration: a thread removes sensors that were idle for too long, until `close`.
    """

    def __init__(
        self,
        default_config: MetricConfig | None = None,
        reporters: list[AbstractMetricsReporter] | None = None,
        enable_expiration: bool = False,
    ) -> None:
        self._lock = threading.RLock()
        self._config = default_config or MetricConfig()
        self._sensors: dict[str, Sensor] = {}
        self._metrics: dict[MetricName, KafkaMetric] = {}
        self._children_sensors: dict[Sensor, list[Sensor]] = {}
        self._reporters = reporters or []
        for reporter in self._reporters:
            reporter.init([])
        self._closing = threading.Event()
        if enable_expiration:
            threading.Thread(target=self._expire, name="kafka-metrics-expiry", daemon=True).start()
        count = self.metric_name("count", "kafka-metrics-count", "total number of registered metrics")
        self.add_metric(count, AnonMeasurable(lambda config, now: len(self._metrics)))

    def _expire(self) -> None:
        while not self._closing.wait(EXPIRY_PERIOD_S):
            self.ExpireSensorTask.run(self)

    @property
    def config(self) -> MetricConfig:
        """For those without one of their own."""
        return self._config

    @property
    def metrics(self) -> dict[MetricName, KafkaMetric]:
        """All metrics by their names."""
        return self._metrics

    def metric_name(
        self, name: str, group: str, description: str = "", tags: dict[str, Any] | None = None
    ) -> MetricName:
        """A name with the tags of the default configuration; given ones come before those."""
        return MetricName(name, group, description, {**self.config.tags, **(tags or {})})

    def get_sensor(self, name: str) -> Sensor | None:
        """A sensor that is there, or None.

        Raises:
            ValueError: no name.
        """
        if not name:
            raise ValueError("name must be non-empty")
        return self._sensors.get(name)

    def sensor(
        self,
        name: str,
        config: MetricConfig | None = None,
        inactive_sensor_expiration_time_seconds: float = sys.maxsize,
        parents: Sequence[Sensor] | None = None,
    ) -> Sensor:
        """The sensor of that name; made if it is not there.

        Args:
            config: for its metrics without one of their own.
            inactive_sensor_expiration_time_seconds: how long it may be idle.
            parents: get every value, too.
        """
        with self._lock:
            sensor = self.get_sensor(name)
            if sensor is None:
                sensor = Sensor(self, name, parents, config or self.config, inactive_sensor_expiration_time_seconds)
                self._sensors[name] = sensor
                for parent in parents or ():
                    self._children_sensors.setdefault(parent, []).append(sensor)
            return sensor

    def remove_sensor(self, name: str) -> None:
        """Removes a sensor, its metrics, and the sensors that it is a parent of."""
        with self._lock:
            sensor = self._sensors.pop(name, None)
            if sensor is None:
                return
            for metric in sensor.metrics:
                self.remove_metric(metric.metric_name)
            logger.debug("removed the sensor %s", name)
            for child in self._children_sensors.pop(sensor, ()):
                self.remove_sensor(child.name)

    def add_metric(
        self, metric_name: MetricName, measurable: AbstractMeasurable, config: MetricConfig | None = None
    ) -> None:
        """Adds a quantity as a metric, without a sensor.

        Raises:
            ValueError: a metric of that name is there.
        """
        self.register_metric(KafkaMetric(metric_name, measurable, config or self.config))

    def remove_metric(self, metric_name: MetricName) -> KafkaMetric | None:
        """Removes a metric, and tells reporters; None if it was not there."""
        with self._lock:
            metric = self._metrics.pop(metric_name, None)
            if metric is not None:
                for reporter in self._reporters:
                    reporter.metric_removal(metric)
            return metric

    def add_reporter(self, reporter: AbstractMetricsReporter) -> None:
        """From now on it is told, first of what is there."""
        with self._lock:
            reporter.init(list(self._metrics.values()))
            self._reporters.append(reporter)

    def register_metric(self, metric: KafkaMetric) -> None:
        """Adds a metric, and tells reporters.

        Raises:
            ValueError: one of that name is there.
        """
        with self._lock:
            if metric.metric_name in self._metrics:
                raise ValueError(f'A metric named "{metric.metric_name}" already exists, cannot register another one.')
            self._metrics[metric.metric_name] = metric
            for reporter in self._reporters:
                reporter.metric_change(metric)

    class ExpireSensorTask:
        """Removes sensors that were idle for too long."""

        @staticmethod
        def run(metrics: Metrics) -> None:
            """Once."""
            for sensor in _all(metrics):
                with sensor._lock:
                    if sensor.has_expired():
                        metrics.remove_sensor(sensor.name)

    def close(self) -> None:
        """Tells reporters, and forgets all metrics."""
        self._closing.set()
        for reporter in self._reporters:
            reporter.close()
        self._metrics.clear()


def _all(metrics: Metrics) -> Iterable[Sensor]:
    with metrics._lock:
        return list(metrics._sensors.values())
