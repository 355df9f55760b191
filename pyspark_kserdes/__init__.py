"""Spark finds the data source `kserdes` by this module's name (`pyspark_*` with a `DefaultSource`)."""

from pipeline.data_source import KserdesSource as DefaultSource

__all__ = ["DefaultSource"]
