"""The worker for our dialect of kafka-python: kafka-python's own program, with one import changed."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from common import main

from kserdes.compat import confluent

confluent.install("kafka")

from kafka_python_worker import consume, produce  # noqa: E402

if __name__ == "__main__":
    main({"produce": produce, "consume": consume})
