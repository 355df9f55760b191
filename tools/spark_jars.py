"""The jars of Spark's own connectors, to compare with: from_avro and the Kafka source; pyspark does not bring them.

Fetched by Maven (tests/spark_jars/pom.xml) and kept in `$KSERDES_CACHE`, so only the first call needs the network.
"""

from __future__ import annotations

from pathlib import Path

from tools.maven import JarsUnavailableError, jars


class SparkJarsUnavailableError(RuntimeError):
    """The jars can't be had here; the text says why."""


def spark_jars() -> list[Path]:
    """The jars, fetched if one is not in the cache.

    Raises:
        SparkJarsUnavailableError: Maven is missing or fails; its last words are in the text.
    """
    try:
        folder = jars("spark-connectors", "spark_jars")
    except JarsUnavailableError as error:
        raise SparkJarsUnavailableError(str(error)) from error
    return sorted(folder.glob("*.jar"))
