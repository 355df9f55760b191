"""The cost of an import: CPU time of a new process, less that of one that imports nothing.

`python -m benchmarks.imports` prints milliseconds as the least of several rounds, and the most that the design allows.
Bytecode is cached, as that of an installed package is, whatever the environment says (in a folder of its own).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

ROUNDS = 15
LIMITS_MS = {
    "kserdes": 30,
    "kafka_core": 60,
    "registry": None,
    "serdes": None,
    "serdes.avro": 120,
    "confluent_kafka": None,
    "confluent_kafka.schema_registry.avro": None,
}
CODE = "import resource{}; r = resource.getrusage(resource.RUSAGE_SELF); print(r.ru_utime + r.ru_stime)"


def cpu_ms(bytecode: str, *modules: str) -> float:
    """CPU time of a process that imports these modules, with their bytecode in a folder."""
    code = CODE.format("".join(f", {module}" for module in modules))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    shown = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**environment, "PYTHONPYCACHEPREFIX": bytecode},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(shown.stdout) * 1000


def main() -> int:
    names = list(LIMITS_MS)
    least = {name: float("inf") for name in ["", *names]}
    with tempfile.TemporaryDirectory() as bytecode:
        for _ in range(ROUNDS):  # taking turns: a slow moment of the machine hits all alike
            for name in least:
                least[name] = min(least[name], cpu_ms(bytecode, *filter(None, name.split(", "))))
    print(f"{'import':<40}{'CPU ms':>8}{'limit':>8}")
    for name in names:
        cost, limit = least[name] - least[""], LIMITS_MS[name]
        late = "  over" if limit is not None and cost > limit else ""
        print(f"{name:<40}{cost:>8.1f}{limit or '':>8}{late}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
