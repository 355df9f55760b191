"""Statistics over windows of time: average, count, extremes, rates; and a total over all time.

Must not know names and sensors. A statistic keeps `MetricConfig.samples` windows and begins the oldest one anew when
the newest is full, so a measurement looks back over one window less than it has, and part of one.
Spec: `kafka.metrics.stats` of kafka-python 3.0.
"""

from __future__ import annotations

import abc
import sys
from collections.abc import Sequence
from typing import ClassVar, Final

from kserdes.compat.kafka.metrics.describing import MetricConfig
from kserdes.compat.kafka.metrics.measuring import AbstractMeasurableStat

__all__ = [
    "AbstractSampledStat",
    "Avg",
    "Count",
    "Max",
    "Min",
    "Rate",
    "SampledTotal",
    "TimeUnit",
    "Total",
    "Window",
]


class Window:
    """One window's values."""

    def __init__(self, initial_value: float, now: float) -> None:
        self.initial_value = initial_value
        self.reset(now)

    def reset(self, now: float) -> None:
        """Begins anew."""
        self.event_count = 0
        self.last_window_ms = now
        self.value = self.initial_value

    def is_complete(self, time_ms: float, config: MetricConfig) -> bool:
        """Whether the next value belongs to another window."""
        return self.event_count >= config.event_window or time_ms - self.last_window_ms >= config.time_window_ms


class AbstractSampledStat(AbstractMeasurableStat, abc.ABC):
    """A number made of the windows that are not too old.

    Args:
        initial_value: of a window without values.
    """

    Sample: ClassVar[type[Window]] = Window

    def __init__(self, initial_value: float) -> None:
        self._initial_value = initial_value
        self._samples: list[Window] = []
        self._current = 0

    @abc.abstractmethod
    def update(self, sample: Window, config: MetricConfig, value: float, time_ms: float) -> None:
        """Takes a value into a window."""

    @abc.abstractmethod
    def combine(self, samples: Sequence[Window], config: MetricConfig, now: float) -> float:
        """The number that the windows make."""

    def new_sample(self, time_ms: float) -> Window:
        """A window that begins at that time."""
        return Window(self._initial_value, time_ms)

    def record(self, config: MetricConfig, value: float, time_ms: float) -> None:
        """Takes a value into the newest window, or into a new one if that is full."""
        sample = self.current(time_ms)
        if sample.is_complete(time_ms, config):
            sample = self._advance(config, time_ms)
        self.update(sample, config, float(value), time_ms)
        sample.event_count += 1

    def measure(self, config: MetricConfig, now: float) -> float:
        """The number, without windows that are too old."""
        self.purge_obsolete_samples(config, now)
        return float(self.combine(self._samples, config, now))

    def current(self, time_ms: float) -> Window:
        """The newest window."""
        if not self._samples:
            self._samples.append(self.new_sample(time_ms))
        return self._samples[self._current]

    def oldest(self, now: float) -> Window:
        """The window that began first."""
        self.current(now)
        return min(self._samples, key=lambda sample: sample.last_window_ms)

    def purge_obsolete_samples(self, config: MetricConfig, now: float) -> None:
        """Begins windows anew that are older than all windows together last."""
        for sample in self._samples:
            if now - sample.last_window_ms >= config.samples * config.time_window_ms:
                sample.reset(now)

    def _advance(self, config: MetricConfig, time_ms: float) -> Window:
        self._current = (self._current + 1) % config.samples
        if self._current == len(self._samples):
            self._samples.append(self.new_sample(time_ms))
        else:
            self._samples[self._current].reset(time_ms)
        return self._samples[self._current]


class Avg(AbstractSampledStat):
    """The average of the values; 0 without any."""

    def __init__(self) -> None:
        super().__init__(0.0)

    def update(self, sample: Window, config: MetricConfig, value: float, now: float) -> None:
        """Adds it."""
        sample.value += value

    def combine(self, samples: Sequence[Window], config: MetricConfig, now: float) -> float:
        """Sum by number."""
        count = sum(sample.event_count for sample in samples)
        return sum(sample.value for sample in samples) / count if count else 0.0


class Count(AbstractSampledStat):
    """The number of values."""

    def __init__(self) -> None:
        super().__init__(0.0)

    def update(self, sample: Window, config: MetricConfig, value: float, now: float) -> None:
        """One more."""
        sample.value += 1.0

    def combine(self, samples: Sequence[Window], config: MetricConfig, now: float) -> float:
        """Of all windows."""
        return float(sum(sample.value for sample in samples))


