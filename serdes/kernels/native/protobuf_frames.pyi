from typing import Any

class FrameWriter:
    def __init__(
        self,
        messages: list[list[dict[str, Any]]],
        sources: list[tuple[int, int, int, int, int]],
        symbols: list[list[tuple[bytes, int]]],
        prefix: bytes,
        longest: int,
    ) -> None: ...
    def write(self, struct: Any) -> tuple[Any, list[tuple[int, int, list[tuple[int, int]]]]]: ...
