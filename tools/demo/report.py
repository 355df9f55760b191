"""Prints and draws the demo's results: rates, checks, a table, a picture. Knows nothing of Kafka."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tools.demo.data import CarrierDelay


class Checks:
    """Every number that must agree; the demo's exit code is theirs."""

    def __init__(self) -> None:
        self.failed = 0

    def equal(self, what: str, found: object, expected: object) -> None:
        """Prints one line; a difference counts as a failure."""
        agrees = found == expected
        self.failed += not agrees
        shown = f"{found:,}" if type(found) is int else str(found)
        print(f"  {'ok   ' if agrees else 'WRONG'} {what}: {shown}" + ("" if agrees else f", expected {expected}"))


@contextmanager
def step(title: str, records: int = 0) -> Iterator[None]:
    """Prints how long a step took, and its rate."""
    start = time.perf_counter()
    yield
    seconds = time.perf_counter() - start
    rate = f", {records / seconds:,.0f} records/s" if records else ""
    print(f"{title}: {seconds:.1f} s{rate}", flush=True)


def table(delays: Mapping[str, CarrierDelay]) -> str:
    """Carriers, the latest first."""
    lines = [f"  {'carrier':<30}{'arrivals':>10}{'mean delay, min':>17}"]
    latest_first = sorted(delays.values(), key=lambda item: -item.mean_delay)
    lines += [f"  {item.name:<30}{item.flights:>10,}{item.mean_delay:>17.2f}" for item in latest_first]
    return "\n".join(lines)


def plot(delays: Mapping[str, CarrierDelay], path: Path) -> None:
    """A bar for each carrier's mean delay, saved as a PNG."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    ordered = sorted(delays.values(), key=lambda item: item.mean_delay)
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    colours = ["tab:red" if item.mean_delay > 0 else "tab:green" for item in ordered]
    bars = axes.barh([item.name for item in ordered], [item.mean_delay for item in ordered], color=colours)
    axes.bar_label(bars, fmt="%.1f", padding=3, fontsize=8)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.margins(x=0.1)
    axes.set_xlabel("mean arrival delay, minutes")
    axes.set_title("Departures from New York City, 2013: mean arrival delay by carrier")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
