"""The jars of Spark's own connectors, to compare with: from_avro and the Kafka source; pyspark does not bring them.

Fetched by Maven (tests/spark_jars/pom.xml) and kept in `$KSERDES_CACHE`, so only the first call needs the network.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Final

from tools.maven import JarsUnavailableError, jars

VERSIONS: Final = {
    "4.0": {"avro_version": "4.0.1", "kafka_version": "4.0.1", "token_version": "4.0.0"},
    "4.1": {"avro_version": "4.1.1", "kafka_version": "4.1.1", "token_version": "4.1.1"},
}
"""Spark → its connectors, where the ones that the pom.xml names are too new."""


class SparkJarsUnavailableError(RuntimeError):
    """The jars can't be had here; the text says why."""


def spark_jars() -> list[Path]:
    """The jars, fetched if one is not in the cache.

    Raises:
        SparkJarsUnavailableError: Maven is missing or fails; its last words are in the text.
    """
    try:
        wanted = VERSIONS.get(importlib.metadata.version("pyspark").rpartition(".")[0])
        if wanted is None:
            folder = jars("spark-connectors", "spark_jars")
        else:
            folder = jars(f"spark-connectors-{wanted['kafka_version']}", "spark_jars", **wanted)
    except JarsUnavailableError as error:
        raise SparkJarsUnavailableError(str(error)) from error
    return sorted(folder.glob("*.jar"))
