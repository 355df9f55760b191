"""Writes the blocking twins of asyncio modules, through the syntax tree: what differs is `async`, `await` and names.

A twin is the source with these taken out where the tree says they are, so comments stay; ruff formats it. A source
must not use what has no blocking counterpart in `NAMES`.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.pages import ROOT, write_or_check

TWINS = {
    "kafka_core/aio/consuming/consumer_calls.py": "kafka_core/sync/consumer_calls.py",
    "kafka_core/aio/sharing/share_calls.py": "kafka_core/sync/share_calls.py",
    "kafka_core/aio/producing/transaction_calls.py": "kafka_core/sync/transaction_calls.py",
    "registry/client/aio_operations.py": "registry/client/operations.py",
    "registry/client/aio_connections.py": "registry/client/connections.py",
    "registry/client/aio_dek.py": "registry/client/dek.py",
    "registry/client/aio_shell.py": "registry/client/shell.py",
}
"""Source → twin."""
NAMES = {
    "AIOConsumer": "Consumer",
    "AIOConsumerCalls": "ConsumerCalls",
    "AIOProducer": "Producer",
    "AIOShareConsumerCalls": "ShareConsumerCalls",
    "AIOTransaction": "Transaction",
    "AIOTransactionCalls": "TransactionCalls",
    "AsyncBaseTransport": "BaseTransport",
    "AsyncClient": "Client",
    "AsyncConnections": "Connections",
    "AsyncDekRegistryClient": "DekRegistryClient",
    "AsyncOperations": "Operations",
    "AsyncSchemaRegistryClient": "SchemaRegistryClient",
    "AsyncShell": "Shell",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclose": "close",
    "aclosing": "closing",
    "aiter_bytes": "iter_bytes",
    "ask_async": "ask",
    "asyncio": "blocking",
    "registry.client.aio": "registry.client.blocking",
    "registry.client.aio_connections": "registry.client.connections",
    "registry.client.aio_operations": "registry.client.operations",
}
WORDS = re.compile(r"(?<![\w.])(" + "|".join(map(re.escape, sorted(NAMES, key=len, reverse=True))) + r")(?!\w)")

Edit = tuple[int, int, str]
"""Start, end (offsets in the source's bytes), and what comes there."""


def twin_of(source: str, name: str) -> str:
    """The blocking twin of a module.

    Args:
        source: its text.
        name: its path, for the note in the twin.
    """
    data = source.encode()
    lines = [0]
    for line in data.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    made = bytearray(data)
    for start, end, text in sorted(_edits(ast.parse(source), data, lines), reverse=True):
        made[start:end] = text.encode()
    note = f"# Written by tools/generate_twins.py from {name}; do not edit.\n"
    return _formatted(note + made.decode())


def _edits(tree: ast.AST, data: bytes, lines: list[int]) -> Iterator[Edit]:
    for node in ast.walk(tree):
        if not isinstance(node, (ast.stmt, ast.expr)):
            continue
        start = lines[node.lineno - 1] + node.col_offset
        end = lines[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        if isinstance(node, (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith)):
            yield start, start + len("async "), ""
        elif isinstance(node, ast.Await):
            yield start, start + len("await "), ""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name in NAMES:
            at = data.index(node.name.encode(), start)
            yield at, at + len(node.name), NAMES[node.name]
        elif isinstance(node, ast.Name) and node.id in NAMES:
            yield start, end, NAMES[node.id]
        elif isinstance(node, ast.Attribute) and node.attr in NAMES:
            yield end - len(node.attr), end, NAMES[node.attr]
        elif isinstance(node, (ast.Constant, ast.ImportFrom)) and not (
            isinstance(node, ast.Constant) and not isinstance(node.value, str)
        ):
            text = data[start:end].decode()
            changed = WORDS.sub(lambda found: NAMES[found[1]], text)
            if changed != text:
                yield start, end, changed


def _formatted(text: str) -> str:
    """Formatted, imports in order."""
    for command in (["check", "--select", "I", "--fix", "--quiet"], ["format", "--quiet"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(ROOT / "registry" / "twin.py"), "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def main() -> int:
    """Writes or checks all twins; the exit status."""
    return max(write_or_check(ROOT / twin, twin_of(Path(ROOT, name).read_text(), name)) for name, twin in TWINS.items())


if __name__ == "__main__":
    sys.exit(main())
