"""The administration client of either face, as tests ask it.

Must not know what is tested.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kafka_core import KafkaException
from kafka_core.admin import AIOAdminClient, Outcome
from tests.contract.clusters import LIMIT_S, Cluster


class Face:
    """The administration client of one face; what it answers is the same for both: outcomes by key."""

    def __init__(self, cluster: Cluster, face: str) -> None:
        self._cluster, self._face = cluster, face

    def ask(self, method: str, *arguments: Any, **more: Any) -> Any:
        if self._face == "blocking":
            answer = getattr(self._cluster.admin, method)(*arguments, **more)
            if not isinstance(answer, dict):
                return answer.result(LIMIT_S)
            errors = {key: future.exception(LIMIT_S) for key, future in answer.items()}
            return {
                key: Outcome(None if errors[key] else answer[key].result(), errors[key])  # type: ignore[arg-type]
                for key in answer
            }
        return asyncio.run(self._ask(method, *arguments, **more))

    async def _ask(self, method: str, *arguments: Any, **more: Any) -> Any:
        async with AIOAdminClient({"bootstrap.servers": self._cluster.servers}) as client:
            return await getattr(client, method)(*arguments, **more)

    def one(self, method: str, *arguments: Any, **more: Any) -> Any:
        """The only result; raises what went wrong."""
        (outcome,) = self.ask(method, *arguments, **more).values()
        return outcome.result()

    def refused(self, method: str, *arguments: Any, **more: Any) -> tuple[int, str]:
        with pytest.raises(KafkaException) as caught:
            self.one(method, *arguments, **more)
        return caught.value.error.code(), caught.value.error.str()
