from collections.abc import Sequence
from typing import Any

class JsonProgram:
    def __init__(self, steps: Sequence[tuple[Any, ...]], depth: int) -> None: ...
    def decode(
        self, frames: Any, builders: Any, plan_of_row: bytes, max_row_bytes: int
    ) -> list[tuple[int, int, int, int, tuple[int, ...]]]: ...
