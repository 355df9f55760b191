"""Common parts of simulated applications: a process, tasks that may be cancelled, and the history of what they did.

Must not know checkers or faults. An application does only what a user could: it calls public methods and notes results.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from kafka_core.errors import KafkaException
from tests.simulation.loop import Process
from tests.simulation.plan import Client

if TYPE_CHECKING:
    from tests.simulation.world import World

EXPECTED = (KafkaException, BufferError)
"""The exceptions that clients may raise; any other is a defect."""


class App:
    """One application, from its start to its end or death.

    Attributes:
        done: it has ended by itself, client closed.
    """

    def __init__(self, world: World, client: Client, incarnation: int) -> None:
        self.world = world
        self.client = client
        self.history = world.history
        self.process = Process(client.name if not incarnation else f"{client.name}.{incarnation}")
        self.done = False
        self.running: dict[str, asyncio.Task[Any]] = {}
        self._main: asyncio.Task[Any] | None = None

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self.process.alive and not self.done

    @property
    def conf(self) -> dict[str, Any]:
        """The client's configuration."""
        return {"bootstrap.servers": self.world.bootstrap, "client.id": self.process.name, **self.client.conf}

    def start(self) -> None:
        """Run `main` in the application's process."""
        self._main = self.world.loop.spawn(self.process, self._run(), f"{self.process.name}-main")

    async def _run(self) -> None:
        try:
            await self.main()
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException as error:
            if not self.process.alive:
                raise
            self.history.add("broke", "main", type(error).__name__, str(error))
        finally:
            self.done = True
            if self.process.alive:
                self.history.add("ended")

    async def main(self) -> None:
        """The application's work."""
        raise NotImplementedError

    def finish(self) -> None:
        """Come to an end in good order."""
        raise NotImplementedError

    def command(self, name: str, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Do something beside `main`, in the application's process."""
        if self.alive:
            self.running[name] = self.world.loop.spawn(self.process, self.guarded(name, work), f"{self.process}-{name}")

    async def guarded(self, name: str, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Run a call; errors of the client are noted, cancellations swallowed, anything else is a finding."""
        try:
            return await work()
        except asyncio.CancelledError:
            self.history.add("cancelled", name)
        except EXPECTED as error:
            code = error.code if isinstance(error, KafkaException) else 0
            self.history.add("failed", name, type(error).__name__, code, str(error))
        except GeneratorExit:  # the process was killed, its remains are cleared away
            raise
        except BaseException as error:
            if not self.process.alive:
                raise
            self.history.add("broke", name, type(error).__name__, str(error))
        return None

    async def in_task(self, name: str, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Run a call as a task of its own, which may be cancelled (before it has begun, too), and wait for its end."""
        task = self.running[name] = asyncio.get_running_loop().create_task(self.guarded(name, work))
        await asyncio.wait([task])

    def cancel(self, name: str) -> None:
        """Cancel the call of that name, if it runs."""
        task = self.running.get(name)
        if self.alive and task is not None and not task.done():
            self.history.add("cancel", name)
            task.cancel()

    def memory(self) -> tuple[int, int]:
        """(bytes held, bytes allowed) right now."""
        return 0, 0
