"""The Spark side: column functions and the data source `kserdes`, through PySpark, without a jar.

from pipeline import from_registry, tune
frame = spark.read.format("kserdes").option("kafka.bootstrap.servers", "…").option("subscribe", "flights").load()
frame.select(from_registry("value", {"url": "http://…"}, topic="flights").alias("flight"))
"""

from pipeline.errors import LookupFailedError, OptionError, PipelineError, PlanError, ReadError, RowError
from pipeline.udf import from_registry, tune

__all__ = [
    "LookupFailedError",
    "OptionError",
    "PipelineError",
    "PlanError",
    "ReadError",
    "RowError",
    "from_registry",
    "tune",
]
