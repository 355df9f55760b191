"""The Spark side: column functions and the data source `kserdes`, through PySpark, without a jar.

from pipeline import from_registry, tune
frame = spark.read.format("kserdes").option("kafka.bootstrap.servers", "…").option("subscribe", "flights").load()
frame.select(from_registry("value", {"url": "http://…"}, topic="flights").alias("flight"))

Every name is imported at its first use (PEP 562): Spark starts several Python processes for a job, and most of them
need little of what is here.
"""

import importlib.util
from typing import TYPE_CHECKING, Final

from kserdes_base.lazy import public_names
from kserdes_base.neighbours import require_own
from kserdes_base.version import VERSION

if TYPE_CHECKING:
    from pipeline.columns.remembered import forget_plans
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
    from pipeline.functions.frames import decode_frame, encode_frame
    from pipeline.functions.inspection import explain_schema, infer_schema, register_functions, schema_id
    from pipeline.functions.splitting import split
    from pipeline.functions.udf import from_registry, tune
    from pipeline.functions.writing import to_registry

require_own(("kafka_core", "registry", "serdes"))
if importlib.util.find_spec("pyarrow") is None:
    raise ModuleNotFoundError(
        "pyarrow is not installed: pip install pyspark pyarrow pandas (the extra 'spark' of kserdes)", name="pyarrow"
    )

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

HOMES: Final = {
    "pipeline.columns.remembered": ("forget_plans",),
    "pipeline.errors": (
        "LookupFailedError",
        "OptionError",
        "PipelineError",
        "PlanError",
        "ReadError",
        "RowError",
        "SchemaChangedError",
        "WriteError",
    ),
    "pipeline.functions.frames": ("decode_frame", "encode_frame"),
    "pipeline.functions.inspection": ("explain_schema", "infer_schema", "register_functions", "schema_id"),
    "pipeline.functions.splitting": ("split",),
    "pipeline.functions.udf": ("from_registry", "tune"),
    "pipeline.functions.writing": ("to_registry",),
}

if not TYPE_CHECKING:  # type checkers read the imports above, and know a misspelt name
    __getattr__, __dir__ = public_names(__name__, HOMES)
