from collections.abc import Sequence
from typing import Any

from serdes.kernels.native.arrays import Block, Shapes

class FramesProgram:
    def __init__(self, steps: Sequence[tuple[Any, ...]], shapes: Shapes, depth: int) -> None: ...
    def run(
        self, arrays: list[Any], prefix: bytes, max_row_bytes: int
    ) -> tuple[Block, Block, Block | None, int, int, bool, list[tuple[int, int, int, tuple[int, ...]]]]: ...
