"""The payload of telemetry is what protobuf's own library reads."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafka_core.broker.telemetry.otlp import PushedMetric, parsed
from kafka_core.protocol.otlp import Metric, Temporality, metrics_data

TEXTS = st.text(st.characters(codec="utf-8"), max_size=200)
LABELS = st.dictionaries(TEXTS, TEXTS, max_size=3)
VALUES = st.floats(allow_nan=False)
TIME_NS = 1_700_000_000_123_000_000
SCOPE = ("kserdes", "1.0")
KINDS = {None: "gauge", Temporality.DELTA: "delta", Temporality.CUMULATIVE: "cumulative"}


@st.composite
def metrics(draw: st.DrawFn) -> list[Metric]:
    """Metrics, those of one name of one kind."""
    kinds = draw(st.dictionaries(TEXTS, st.sampled_from([None, *Temporality]), max_size=4))
    found = []
    for name, kind in kinds.items():
        start_ns = 0 if kind is None else TIME_NS - 5_000_000_000
        labels = draw(st.lists(LABELS, min_size=1, max_size=3))
        found += [Metric(name, draw(VALUES), kind, start_ns, tuple(pairs.items())) for pairs in labels]
    return found


@given(LABELS, metrics())
def test_written_metrics_are_read_back(labels: dict[str, str], told: list[Metric]) -> None:
    read_labels, read = parsed(metrics_data(labels, SCOPE, told, TIME_NS))
    assert read_labels == labels
    assert read == [
        PushedMetric(
            item.name,
            item.value,
            KINDS[item.temporality],
            item.start_ns // 1_000_000,
            TIME_NS // 1_000_000,
            dict(item.attributes),
        )
        for item in told
    ]


def test_a_payload_byte_by_byte() -> None:
    data = metrics_data({}, ("k", "1"), [Metric("m", 1.0)], 1)
    assert data.hex(" ") == (
        "0a 27 0a 00 12 23 0a 06 0a 01 6b 12 01 31 12 19 0a 01 6d 2a 14 0a 12 19 01 00 00 00 00 00 00 00 "
        "21 00 00 00 00 00 00 f0 3f"
    )
