"""The Spark side: column functions and the data source `kserdes`, through PySpark, without a jar.

from pipeline import from_registry, tune
frame = spark.read.format("kserdes").option("kafka.bootstrap.servers", "…").option("subscribe", "flights").load()
frame.select(from_registry("value", {"url": "http://…"}, topic="flights").alias("flight"))
"""

from typing import Final

from kafka_core.version import VERSION
from pipeline.errors import (
    LookupFailedError,
    OptionError,
    PipelineError,
    PlanError,
    ReadError,
    RowError,
    SchemaChangedError,
    WriteError,
)

try:
    from pipeline.columns.remembered import forget_plans
    from pipeline.functions.frames import decode_frame, encode_frame
    from pipeline.functions.inspection import explain_schema, infer_schema, register_functions, schema_id
    from pipeline.functions.splitting import split
    from pipeline.functions.udf import from_registry, tune
    from pipeline.functions.writing import to_registry
except ModuleNotFoundError as error:
    if error.name not in ("pyarrow", "pyspark"):
        raise
    raise ModuleNotFoundError(
        f"{error.name} is not installed: pip install pyspark pyarrow pandas (the extra 'spark' of kserdes)",
        name=error.name,
    ) from error

__version__: Final = VERSION

__all__ = [
    "LookupFailedError",
    "OptionError",
    "PipelineError",
    "PlanError",
    "ReadError",
    "RowError",
    "SchemaChangedError",
    "WriteError",
    "decode_frame",
    "encode_frame",
    "explain_schema",
    "forget_plans",
    "from_registry",
    "infer_schema",
    "register_functions",
    "schema_id",
    "split",
    "to_registry",
    "tune",
]
