"""What serializers ask of a registry: steps that a flow yields, and that a shell answers.

Must not know how a registry is reached: the blocking and the asyncio shell share every flow.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

__all__ = ["Ask", "Flow"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask:
    """Call a method of the registry client. Outcome: what it returns; its `SchemaRegistryError` is thrown in."""

    operation: str
    arguments: tuple[Any, ...]


Flow: TypeAlias = Generator[Ask, Any, T]
