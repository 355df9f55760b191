from typing import Any

class FrameWriter:
    def __init__(
        self,
        messages: list[bytes],
        sources: list[bytes],
        symbols: list[tuple[list[bytes], list[int]]],
        prefix: bytes,
        longest: int,
    ) -> None: ...
    def write(self, struct: Any) -> tuple[Any, list[tuple[int, int, list[tuple[int, int]]]]]: ...
