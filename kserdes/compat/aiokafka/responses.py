"""Results of aiokafka's administrator: the fields of Kafka's responses, as tuples with their names beside them.

Must not know how they are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

__all__ = [
    "AlterConfigsResponse",
    "CreatePartitionsResponse",
    "CreateTopicsResponse",
    "DeleteTopicsResponse",
    "DescribeConfigsResponse",
    "DescribeGroupsResponse",
    "Response",
]


class Response:
    """A response: `throttle_time_ms`, and one list of tuples under a name of its own.

    Attributes:
        LIST: that name. `FIELDS`: the names of what is in its tuples; (name, fields) for tuples in these.
    """

    LIST: ClassVar[str]
    FIELDS: ClassVar[tuple[Any, ...]]

    throttle_time_ms: int

    def __init__(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self.throttle_time_ms = 0
        setattr(self, self.LIST, list(rows))

    def to_object(self) -> dict[str, Any]:
        """The same as a dict, with a dict for each tuple."""
        rows = named_rows(self.FIELDS, getattr(self, self.LIST))
        return {"throttle_time_ms": self.throttle_time_ms, self.LIST: rows}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.to_object()})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Response) and self.to_object() == other.to_object()

    __hash__ = None  # type: ignore[assignment]


def named_rows(fields: Sequence[Any], rows: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Tuples as dicts."""
    found = []
    for row in rows:
        item = {}
        for name, value in zip(fields, row, strict=True):
            if isinstance(name, tuple):
                item[name[0]] = named_rows(name[1], value)
            else:
                item[name] = value
        found.append(item)
    return found


class CreateTopicsResponse(Response):
    """A row per topic."""

    LIST = "topic_errors"
    FIELDS = ("topic", "error_code", "error_message")

    topic_errors: list[tuple[str, int, str | None]]


class CreatePartitionsResponse(CreateTopicsResponse):
    """A row per topic."""


class DeleteTopicsResponse(Response):
    """A row per topic."""

    LIST = "topic_error_codes"
    FIELDS = ("topic", "error_code")

    topic_error_codes: list[tuple[str, int]]


class DescribeConfigsResponse(Response):
    """A row per resource, with a tuple per entry in its last field."""

    LIST = "resources"
    FIELDS = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
        (
            "config_entries",
            (
                "config_names",
                "config_value",
                "read_only",
                "config_source",
                "is_sensitive",
                ("config_synonyms", ("config_name", "config_value", "config_source")),
            ),
        ),
    )

    resources: list[tuple[int, str | None, int, str, list[tuple[Any, ...]]]]


class AlterConfigsResponse(Response):
    """A row per resource."""

    LIST = "resources"
    FIELDS = ("error_code", "error_message", "resource_type", "resource_name")

    resources: list[tuple[int, str | None, int, str]]


class DescribeGroupsResponse(Response):
    """A row per group, with a tuple per member in its last field but one."""

    LIST = "groups"
    FIELDS = (
        "error_code",
        "group",
        "state",
        "protocol_type",
        "protocol",
        ("members", ("member_id", "client_id", "client_host", "member_metadata", "member_assignment")),
    )

    groups: list[tuple[int, str, str, str, str, list[tuple[str, str, str, bytes, bytes]]]]
