"""kafka-python's library of metrics beside ours: the same calls at the same times, the same numbers."""

from __future__ import annotations

import importlib
import math
import random
import threading
import warnings
from types import SimpleNamespace
from typing import Any

import pytest

from kserdes.compat.kafka import metrics as ours
from kserdes.compat.kafka.errors import QuotaViolationError
from kserdes.compat.kafka.table import DIALECT

pytestmark = pytest.mark.interop
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it reads its schemas by a deprecated function when imported
    theirs = pytest.importorskip("kafka.metrics")

MODULES = [name for name in DIALECT.homes if name == "metrics" or name.startswith("metrics.")]


def names(module: str) -> Any:
    """All names of the modules that stand behind one of theirs."""
    found: dict[str, Any] = {}
    for home in reversed(DIALECT.homes[module]):
        found |= vars(importlib.import_module(home))
    return SimpleNamespace(**found)


def side(package: Any) -> Any:
    """The names that stories use, of one of the two."""
    if package is theirs:
        parts = [importlib.import_module(f"kafka.{name}") for name in MODULES]
    else:
        parts = [names(name) for name in MODULES]
    merged: dict[str, Any] = {}
    for part in parts:
        merged |= vars(part)
    return SimpleNamespace(**merged)


THEIRS, OURS = side(theirs), side(ours)


@pytest.mark.parametrize("module", MODULES)
def test_every_name_is_there(module: str) -> None:
    package = importlib.import_module(f"kafka.{module}")
    offered = getattr(package, "__all__", None) or [
        name for name, value in vars(package).items() if getattr(value, "__module__", "") == package.__name__
    ]
    mine = names(module)
    assert [name for name in offered if not hasattr(mine, name)] == []


def text(value: Any) -> Any:
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def outcome(call: Any, *arguments: Any) -> Any:
    try:
        return text(call(*arguments))
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("seed", range(40))
def test_statistics_over_windows(seed: int) -> None:
    def story(here: Any) -> list[Any]:
        rng = random.Random(seed)
        config = here.MetricConfig(
            samples=rng.choice((1, 2, 3, 5)),
            event_window=rng.choice((2, 10, 10**9)),
            time_window_ms=rng.choice((10, 1000)),
        )
        stats = [here.Avg(), here.Count(), here.Max(), here.Min(), here.SampledTotal(), here.Total(3.0)]
        stats += [here.Rate(time_unit=unit) for unit in range(7)] + [here.Rate(sampled_stat=here.Count())]
        now, seen = 1000.0, []
        for _ in range(60):
            now += rng.choice((0, 1, 7, 400, 5000))
            value = rng.choice((0, 1, -5, 2.5, 1e9))
            for stat in stats:
                if rng.random() < 0.8:
                    stat.record(config, value, now)
                now_or_later = now + rng.choice((1, 3, 3000))
                seen.append(outcome(stat.measure, config, now_or_later))
        return seen

    assert story(OURS) == story(THEIRS)


@pytest.mark.parametrize("seed", range(10))
def test_histograms_and_percentiles(seed: int) -> None:
    def story(here: Any) -> list[Any]:
        rng = random.Random(seed)
        seen: list[Any] = []
        for scheme in (here.Histogram.ConstantBinScheme(12, -5, 5), here.Histogram.LinearBinScheme(10, 100)):
            histogram = here.Histogram(scheme)
            seen += [outcome(histogram.value, 0.5), [scheme.from_bin(number) for number in range(scheme.bins)]]
            for _ in range(50):
                outcome(histogram.record, rng.uniform(-10, 120))
            seen += [histogram.counts, [histogram.value(part / 10) for part in range(11)], str(histogram)]
            histogram.clear()
            seen.append(histogram.counts)
        config = here.MetricConfig(event_window=25, samples=2)
        named = [here.Percentile(here.MetricName(f"p{number}", "g"), number) for number in (25, 50, 75)]
        for sizing, least in ((here.BucketSizing.CONSTANT, -10.0), (here.BucketSizing.LINEAR, 0.0)):
            stat = here.Percentiles(400, sizing, 100.0, least, percentiles=named)
            seen += [each.name.name for each in stat.stats()]
            for number in range(50):  # as many as two windows hold: none begins anew
                stat.record(config, rng.uniform(0, 100), 1000 + number)
                seen += [text(each.stat.measure(config, 1000 + number)) for each in stat.stats()]
                seen.append(text(stat.measure(config, 1000 + number)))
        seen += [outcome(here.Percentiles, 400, 7, 1.0), outcome(here.Percentiles, 400, 1, 1.0, 0.5)]
        seen += [outcome(here.Histogram.ConstantBinScheme, 1, 0, 1), outcome(scheme.to_bin, -1)]
        return seen

    assert story(OURS) == story(THEIRS)


def test_a_window_that_begins_anew_forgets_its_values() -> None:
    """Theirs keeps them in the histogram, and percentiles are those of values long gone."""
    stat, config = OURS.Percentiles(400, 0, 100.0, 0.0), OURS.MetricConfig(event_window=10, samples=2)
    for value in (5, 5, 90, 90):
        for _ in range(10):
            stat.record(config, value, 1000)
    assert stat.value(config, 1000, 0.1) > 80
    assert OURS.Rate().unit_name() == "second"  # theirs looks the number up among names