class Max(AbstractSampledStat):
    """The largest value; minus infinity without any."""

    def __init__(self) -> None:
        super().__init__(float("-inf"))

    def update(self, sample: Window, config: MetricConfig, value: float, now: float) -> None:
        """If it is larger."""
        sample.value = max(sample.value, value)

    def combine(self, samples: Sequence[Window], config: MetricConfig, now: float) -> float:
        """Of all windows."""
        return max((sample.value for sample in samples), default=self._initial_value)


class Min(AbstractSampledStat):
    """The smallest value; `sys.maxsize` without any."""

    def __init__(self) -> None:
        super().__init__(float(sys.maxsize))

    def update(self, sample: Window, config: MetricConfig, value: float, now: float) -> None:
        """If it is smaller."""
        sample.value = min(sample.value, value)

    def combine(self, samples: Sequence[Window], config: MetricConfig, now: float) -> float:
        """Of all windows."""
        return min((sample.value for sample in samples), default=self._initial_value)


class SampledTotal(AbstractSampledStat):
    """The sum of the values.

    Raises:
        ValueError: an initial value: it begins with 0.
    """

    def __init__(self, initial_value: float | None = None) -> None:
        if initial_value is not None:
            raise ValueError("initial_value cannot be set on SampledTotal")
        super().__init__(0.0)

    def update(self, sample: Window, config: MetricConfig, value: float, time_ms: float) -> None:
        """Adds it."""
        sample.value += value

    def combine(self, samples: Sequence[Window], config: MetricConfig, now: float) -> float:
        """Of all windows."""
        return float(sum(sample.value for sample in samples))


class Total(AbstractMeasurableStat):
    """The sum of all values there ever were, and of what it begins with."""

    def __init__(self, value: float = 0.0) -> None:
        self._total = value

    def record(self, config: MetricConfig, value: float, now: float) -> None:
        """Adds it."""
        self._total += value

    def measure(self, config: MetricConfig, now: float) -> float:
        """The sum."""
        return float(self._total)


class TimeUnit:
    """Units of rates, as numbers."""

    NANOSECONDS, MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS = range(7)

    @staticmethod
    def get_name(time_unit: int) -> str:
        """A unit in words; kafka-python fails here for every unit that it has."""
        return ("nanosecond", "microsecond", "millisecond", "second", "minute", "hour", "day")[time_unit]


UNITS_IN_MS: Final = {
    TimeUnit.NANOSECONDS: (1_000_000.0, 1.0),
    TimeUnit.MICROSECONDS: (1_000.0, 1.0),
    TimeUnit.MILLISECONDS: (1.0, 1.0),
    TimeUnit.SECONDS: (1.0, 1_000.0),
    TimeUnit.MINUTES: (1.0, 60_000.0),
    TimeUnit.HOURS: (1.0, 3_600_000.0),
    TimeUnit.DAYS: (1.0, 86_400_000.0),
}
"""Unit to how many of it so many milliseconds are: whole numbers, for results are compared with kafka-python's."""


class Rate(AbstractMeasurableStat):
    """Another statistic by time.

    Args:
        time_unit: of TimeUnit.
        sampled_stat: the dividend; by default the sum.
    """

    def __init__(self, time_unit: int = TimeUnit.SECONDS, sampled_stat: AbstractSampledStat | None = None) -> None:
        self._stat = sampled_stat or SampledTotal()
        self._unit = time_unit

    def unit_name(self) -> str:
        """The unit in words."""
        return TimeUnit.get_name(self._unit)

    def record(self, config: MetricConfig, value: float, time_ms: float) -> None:
        """For the statistic inside."""
        self._stat.record(config, value, time_ms)

    def measure(self, config: MetricConfig, now: float) -> float:
        """The statistic divided by the time that its windows last."""
        return float(self._stat.measure(config, now)) / self.convert(self.window_size(config, now))

    def window_size(self, config: MetricConfig, now: float) -> float:
        """The duration of the windows in ms.

        All windows but one count as if they had lasted in full: a second after the start a rate would be much too
        high otherwise.
        """
        self._stat.purge_obsolete_samples(config, now)
        elapsed_ms = now - self._stat.oldest(now).last_window_ms
        missing = config.samples - 1 - int(elapsed_ms / config.time_window_ms)
        return elapsed_ms + max(0, missing) * config.time_window_ms

    def convert(self, time_ms: float) -> float:
        """Milliseconds in the unit of this rate.

        Raises:
            ValueError: there is no such unit.
        """
        if self._unit not in UNITS_IN_MS:
            raise ValueError(f"Unknown unit: {self._unit}")
        units, milliseconds = UNITS_IN_MS[self._unit]
        return time_ms * units / milliseconds
