"""Callbacks and blocking calls beside an event loop, by the names of confluent_kafka's private `aio._common`.

Our asyncio clients are made of asyncio and need none of it; it is for code that imports it.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from typing import Any, TypeVar

__all__ = [
    "AsyncLogger",
    "async_call",
    "wrap_callback",
    "wrap_common_callbacks",
    "wrap_conf_callback",
    "wrap_conf_logger",
]

T = TypeVar("T")


class AsyncLogger:
    """A logger for other threads: it writes in the loop's thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, logger: logging.Logger) -> None:
        self.loop = loop
        self.logger = logger

    def log(self, *args: Any, **kwargs: Any) -> None:
        """`logging.Logger.log`, later."""
        self.loop.call_soon_threadsafe(functools.partial(self.logger.log, *args, **kwargs))


def wrap_callback(
    loop: asyncio.AbstractEventLoop,
    callback: Callable[..., Awaitable[Any]],
    edit_args: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None,
    edit_kwargs: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> Callable[..., Any]:
    """A function for other threads that runs a coroutine function in the loop and waits for its result.

    Args:
        loop: where it runs.
        callback: the coroutine function.
        edit_args: changes the positional arguments first.
        edit_kwargs: changes the others.
    """

    def blocking(*args: Any, **kwargs: Any) -> Any:
        args = edit_args(args) if edit_args else args
        kwargs = edit_kwargs(kwargs) if edit_kwargs else kwargs

        async def run() -> Any:
            return await callback(*args, **kwargs)

        return asyncio.run_coroutine_threadsafe(run(), loop).result()

    return blocking


def wrap_conf_callback(loop: asyncio.AbstractEventLoop, conf: dict[str, Any], name: str) -> None:
    """Wraps a callback of a configuration, if it has it."""
    if name in conf:
        conf[name] = wrap_callback(loop, conf[name])


def wrap_conf_logger(loop: asyncio.AbstractEventLoop, conf: dict[str, Any]) -> None:
    """Wraps a configuration's logger, if it has one."""
    if "logger" in conf:
        conf["logger"] = AsyncLogger(loop, conf["logger"])


def wrap_common_callbacks(loop: asyncio.AbstractEventLoop, conf: dict[str, Any]) -> None:
    """Wraps the callbacks and the logger that every client has."""
    for name in ("error_cb", "throttle_cb", "stats_cb"):
        wrap_conf_callback(loop, conf, name)
    wrap_conf_logger(loop, conf)


async def async_call(executor: Executor, blocking_task: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Runs a blocking function in an executor's thread."""
    call = functools.partial(blocking_task, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(executor, call)
