from collections.abc import Sequence
from typing import Any, TypeAlias

Buffer: TypeAlias = Any

class ColumnReader:
    def __init__(
        self,
        messages: list[tuple[int, bool, bool, bytes]],
        columns: list[tuple[bytes, list[int]]],
        scopes: list[tuple[int, list[int]]],
        symbols: list[tuple[bool, list[int], list[bytes]]],
        nanoseconds: bool,
    ) -> None: ...
    def read(
        self,
        frames: Any,
        plans: Buffer,
        paths: Buffer,
        path_starts: Buffer,
        max_row_bytes: int,
        replaced: dict[int, bytes],
    ) -> ColumnBatch: ...

class ColumnBatch:
    def errors(self) -> list[tuple[int, int, int, list[tuple[int, int]]]]: ...
    def texts(self, column: int) -> list[bytes | None]: ...
    def replace(self, column: int, texts: Sequence[bytes | None]) -> None: ...
    def row_of(self, column: int, slot: int) -> int: ...
    def finish(self) -> Any: ...
