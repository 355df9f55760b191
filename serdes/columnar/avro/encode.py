"""Runs plans that write Avro: on the kernel where it is built, else through the encoder of objects.

Must not know of schema ids or registries.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from serdes.columnar.assemble import binary_of, errors_of
from serdes.columnar.avro.objects import encode_rows
from serdes.columnar.avro.writing import WritePlan, place_of, reason_of
from serdes.columnar.contract import MAX_ROW_BYTES, EncodeResult
from serdes.kernels.avro_frames import Fault, native_program


class AvroFrames:
    """Writes arrays of one Arrow type as one Avro record.

    Args:
        plan: how.
        prefix: in front of each frame.
        max_row_bytes: a longer frame is an error.
        pure: whether to go through the encoder of objects though the kernel is there.
    """

    def __init__(
        self, plan: WritePlan, prefix: bytes = b"", max_row_bytes: int = MAX_ROW_BYTES, pure: bool = False
    ) -> None:
        self.plan = plan
        self._prefix, self._max_row_bytes = prefix, max_row_bytes
        kernel = None if pure else native_program()
        self._program: Any = None
        if kernel is not None:
            from serdes.kernels.native import arrays

            steps = [step.table() for step in plan.steps]
            self._program = kernel(steps, arrays.Shapes([column.shape() for column in plan.columns]), plan.depth)

    def encode(self, struct: pa.StructArray | pa.ChunkedArray) -> EncodeResult:
        """Frames of all rows. `frames` has offsets of 64 bits (large_binary) if they take more than 2 GiB together.

        Args:
            struct: of the plan's type; it is read in place.

        Raises:
            MemoryError: there is not enough for the frames.
        """
        chunks = struct.chunks if isinstance(struct, pa.ChunkedArray) else [struct]
        if self._program is None:
            frames, errors = encode_rows(self.plan, chunks, self._prefix, self._max_row_bytes)
            return EncodeResult(_binary(frames), pa.array(errors, pa.string()))
        capsules = [chunk.__arrow_c_array__()[1] for chunk in chunks]
        data, offsets, validity, rows, nulls, large, faults = self._program.run(
            capsules, self._prefix, self._max_row_bytes
        )
        frames = binary_of(data, offsets, validity, rows, nulls, large)
        return EncodeResult(frames, self._errors(rows, faults))

    def _errors(self, rows: int, faults: list[tuple[int, int, int, tuple[int, ...]]]) -> pa.StringArray:
        texts: dict[int, str] = {}
        for row, fault, number, indexes in faults:
            reason = reason_of(Fault(fault), self.plan.steps[number], self._max_row_bytes)
            place = "" if fault == Fault.TOO_LARGE else place_of(self.plan, number, indexes)  # of the row as a whole
            texts[row] = f"at {place}: {reason}" if place else reason
        return errors_of(rows, texts)


def _binary(frames: list[bytes | None]) -> pa.Array:
    """With offsets of 32 bits, if they are enough."""
    small = sum(map(len, filter(None, frames))) <= 2**31 - 1
    return pa.array(frames, pa.binary() if small else pa.large_binary())
