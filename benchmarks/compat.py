"""Pairs of Avro schemas judged per second, parse included.

`python -m benchmarks.compat [pairs]` prints the median of several rounds, for a small, a middle and a wide schema. The
goal is 200 pairs/s (1,000 pairs in 5 s).
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from registry import Schema
from registry.compat import check
from registry.schemas.canonical import canonical_text

ORDER = (Path(__file__).parent.parent / "schemas" / "order.avsc").read_text()
ROUNDS = 5


def wide(fields: int) -> str:
    """A record with many fields, a tenth of them nested records."""
    made: list[dict[str, Any]] = []
    for at in range(fields):
        inner = {"type": "record", "name": f"I{at}", "fields": [{"name": "x", "type": "long"}]}
        made.append({"name": f"f{at}", "type": ["null", inner if at % 10 == 0 else "string"], "default": None})
    return json.dumps({"type": "record", "name": "Wide", "namespace": "x", "fields": made})


def changed(text: str) -> str:
    """The schema with one more optional field, as most new versions are."""
    node = json.loads(text)
    node["fields"].append({"name": "added", "type": ["null", "string"], "default": None})
    return json.dumps(node)


def rate(text: str, pairs: int) -> tuple[float, float]:
    """Pairs judged at level FULL, and texts brought to their stored form, per second."""
    old, new = Schema(text), Schema(changed(text))
    judged, stored = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(pairs):
            check(new, [old], "FULL")
        judged.append(pairs / (time.perf_counter() - start))
        start = time.perf_counter()
        for _ in range(pairs):
            canonical_text(new)
        stored.append(pairs / (time.perf_counter() - start))
    return statistics.median(judged), statistics.median(stored)


def main() -> None:
    """Prints the table."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"{'schema':24} {'pairs/s':>10} {'canonical texts/s':>18}")
    for name, text in (("schemas/order.avsc", ORDER), ("20 fields", wide(20)), ("200 fields", wide(200))):
        judged, stored = rate(text, max(1, pairs // (1 + len(text) // 5_000)))
        print(f"{name:24} {judged:10,.0f} {stored:18,.0f}")


if __name__ == "__main__":
    main()
