"""Histograms, and percentiles over windows that are read from them.

Must not know sensors. Spec: `kafka.metrics.stats.histogram`, `.percentiles` of kafka-python 3.0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol

from kserdes.compat.kafka.metrics.describing import MetricConfig, MetricName
from kserdes.compat.kafka.metrics.measuring import AbstractCompoundStat, AnonMeasurable, NamedMeasurable
from kserdes.compat.kafka.metrics.stats import AbstractSampledStat, Window

__all__ = ["BucketSizing", "Histogram", "Percentile", "Percentiles"]


class BinScheme(Protocol):
    """A division of values into bins."""

    @property
    def bins(self) -> int:
        """The number of bins."""
        ...

    def from_bin(self, b: int) -> float:
        """The beginning of a bin."""
        ...

    def to_bin(self, x: float) -> int:
        """The bin of a value."""
        ...


class ConstantBinScheme:
    """Bins of one size from `min_val` to `max_val`, one more for what is below and one for what is above.

    Raises:
        ValueError: less than two bins.
    """

    def __init__(self, bins: int, min_val: float, max_val: float) -> None:
        if bins < 2:
            raise ValueError("Must have at least 2 bins.")
        self.bins = int(bins)
        self._min, self._max = float(min_val), float(max_val)
        self._width = (max_val - min_val) / (bins - 2)

    def from_bin(self, b: int) -> float:
        """The beginning of a bin; minus infinity for the first, infinity for the last."""
        if b == 0:
            return -math.inf
        return math.inf if b == self.bins - 1 else self._min + (b - 1) * self._width

    def to_bin(self, x: float) -> int:
        """The bin of a value."""
        if x < self._min:
            return 0
        return self.bins - 1 if x > self._max else int((x - self._min) / self._width + 1)


class LinearBinScheme:
    """Bins from 0 to `max_val`, each as much larger than the one before it; one more for what is above."""

    def __init__(self, num_bins: int, max_val: float) -> None:
        self.bins = num_bins
        self._max = max_val
        self._scale = max_val / (num_bins * (num_bins - 1) / 2)

    def from_bin(self, b: int) -> float:
        """The end of a bin; infinity for the last."""
        return math.inf if b == self.bins - 1 else b * (b + 1.0) / 2.0 * self._scale

    def to_bin(self, x: float) -> int:
        """The bin of a value.

        Raises:
            ValueError: below 0.
        """
        if x < 0.0:
            raise ValueError("Values less than 0.0 not accepted.")
        return self.bins - 1 if x > self._max else int(-0.5 + math.sqrt(2.0 * x / self._scale + 0.25))


class Histogram:
    """The counts of values per bin."""

    ConstantBinScheme = ConstantBinScheme
    LinearBinScheme = LinearBinScheme

    def __init__(self, bin_scheme: BinScheme) -> None:
        self._scheme = bin_scheme
        self._hist = [0.0] * bin_scheme.bins
        self._count = 0.0

    def record(self, value: float) -> None:
        """One more in its bin."""
        self._hist[self._scheme.to_bin(value)] += 1.0
        self._count += 1.0

    def value(self, quantile: float) -> float:
        """The bin below which that part (0 to 1) of the values is; infinity for the last, NaN without values."""
        if not self._count:
            return math.nan
        seen = 0.0
        for number, count in enumerate(self._hist[:-1]):
            seen += count
            if seen / self._count > float(quantile):
                return self._scheme.from_bin(number)
        return math.inf

    @property
    def counts(self) -> list[float]:
        """By bin."""
        return self._hist

    def clear(self) -> None:
        """Forgets all values."""
        self._hist[:] = [0.0] * len(self._hist)
        self._count = 0.0

    def __str__(self) -> str:
        bins = [f"{self._scheme.from_bin(number):.10f}:{count:.0f}" for number, count in enumerate(self._hist[:-1])]
        return f"{{{','.join([*bins, f'inf:{self._hist[-1]}'])}}}"


class Percentile:
    """One percentile, 0 to 100, and the name of its metric."""

    def __init__(self, metric_name: MetricName, percentile: float) -> None:
        self._metric_name, self._percentile = metric_name, float(percentile)

    @property
    def name(self) -> MetricName:
        """Of the metric."""
        return self._metric_name

    @property
    def percentile(self) -> float:
        """Of 100."""
        return self._percentile


class BucketSizing:
    """Whether bins are of one size, or grow."""

    CONSTANT = 0
    LINEAR = 1


class HistogramWindow(Window):
    """A window with a histogram."""

    def __init__(self, scheme: BinScheme, now: float) -> None:
        self.histogram = Histogram(scheme)
        super().__init__(0.0, now)

    def reset(self, now: float) -> None:
        """Begins anew; its values go with their number, which kafka-python keeps apart."""
        super().reset(now)
        self.histogram.clear()


class Percentiles(AbstractSampledStat, AbstractCompoundStat):
    """Percentiles over windows.

    Args:
        size_in_bytes: four bytes are a bin.
        bucketing: of BucketSizing.
        max_val, min_val: what the bins reach over; growing ones begin with 0.
        percentiles: those to measure.

    Raises:
        ValueError: growing bins that don't begin with 0, or another sizing.
    """

    HistogramSample: ClassVar[type[HistogramWindow]] = HistogramWindow

    def __init__(
        self,
        size_in_bytes: float,
        bucketing: int,
        max_val: float,
        min_val: float = 0.0,
        percentiles: Sequence[Percentile] | None = None,
    ) -> None:
        super().__init__(0.0)
        self._percentiles = percentiles or []
        self._buckets = int(size_in_bytes / 4)
        self._bin_scheme: BinScheme
        if bucketing == BucketSizing.CONSTANT:
            self._bin_scheme = ConstantBinScheme(self._buckets, min_val, max_val)
        elif bucketing == BucketSizing.LINEAR:
            if min_val != 0.0:
                raise ValueError("Linear bucket sizing requires min_val to be 0.0.")
            self._bin_scheme = LinearBinScheme(self._buckets, max_val)
        else:
            raise ValueError(f"Unknown bucket type: {bucketing}")

    def stats(self) -> list[NamedMeasurable]:
        """One for each percentile."""
        return [NamedMeasurable(each.name, AnonMeasurable(self._at(each.percentile))) for each in self._percentiles]

    def _at(self, percentile: float) -> Callable[[MetricConfig, float], float]:
        return lambda config, now: self.value(config, now, percentile / 100.0)

    def value(self, config: MetricConfig, now: float, quantile: float) -> float:
        """The bin below which that part (0 to 1) of the values is; NaN without values."""
        self.purge_obsolete_samples(config, now)
        count = sum(sample.event_count for sample in self._samples)
        if not count:
            return math.nan
        seen = 0.0
        for number in range(self._buckets):
            for sample in self._samples:
                assert isinstance(sample, HistogramWindow)
                seen += sample.histogram.counts[number]
                if seen / count > float(quantile):
                    return self._bin_scheme.from_bin(number)
        return math.inf

    def combine(self, samples: Sequence[Window], config: MetricConfig, now: float) -> float:
        """The median."""
        return self.value(config, now, 0.5)

    def new_sample(self, time_ms: float) -> HistogramWindow:
        """A window that begins at that time."""
        return HistogramWindow(self._bin_scheme, time_ms)

    def update(self, sample: Window, config: MetricConfig, value: float, time_ms: float) -> None:
        """One more in its bin."""
        assert isinstance(sample, HistogramWindow)
        sample.histogram.record(value)
