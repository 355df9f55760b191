from typing import Any

OTHER: int
NOT_FINITE: int
LARGE: int
DEEP: int

def survey(value: Any, levels: int) -> int: ...
