"""The cost of an import: CPU time of a new process, less that of one that imports nothing.

`python -m benchmarks.imports` prints milliseconds as the least of several rounds, and the most that the design allows:
of modules, and of the names that a program begins with, ours beside the same ones of confluent-kafka.
Bytecode is cached, as that of an installed package is, whatever the environment says (in a folder of its own).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

ROUNDS = 15
LIMITS_MS: dict[str, int | None] = {
    "kserdes": 30,
    "kafka_core": 60,
    "registry": None,
    "serdes": None,
    "serdes.avro": 120,
    "confluent_kafka": None,
    "confluent_kafka.schema_registry.avro": None,
}
"""Module → the most that its import may cost."""
PROGRAMS: dict[str, tuple[str, int | None]] = {
    "kserdes: producer, Avro, registry": (
        "from kserdes import SerializingProducer, AvroSerializer, SchemaRegistryClient",
        150,
    ),
    "confluent_kafka: producer, Avro, registry": (
        "from confluent_kafka import SerializingProducer; "
        "from confluent_kafka.schema_registry import SchemaRegistryClient; "
        "from confluent_kafka.schema_registry.avro import AvroSerializer",
        None,
    ),
    "kserdes: consumer, Avro, registry": (
        "from kserdes import DeserializingConsumer, AvroDeserializer, SchemaRegistryClient",
        None,
    ),
    "confluent_kafka: consumer, Avro, registry": (
        "from confluent_kafka import DeserializingConsumer; "
        "from confluent_kafka.schema_registry import SchemaRegistryClient; "
        "from confluent_kafka.schema_registry.avro import AvroDeserializer",
        None,
    ),
}
"""The names that a program begins with → the imports, and the most that they may cost."""
CODE = "{}\nimport resource; r = resource.getrusage(resource.RUSAGE_SELF); print(r.ru_utime + r.ru_stime)"


def cpu_ms(bytecode: str, imports: str) -> float:
    """CPU time of a process that runs these imports, with their bytecode in a folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    shown = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE.format(imports)],
        env={**environment, "PYTHONPYCACHEPREFIX": bytecode},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(shown.stdout) * 1000


def main() -> int:
    rows = {name: (f"import {name}", limit) for name, limit in LIMITS_MS.items()} | PROGRAMS
    least = {name: float("inf") for name in ["", *rows]}
    with tempfile.TemporaryDirectory() as bytecode:
        for _ in range(ROUNDS):  # taking turns: a slow moment of the machine hits all alike
            for name in least:
                least[name] = min(least[name], cpu_ms(bytecode, rows[name][0] if name else ""))
    print(f"{'import':<45}{'CPU ms':>8}{'limit':>8}")
    for name, (_, limit) in rows.items():
        cost = least[name] - least[""]
        late = "  over" if limit is not None and cost > limit else ""
        print(f"{name:<45}{cost:>8.1f}{limit or '':>8}{late}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
