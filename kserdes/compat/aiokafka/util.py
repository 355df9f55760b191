"""Small helpers around asyncio, offsets and versions: the names of `aiokafka.util`.

Must not know clients.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Coroutine, Mapping
from typing import Any, Final, TypeVar

from kserdes.compat.aiokafka.structs import OffsetAndMetadata, TopicPartition

__all__ = [
    "INTEGER_MAX_VALUE",
    "INTEGER_MIN_VALUE",
    "NO_EXTENSIONS",
    "commit_structure_validate",
    "create_future",
    "create_task",
    "get_running_loop",
    "parse_kafka_version",
    "wait_for",
]

T = TypeVar("T")
INTEGER_MAX_VALUE: Final = 2**31 - 1
INTEGER_MIN_VALUE: Final = -(2**31)
NO_EXTENSIONS: Final = False
"""Whether aiokafka was told to do without its compiled modules; KAFKA_CORE_KERNELS chooses ours."""

VERSION: Final = re.compile(
    r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-_.]?(?:a|b|c|rc|alpha|beta|pre|preview|dev|post)[-_.]?\d*)*"
)


def get_running_loop() -> asyncio.AbstractEventLoop:
    """The loop that is running.

    Raises:
        RuntimeError: none is.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError("The object should be created within an async function or provide loop directly.") from None


def create_task(coro: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """A task of the running loop.

    Raises:
        RuntimeError: none is running.
    """
    return get_running_loop().create_task(coro)


def create_future(loop: asyncio.AbstractEventLoop | None = None) -> asyncio.Future[Any]:
    """A future of that loop, or of the running one.

    Raises:
        RuntimeError: none was given, and none is running.
    """
    return (get_running_loop() if loop is None else loop).create_future()


async def wait_for(fut: Awaitable[T], timeout: float | None = None) -> T:
    """Waits so many seconds at most, then cancels.

    Raises:
        TimeoutError: it was not there in time.
    """
    async with asyncio.timeout(timeout):
        return await fut


def parse_kafka_version(api_version: str) -> tuple[int, int, int]:
    """`2.3` and `2.3.1` as three numbers.

    Raises:
        ValueError: no version of two or three numbers, or none from 0.9 to below 3.0.
    """
    found = VERSION.fullmatch(api_version.strip().lower())
    if found is None:
        raise ValueError(api_version)
    version = int(found[1]), int(found[2]), int(found[3] or 0)
    if not (0, 9) <= version < (3, 0):
        raise ValueError(api_version)
    return version


def commit_structure_validate(
    offsets: Mapping[TopicPartition, int | tuple[int, str] | OffsetAndMetadata],
) -> dict[TopicPartition, OffsetAndMetadata]:
    """Offsets to commit, each with its text.

    Raises:
        ValueError, TypeError: they are not a dict of TopicPartition and offset, or (offset, text).
    """
    if not offsets or not isinstance(offsets, dict):
        raise ValueError(offsets)
    found = {}
    for partition, wanted in offsets.items():
        if not isinstance(partition, TopicPartition):
            raise TypeError("Key should be TopicPartition instance")
        if isinstance(wanted, int):
            offset, metadata = wanted, ""
        else:
            try:
                offset, metadata = wanted
            except (TypeError, ValueError):
                raise ValueError(offsets) from None
            if not isinstance(metadata, str):
                raise TypeError("Metadata should be a string")
        found[partition] = OffsetAndMetadata(offset, metadata)
    return found
