"""The Spark data source `kserdes`: topics as DataFrames, DataFrames as records, through `kafka_core`, without a jar.

Opens nothing in `__init__`: Spark builds and pickles these objects. What `schema()` finds out travels with the pickled
source, so the registry is asked once. API: `pyspark.sql.datasource` (Spark 4.0 and later).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader
from pyspark.sql.types import StructType

from pipeline.columns.schema import spark_fields
from pipeline.source.formats import ReadPlan, plan_read
from pipeline.source.options import ReadOptions
from pipeline.source.readers import FilteringReader, KserdesReader
from pipeline.workers import settle_planner

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceStreamReader, DataSourceStreamWriter, DataSourceWriter


class KserdesSource(DataSource):
    """`spark.read.format("kserdes")`; the options are those of Spark's own Kafka source, see `ReadOptions`."""

    _plan: ReadPlan | None = None

    @classmethod
    def name(cls) -> str:
        return "kserdes"

    def schema(self) -> StructType:
        """The columns; everything that can be wrong with the options is said here, where Spark shows it well."""
        settle_planner()
        return spark_fields(self._planned().arrow_schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        settle_planner()
        plan = self._planned()
        return FilteringReader(plan) if plan.options.push_filters else KserdesReader(plan)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        from pipeline.source.stream import KserdesStreamReader

        return KserdesStreamReader(self._planned())

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        from pipeline.sink.writers import make_writer

        settle_planner()
        return make_writer(dict(self.options), schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        from pipeline.sink.writers import make_stream_writer

        settle_planner()
        return make_stream_writer(dict(self.options), schema, overwrite)

    def _planned(self) -> ReadPlan:
        if self._plan is None:
            self._plan = plan_read(ReadOptions.parse(dict(self.options)))
        return self._plan
