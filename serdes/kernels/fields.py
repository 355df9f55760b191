"""Keys and values of whole messages in two implementations with the same names; `serdes.kernels` says which is taken.

Must not know of clients. Only `serdes.clients` uses them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from serdes.kernels import IMPL

__all__ = ["ANY", "KNOWN", "NONE", "PLAIN", "TEXT", "FieldReader", "FieldWriter", "ProduceCall", "last_of_each"]

if TYPE_CHECKING or IMPL == "pure":
    from serdes.kernels.pure.fields import (
        ANY,
        KNOWN,
        NONE,
        PLAIN,
        TEXT,
        FieldReader,
        FieldWriter,
        ProduceCall,
        last_of_each,
    )
else:
    from serdes.kernels.native import fields as _native

    globals().update({_name: getattr(_native, _name) for _name in __all__})
