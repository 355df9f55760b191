"""The frames of a batch: what names each row's schema, and its payload. Twin: `native/frames.pyx`, in place.

Must not know of schemas or codecs. Source: Confluent's wire format (`serdes.frames.framing`).
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["Frames"]

NULL_ROW = -1
NO_FRAME = -2


class Frames:
    """The rows of a batch.

    Args:
        values: each frame; None for null.
    """

    def __init__(self, values: Sequence[bytes | None]) -> None:
        self.rows = len(values)
        self._values = values
        self._taken = [0] * self.rows
        self._tails: list[bytes | None] = [None] * self.rows
        self._keys = [NULL_ROW] * self.rows
        self._names: dict[int | bytes, int] = {}
        self._counts: list[int] = []

    def name_by_prefix(self) -> None:
        """Takes magic byte and id, or GUID, from in front of each payload."""
        for row, value in enumerate(self._values):
            self._name(row, value)

    def name_by_headers(self, headers: Frames) -> None:
        """Takes them from a header's value; where that is null, from in front of the payload."""
        for row, (value, header) in enumerate(zip(self._values, headers._values, strict=True)):
            self._name(row, value, header)

    def name_by_number(self, ids: Sequence[int | None]) -> None:
        """Takes the id of each row from a list of numbers; where that is None, from in front of the payload."""
        for row, (value, number) in enumerate(zip(self._values, ids, strict=True)):
            if number is None or value is None:
                self._name(row, value)
            else:
                self._keys[row] = self._place_of(number)

    def _name(self, row: int, value: bytes | None, header: bytes | None = None) -> None:
        if value is None:
            self._keys[row] = NULL_ROW
            return
        data = value if header is None else header
        if len(data) >= 5 and data[0] == 0:
            used = 5
            self._keys[row] = self._place_of(int.from_bytes(data[1:5], "big"))
        elif len(data) >= 17 and data[0] == 1:
            used = 17
            self._keys[row] = self._place_of(bytes(data[1:17]))
        else:
            self._keys[row] = NO_FRAME
            return
        if header is None:
            self._taken[row] = used
        else:
            self._tails[row] = header[used:]

    def _place_of(self, name: int | bytes) -> int:
        place = self._names.setdefault(name, len(self._counts))
        if place == len(self._counts):
            self._counts.append(0)
        self._counts[place] += 1
        return place

    def names(self) -> list[tuple[int | bytes, int]]:
        """The names of the schemas, in order of appearance: the number, or the 16 bytes of the GUID; its rows."""
        return [(name, self._counts[place]) for name, place in self._names.items()]

    def plan_of_row(self, plans: list[int]) -> bytes:
        """For each row what `plans` has for its name: native ints of 32 bits; -1 for null rows and what is no frame."""
        from array import array

        if len(plans) != len(self._counts):
            raise ValueError("as many plans as names are needed")
        return array("i", [plans[key] if key >= 0 else -1 for key in self._keys]).tobytes()

    def rows_of(self, place: int) -> list[int]:
        """The rows of one name, by its place in `names`; of -1 those that are null, of -2 those that are no frames."""
        return [row for row, key in enumerate(self._keys) if key == place]

    def payload(self, row: int) -> bytes | None:
        """A copy of a row's payload; None if it is null."""
        value = self._values[row]
        return None if value is None else bytes(value[self._taken[row] :])

    def frame(self, row: int) -> bytes | None:
        """A copy of a row's whole frame; None if it is null."""
        return self._values[row]

    def tail(self, row: int) -> bytes | None:
        """The bytes of the row's header after the id (Protobuf: the path of the type); None if it had no header."""
        return self._tails[row]

    def name_of(self, row: int) -> int | bytes | None:
        """The name of a row's schema: the number, or the 16 bytes of the GUID; None without."""
        key = self._keys[row]
        return list(self._names)[key] if key >= 0 else None