def test_names_bounds_and_configurations() -> None:
    def story(here: Any) -> list[Any]:
        name = here.MetricName("n", "g", "for people", {"a": 1})
        same = here.MetricName("n", "g", "otherwise", {"a": 1})
        others = [here.MetricName("n", "g"), here.MetricName("m", "g", "", {"a": 1}), here.MetricName("n", "h"), None]
        tags = name.tags
        tags["b"] = 2
        seen = [str(name), name == same, hash(name) == hash(same), [name == each for each in others], name.tags]
        seen += [outcome(here.MetricName, *each) for each in (("", "g"), ("n", ""), ("n", "g", "", [1]))]
        upper, lower = here.Quota.upper_bound(5), here.Quota.lower_bound(5)
        seen += [[quota.is_acceptable(value) for value in (4, 5, 6)] for quota in (upper, lower)]
        seen += [upper == here.Quota(5, True), upper == lower, hash(upper) == hash(here.Quota(5, True)), lower.bound]
        config = here.MetricConfig()
        seen += [config.samples, config.quota, config.time_window_ms, config.event_window, config.tags]
        seen.append(outcome(setattr, config, "samples", 0))
        seen += [outcome(here.SampledTotal, 1.0), outcome(here.KafkaMetric, None, here.Avg(), config)[0]]
        seen.append(outcome(here.KafkaMetric, name, None, config))
        return seen

    assert story(OURS) == story(THEIRS)


def test_sensors_their_parents_and_quotas() -> None:
    def story(here: Any) -> list[Any]:
        heard: list[Any] = []

        class Reporter(here.AbstractMetricsReporter):  # type: ignore[misc,name-defined]
            def init(self, metrics: Any) -> None:
                heard.append(("init", sorted(each.metric_name.name for each in metrics)))

            def metric_change(self, metric: Any) -> None:
                heard.append(("change", metric.metric_name.name))

            def metric_removal(self, metric: Any) -> None:
                heard.append(("removal", metric.metric_name.name))

            def configure(self, configs: Any) -> None:
                heard.append(("configure", configs))

            def close(self) -> None:
                heard.append("close")

        config = here.MetricConfig(tags={"client": "c"}, event_window=5)
        metrics = here.Metrics(config, [Reporter()])
        told = here.DictReporter("prefix")
        top = metrics.sensor("top")
        middle = metrics.sensor("middle", parents=[top])
        leaf = metrics.sensor("leaf", parents=[middle], inactive_sensor_expiration_time_seconds=-1)
        for sensor in (top, middle, leaf):
            sensor.add(metrics.metric_name(f"{sensor.name}.count", "g", "", {"x": sensor.name}), here.Count())
        top.add_compound(
            here.Percentiles(400, 0, 10.0, percentiles=[here.Percentile(metrics.metric_name("p", "g"), 50)])
        )
        metrics.add_reporter(told)
        for sensor, value in ((top, 1), (middle, 2), (leaf, 3), (leaf, 4)):
            sensor.record(value, 1000)
        seen: list[Any] = [{str(name): text(metric.value(1000)) for name, metric in metrics.metrics.items()}]
        limit = here.MetricConfig(quota=here.Quota.upper_bound(2), event_window=100)
        bounded = metrics.sensor("bounded", parents=[top])
        bounded.add(metrics.metric_name("bounded", "g"), here.Total(), limit)
        seen += [outcome(bounded.record, 1.0, 1000), outcome(bounded.record, 1.5, 1000)[0]]
        seen.append(top.metrics[0].value(1000))
        seen += [metrics.sensor("top") is top, metrics.get_sensor("none"), outcome(metrics.get_sensor, "")]
        seen.append(outcome(top.add, metrics.metric_name("bounded", "g"), here.Avg())[0])
        seen.append(outcome(top.add_compound, None))
        categories = told.snapshot()
        seen.append({category: sorted(each) for category, each in categories.items()})
        here.Metrics.ExpireSensorTask.run(metrics)
        seen += [metrics.get_sensor("leaf"), leaf.has_expired(), top.has_expired()]
        metrics.remove_sensor("middle")
        metrics.remove_sensor("top")
        metrics.remove_sensor("top")
        seen += [sorted(each.name for each in metrics.metrics), metrics.get_sensor("bounded")]
        seen.append(metrics.remove_metric(metrics.metric_name("none", "g")))
        seen.append({category: sorted(each) for category, each in told.snapshot().items()})
        metrics.close()
        return [*seen, heard, len(metrics.metrics)]

    assert story(OURS) == story(THEIRS)


def test_recording_beyond_a_bound_is_the_dialects_error() -> None:
    metrics = OURS.Metrics()
    sensor = metrics.sensor("s")
    sensor.add(metrics.metric_name("n", "g"), OURS.Total(), OURS.MetricConfig(quota=OURS.Quota.lower_bound(5)))
    with pytest.raises(QuotaViolationError, match=r"'MetricName\(name=n, .*' violated quota\. Actual: 1, Threshold: 5"):
        sensor.record(1)


def test_the_thread_that_removes_idle_sensors_ends() -> None:
    before = set(threading.enumerate())  # other tests' clients start and end theirs meanwhile
    metrics = OURS.Metrics(enable_expiration=True)
    (started,) = [thread for thread in set(threading.enumerate()) - before if thread.name == "kafka-metrics-expiry"]
    metrics.close()
    started.join(60)
    assert not started.is_alive()
