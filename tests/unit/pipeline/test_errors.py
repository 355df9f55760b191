"""pipeline.errors: executors send them home, so they pickle with their facts."""

from __future__ import annotations

import pickle

import pytest

from pipeline.errors import LookupFailedError, OptionError, PipelineError, PlanError, ReadError, RowError


@pytest.mark.parametrize(
    "error",
    [OptionError("o"), PlanError("p"), LookupFailedError("l"), ReadError("r"), RowError(3, "bad magic byte")],
)
def test_errors_travel(error: PipelineError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert isinstance(copy, PipelineError)


def test_a_row_error_says_what_to_do() -> None:
    error = pickle.loads(pickle.dumps(RowError(3, "bad magic byte")))
    assert (error.row, error.reason) == (3, "bad magic byte")
    assert "PERMISSIVE" in str(error)


def test_an_option_error_is_a_value_error() -> None:
    assert issubclass(OptionError, ValueError)
