"""The errors of the Spark side: PipelineError and its kinds.

Knows nothing of Spark: every error must pickle, because executors send theirs to the driver.

    PipelineError
    ├── OptionError        a wrong option of the data source or argument of a function (also a PropertyError)
    ├── PlanError          the plan can't be made: no schema, no topic, no broker
    ├── RowError           FAILFAST met a payload that can't be decoded
    ├── LookupFailedError  an executor needed a schema the job did not bring, and the registry did not answer
    └── ReadError          a partition can't be read to its end
"""

from __future__ import annotations

from kserdes_config.errors import PropertyError

__all__ = ["LookupFailedError", "OptionError", "PipelineError", "PlanError", "ReadError", "RowError"]


class PipelineError(Exception):
    """Root of all errors that `pipeline` raises."""


class OptionError(PipelineError, PropertyError):
    """An option or argument that is unknown, missing or out of range; the text names the nearest valid one."""


class PlanError(PipelineError):
    """The plan can't be made; the cause (registry or broker) is in the text and chained."""


class RowError(PipelineError):
    """A payload that can't be decoded, in mode FAILFAST.

    Attributes:
        row: index of the first such row in its Arrow batch.
        reason: what is wrong with it.
    """

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(row, reason)
        self.row = row
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"row {self.row} of a batch can't be decoded: {self.reason}"
            " (mode PERMISSIVE would make it null; error_field='…' would keep this text beside it)"
        )


class LookupFailedError(PipelineError):
    """The registry could not be asked for a schema id that was registered after the plan was made.

    No row is at fault and a later try may succeed, so the task fails in every mode, and Spark tries it again.
    """


class ReadError(PipelineError):
    """A topic partition can't be read to the end offset that was planned."""
