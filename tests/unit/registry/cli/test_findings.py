from __future__ import annotations

import pytest

from registry.cli.findings import FileResult, Finding, Report, Severity, Status, Unusable

ERROR = Finding("KIND", "text")
NOTE = Finding("KIND", "text", severity=Severity.NOTE)


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([], 0),
        ([FileResult("a", Status.OK), FileResult("b", Status.NEW)], 0),
        ([FileResult("a", Status.DELETED, (NOTE,))], 0),
        ([FileResult("a", Status.DELETED, (ERROR,))], 1),
        ([FileResult("a", Status.OK), FileResult("b", Status.INCOMPATIBLE, (ERROR,))], 1),
        ([FileResult("a", Status.INCOMPATIBLE, (ERROR,)), FileResult("b", Status.UNUSABLE, (ERROR,))], 2),
    ],
)
def test_the_exit_status_is_that_of_the_worst_file(results: list[FileResult], code: int) -> None:
    assert Report("check", results).exit_code == code


def test_an_unusable_file_has_one_finding_at_its_place() -> None:
    result = FileResult.unusable("a.avsc", Unusable("broken", 3, 7, "NOT_JSON"), "orders")
    assert result.status is Status.UNUSABLE
    assert result.subject == "orders"
    assert result.findings == (Finding("NOT_JSON", "broken", line=3, column=7),)


def test_files_are_counted_by_status() -> None:
    report = Report("check", [FileResult("a", Status.OK), FileResult("b", Status.NEW), FileResult("c", Status.OK)])
    assert report.count(Status.OK) == 2
    assert report.count(Status.OK, Status.NEW) == 3
