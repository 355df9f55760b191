"""Compatibility levels: which schema must read what was written with which, and how far back.

Must not know of formats. Source: Confluent's documentation, "Schema Evolution and Compatibility".
"""

from __future__ import annotations

import enum


class Level(enum.StrEnum):
    """The compatibility that a candidate needs with the registered schemas."""

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    """The candidate reads data of the newest registered schema: upgrade consumers first."""
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    """The newest registered schema reads data of the candidate: upgrade producers first."""
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    """Both."""
    FULL_TRANSITIVE = "FULL_TRANSITIVE"

    @property
    def backward(self) -> bool:
        """Whether the candidate must read older data."""
        return self.value.startswith(("BACKWARD", "FULL"))

    @property
    def forward(self) -> bool:
        """Whether older schemas must read the candidate's data."""
        return self.value.startswith(("FORWARD", "FULL"))

    @property
    def transitive(self) -> bool:
        """Whether all registered versions count, not only the newest."""
        return self.value.endswith("_TRANSITIVE")

    @classmethod
    def of(cls, name: str) -> Level:
        """The level of this name, in any case.

        Raises:
            ValueError: there is no such level.
        """
        try:
            return cls(name.upper())
        except ValueError:
            known = ", ".join(level.value for level in cls)
            raise ValueError(f"compatibility level {name!r} is unknown: {known}") from None
