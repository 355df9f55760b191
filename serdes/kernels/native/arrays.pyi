from collections.abc import Sequence

class Block:
    address: int
    size: int

class Shapes:
    def __init__(self, columns: Sequence[tuple[int, ...]]) -> None: ...
