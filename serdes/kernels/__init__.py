"""What a blocking serializer does per call, in two implementations with the same names; one is picked at import.

Must not know of registries, plans or rules. `KAFKA_CORE_KERNELS` chooses, as it does for the client's kernels:
`native` (compiled; fails where not built), `pure`, or `auto` (default: native if built). `pure/` is the specification.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

__all__ = ["IMPL", "MessageDecoder", "MessageEncoder", "ReadCall", "WriteCall", "survey"]

_choice = os.environ.get("KAFKA_CORE_KERNELS") or "auto"
if TYPE_CHECKING or _choice == "pure":
    from serdes.kernels.pure import MessageDecoder, MessageEncoder, ReadCall, WriteCall, survey

    IMPL: Final = "pure"
else:
    try:
        from serdes.kernels.native import MessageDecoder, MessageEncoder, ReadCall, WriteCall, survey

        IMPL = "native"
    except ImportError:
        if _choice == "native":
            raise
        from serdes.kernels.pure import MessageDecoder, MessageEncoder, ReadCall, WriteCall, survey

        IMPL = "pure"
