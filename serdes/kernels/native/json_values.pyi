from typing import Any

class JsonWriter:
    def write(self, value: Any, prefix: bytes, levels: int) -> bytes | None: ...
