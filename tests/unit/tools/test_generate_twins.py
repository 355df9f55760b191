from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.patience import PROCESS_S
from tools.generate_twins import TWINS, twin_of

ROOT = Path(__file__).resolve().parents[3]
SOURCE = '''"""The asyncio client."""

from registry.client.aio import AsyncSchemaRegistryClient


class AsyncOperations:
    """Waits: async for the `AsyncSchemaRegistryClient`, é."""

    # await what comes: a comment stays
    async def get(self, client: AsyncSchemaRegistryClient) -> str:
        async with client as one:
            async for item in one:
                await item.aclose()
        return "é" + await self.text()
'''
TWIN = '''# Written by tools/generate_twins.py from a.py; do not edit.
"""The blocking client."""

from registry.client.blocking import SchemaRegistryClient


class Operations:
    """Waits: async for the `SchemaRegistryClient`, é."""

    # await what comes: a comment stays
    def get(self, client: SchemaRegistryClient) -> str:
        with client as one:
            for item in one:
                item.close()
        return "é" + self.text()
'''


def test_a_twin_is_the_source_without_async_and_await() -> None:
    assert twin_of(SOURCE, "a.py") == TWIN


def test_the_committed_twins_are_what_the_tool_writes() -> None:
    command = [sys.executable, "-m", "tools.generate_twins", "--check"]
    assert subprocess.run(command, cwd=ROOT, timeout=PROCESS_S).returncode == 0
    for name, twin in TWINS.items():
        assert f"from {name}; do not edit" in (ROOT / twin).read_text()
