"""confluent_kafka's modules by their names, on ours: code that imports confluent_kafka runs unchanged.

    from kserdes.compat import confluent
    confluent.install()          # before the first `import confluent_kafka`
    from confluent_kafka import Producer

or, without touching the program, `python -m kserdes.compat.confluent script.py …`. kafka-python's `kafka` and
`aiokafka` are served as well. What of these packages is not here says so where it is imported;
docs/guide/migrating*.md say what behaves differently. `table` maps the modules to ours; `client`, `schema_registry`,
`serdes` and `aws` have the names that no library has. Must not hold any behaviour itself.
"""

from __future__ import annotations

from typing import Final

from kserdes.compat import aliases
from kserdes.compat.aiokafka.table import DIALECT as AIOKAFKA
from kserdes.compat.aliases import Dialect
from kserdes.compat.confluent.schema_registry import http_mocks
from kserdes.compat.confluent.table import HOMES, RENAMED, ROOT
from kserdes.compat.kafka.table import DIALECT as KAFKA

__all__ = ["DIALECTS", "install"]

DIALECTS: Final = {
    dialect.root: dialect for dialect in (Dialect(ROOT, HOMES, "docs/guide/migrating.md", RENAMED), KAFKA, AIOKAFKA)
}
"""The clients whose names can be served."""


def install(*roots: str) -> None:
    """From now on `import confluent_kafka`, `kafka` and `aiokafka` give kserdes. May be called again.

    Args:
        *roots: only these packages; by default all of DIALECTS.

    Raises:
        StateError: one of the real packages has been imported already, and objects of both would mix.
    """
    aliases.install([DIALECTS[root] for root in roots or DIALECTS])
    http_mocks.install()
