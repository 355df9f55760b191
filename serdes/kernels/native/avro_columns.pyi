from serdes.kernels.native.columns import Builders
from serdes.kernels.native.frames import Frames

class Program:
    def __init__(self, ops: bytes, table: bytes, numbers: bytes, pool: bytes, columns: int) -> None: ...

def codes() -> tuple[list[int], list[int]]: ...
def decode(
    frames: Frames,
    builders: Builders,
    programs: list[Program],
    plan_of_row: bytes,
    max_row_bytes: int,
    max_empty_items: int,
) -> list[tuple[int, int, int, int, int, int, list[int], list[int], int]]: ...
