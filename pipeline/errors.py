"""The errors of the Spark side: PipelineError and its kinds.

Knows nothing of Spark: every error must pickle, because executors send theirs to the driver.

    PipelineError
    ├── OptionError        a wrong option of the data source or argument of a function (also a PropertyError)
    ├── PlanError          the plan can't be made: no schema, no topic, no broker
    ├── RowError           FAILFAST met a payload that can't be decoded
    ├── SchemaChangedError a newer schema has other columns, and the plan was to stop then
    ├── LookupFailedError  an executor needed a schema the job did not bring, and the registry did not answer
    ├── ReadError          a partition can't be read to its end
    └── WriteError         records can't be written, or were not delivered
"""

from __future__ import annotations

from kserdes_base.config.errors import PropertyError


class PipelineError(Exception):
    """Root of all errors that `pipeline` raises."""


class OptionError(PipelineError, PropertyError):
    """An option or argument that is unknown, missing or out of range; the text names the nearest valid one."""


class PlanError(PipelineError):
    """The plan can't be made; the cause (registry or broker) is in the text and chained."""


class RowError(PipelineError):
    """A payload that can't be decoded, or a value that can't be encoded, in mode FAILFAST.

    Attributes:
        row: index of the first such row in its Arrow batch.
        reason: the fault, after the schema id and the path in the value as far as they are known.
        code: why, for programs: the text of a `pipeline.columns.modes.RowCode`; empty if it is not known.
        schema_id: id of the schema the payload names; None if it names none.
        path: where in the value, e.g. `items[3].price`; None if it is not known.
        topic: of the record; it and the next two are known to `decode_frame` and to the source, and None elsewhere.
        partition: of the record.
        offset: of the record.
        verb: `decoded` or `encoded`.
    """

    def __init__(
        self,
        row: int,
        reason: str,
        *,
        code: str = "",
        schema_id: int | None = None,
        path: str | None = None,
        topic: str | None = None,
        partition: int | None = None,
        offset: int | None = None,
        verb: str = "decoded",
    ) -> None:
        super().__init__(row, reason)
        self.row = row
        self.reason = reason
        self.code = code
        self.schema_id = schema_id
        self.path = path
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.verb = verb

    def __str__(self) -> str:
        place = f"row {self.row} of a batch"
        if self.topic is not None:
            place = f"topic {self.topic}, partition {self.partition}, offset {self.offset}"
        if self.verb != "decoded":
            return f"{place} can't be {self.verb}: {self.reason} (mode PERMISSIVE would make it null)"
        return (
            f"{place} can't be decoded: {self.reason}"
            " (mode PERMISSIVE would make it null; error_field='…' would keep this text beside it)"
        )


class SchemaChangedError(PipelineError):
    """evolution="restart" met a schema registered after the plan was made, with other columns.

    Nothing is lost: start the job again, and its plan has the new columns.
    """


class LookupFailedError(PipelineError):
    """The registry could not be asked for a schema id that was registered after the plan was made.

    No row is at fault and a later try may succeed, so the task fails in every mode, and Spark tries it again.
    """


class ReadError(PipelineError):
    """A topic partition can't be read to the end offset that was planned."""


class WriteError(PipelineError):
    """Records of a task can't be written or were not delivered; the task fails, and Spark tries it again."""
